/* cached.c - the maps that recordings keep; see fathom/map.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/fathom/map.h"
#include "infer/live/stack_cache.h"
#include "pathmap/map/map_cache.h"
#include "report/text/printer.h"

/* Prints the program's path when it was recorded. */
static void print_program(struct printer *p, const struct map_cache_entry *entry)
{
    struct pathmap *map;
    struct fathom_error err = {0};
    if (pathmap_open(entry->path, &map, &err) < 0) {
        printer_write(p, "(damaged)");
        return;
    }
    const char *path = "(unknown)";
    for (uint32_t i = 0; i < pathmap_image_count(map); i++) {
        struct pathmap_image image = pathmap_image(map, i);
        if (build_id_equal(&image.build_id, &entry->program))
            path = image.path;
    }
    printer_foreign(p, path);
    pathmap_close(map);
}

/* Prints a line for each program, at its most recently used map. */
static void list_program(struct printer *p, const struct map_cache_entry *entries, size_t count, size_t first)
{
    struct tm at;
    char used[32] = "", hex[2 * BUILD_ID_MAX + 1];
    unsigned recordings = 0;
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        if (!build_id_equal(&entries[i].program, &entries[first].program))
            continue;
        if (i < first)
            return;
        recordings++;
        bytes += entries[i].bytes;
    }
    if (localtime_r(&entries[first].used, &at))
        strftime(used, sizeof used, "%Y-%m-%d %H:%M", &at);
    build_id_format(&entries[first].program, hex);
    printer_write(p, "%-16s %10u %10.1f  %.12s  ", used, recordings, (double)bytes / 1e3, hex);
    print_program(p, &entries[first]);
    printer_write(p, "\n");
}

static const char no_directory[] =
    "this user has no directory for kept maps: fathom/maps in XDG_CACHE_HOME, or in .cache of HOME, "
    "cannot be made, or it is not a directory that belongs to the user and that others cannot write to";

int fathom_cached_maps_directory(FILE *out, struct fathom_error *err)
{
    char *directory = map_cache_directory(true);
    struct printer printer = {.out = out};
    if (!directory)
        return error_set(err, ENOENT, "%s", no_directory);
    printer_foreign(&printer, directory);
    printer_write(&printer, "\n");
    free(directory);
    return 0;
}

static int list_entries(struct map_cache_entry **entries, size_t *count, struct fathom_error *err)
{
    char *directory = map_cache_directory(true);
    if (!directory)
        return error_set(err, ENOENT, "%s", no_directory);
    free(directory);
    return map_cache_list(NULL, entries, count, err);
}

int fathom_cached_maps_list(FILE *out, struct fathom_error *err)
{
    struct printer printer = {.out = out};
    struct map_cache_entry *entries;
    size_t count;
    int rc = list_entries(&entries, &count, err);
    if (rc < 0)
        return rc;
    if (!count)
        printer_write(&printer, "no maps are kept\n");
    else
        printer_write(&printer, "%-16s %10s %10s  %-12s  %s\n", "last used", "recordings", "KB", "build-id",
                      "program");
    for (size_t i = 0; i < count; i++)
        list_program(&printer, entries, count, i);
    map_cache_list_free(entries, count);
    return 0;
}

int fathom_cached_maps_clear(FILE *out, struct fathom_error *err)
{
    struct map_cache_entry *entries;
    size_t count, programs;
    int rc = list_entries(&entries, &count, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; rc == 0 && i < count; i++)
        if (unlink(entries[i].path) < 0 && errno != ENOENT)
            rc = error_system(err, errno, "cannot remove %s", entries[i].path);
    if (rc == 0)
        rc = stack_cache_clear(&programs, err);
    if (rc == 0)
        fprintf(out, "removed %zu map%s, and the stacks of %zu program%s\n", count, count == 1 ? "" : "s",
                programs, programs == 1 ? "" : "s");
    map_cache_list_free(entries, count);
    return rc;
}
