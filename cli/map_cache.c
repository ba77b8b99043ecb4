/* map_cache.c - `fathom map cache list|clear|path`: the maps that recordings keep. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/map.h"
#include "cli/terminal.h"
#include "pathmap/map/map_cache.h"

/* The name that the program had when it was recorded. */
static void print_program(const struct map_cache_entry *entry)
{
    struct pathmap *map;
    struct fathom_error err = {0};
    if (pathmap_open(entry->path, &map, &err) < 0) {
        fputs("(damaged)", stdout);
        return;
    }
    const char *path = "(unknown)";
    for (uint32_t i = 0; i < pathmap_image_count(map); i++) {
        struct pathmap_image image = pathmap_image(map, i);
        if (build_id_equal(&image.build_id, &entry->program))
            path = image.path;
    }
    terminal_print(path);
    pathmap_close(map);
}

/* A line for each program, at the latest used of its maps. */
static void list_program(const struct map_cache_entry *entries, size_t count, size_t first)
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
    printf("%-16s %10u %10.1f  %.12s  ", used, recordings, (double)bytes / 1e3, hex);
    print_program(&entries[first]);
    putchar('\n');
}

static int list_all(const struct map_cache_entry *entries, size_t count)
{
    if (!count)
        puts("no maps are kept");
    else
        printf("%-16s %10s %10s  %-12s  %s\n", "last used", "recordings", "KB", "build-id", "program");
    for (size_t i = 0; i < count; i++)
        list_program(entries, count, i);
    return 0;
}

static int clear_all(const struct map_cache_entry *entries, size_t count, struct fathom_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (unlink(entries[i].path) < 0 && errno != ENOENT)
            return error_system(err, errno, "cannot remove %s", entries[i].path);
    printf("removed %zu map%s\n", count, count == 1 ? "" : "s");
    return 0;
}

static int show_all(bool list, struct fathom_error *err)
{
    struct map_cache_entry *entries;
    size_t count;
    int rc = map_cache_list(NULL, &entries, &count, err);
    if (rc < 0)
        return rc;
    rc = list ? list_all(entries, count) : clear_all(entries, count, err);
    map_cache_list_free(entries, count);
    return rc;
}

int map_cache_command(const char *verb, struct fathom_error *err)
{
    bool list = strcmp(verb, "list") == 0, path = strcmp(verb, "path") == 0;
    if (!list && !path && strcmp(verb, "clear") != 0)
        return error_set(err, EINVAL, "'cache' is followed by list, clear or path, not by '%s'", verb);
    char *directory = map_cache_directory(true);
    if (!directory)
        return error_set(
            err, ENOENT,
            "this user has no directory for kept maps: fathom/maps in XDG_CACHE_HOME, or in .cache of HOME, "
            "cannot be made, or it is not a directory that belongs to the user and that others cannot write "
            "to");
    if (path) {
        terminal_print(directory);
        putchar('\n');
    }
    free(directory);
    return path ? 0 : show_all(list, err);
}
