#include "api/cached_maps.h"

#include <stdlib.h>
#include <string.h>

#include "image/mapped_name.h"
#include "infer/engine/program_maps.h"
#include "pathmap/map/map_cache.h"

bool cached_maps_wanted(bool no_cache)
{
    const char *set = getenv("FATHOM_NO_CACHE");
    return !no_cache && !(set && set[0]);
}

/* An order_sink. */
static int note_record(void *files, const struct record *record, struct fathom_error *err)
{
    return mapped_files_note(files, record, NULL) < 0 ? error_memory(err) : 0;
}

static int read_files(struct reader *reader, struct mapped_files **out, struct fathom_error *err)
{
    *out = mapped_files_new();
    return *out ? reader_run(reader, note_record, *out, err) : error_memory(err);
}

static int add_maps(uint64_t number, const struct program_maps *maps, const struct log *notes,
                    struct fathom_error *err)
{
    int rc = 0;
    for (size_t i = 0; i < program_maps_count(maps) && rc >= 0; i++) {
        struct program_map map = program_maps_at(maps, i);
        if (!map.stacks)
            continue;
        rc = map_cache_add(&map.program, number, map.trie, err);
        if (rc >= 0)
            log_write(
                notes, LOG_NOTE,
                rc ? "%u contexts of %s are kept for later recordings"
                   : "%u contexts of %s are not kept: there is no directory for maps, or they are too many",
                trie_node_count(map.trie) - 1, map.path);
    }
    return rc;
}

void cached_maps_add(struct reader *reader, struct image_cache *images, const struct log *log, bool verbose)
{
    struct fathom_error err = {0};
    struct program_maps *maps = NULL;
    struct image_cache *own = images ? NULL : image_cache_new(&(struct image_options){0});
    int rc = images ? image_cache_settle(images) : 0;
    if (rc < 0 || (!images && !own))
        rc = error_memory(&err);
    if (rc == 0)
        rc = program_maps_read(reader, images ? images : own, &maps, &err);
    if (rc == 0)
        rc = add_maps(program_maps_recording(maps), maps, verbose ? log : NULL, &err);
    if (rc < 0)
        log_write(log, LOG_WARNING, "what was learned is not kept for later recordings: %s", err.text);
    program_maps_free(maps);
    image_cache_free(own);
}

/* Whether it is a program, and no earlier one in the list is of the same build. */
static bool is_program(const struct mapped_file *list, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (build_id_equal(&list[i].id, &list[index].id) && mapped_is_program(list[i].path))
            return false;
    return mapped_is_program(list[index].path);
}

/* Adds all maps of the recording's programs. Returns the number of recordings they are of, or negative. */
static int merge_maps(const struct mapped_files *files, const char *directory, struct trie *trie,
                      struct fathom_error *err)
{
    const struct mapped_file *list;
    size_t count = mapped_files_list(files, &list);
    int used = 0, rc = 0;
    for (size_t i = 0; i < count && rc >= 0; i++) {
        if (!is_program(list, i))
            continue;
        rc = map_cache_get(directory, &list[i].id, mapped_files_recording(files), trie, err);
        used += rc > 0 ? rc : 0;
    }
    return rc < 0 ? rc : used;
}

static bool has_any(const char *directory)
{
    struct map_cache_entry *entries;
    size_t count;
    if (map_cache_list(directory, &entries, &count, NULL) < 0)
        return false;
    map_cache_list_free(entries, count);
    return count > 0;
}

int cached_maps_find(const struct mapped_files *files, const char *directory, struct cached_maps *out,
                     struct fathom_error *err)
{
    *out = (struct cached_maps){0};
    if (!has_any(directory))
        return 0;
    out->trie = trie_new();
    int rc = out->trie ? merge_maps(files, directory, out->trie, err) : error_memory(err);
    out->recordings = rc > 0 ? (unsigned)rc : 0;
    if (rc > 0)
        rc = pathmap_over(out->trie, &out->map, err);
    if (!out->map)
        cached_maps_close(out);
    return rc;
}

/* Whether the map is for any of the programs. */
static bool is_for_any(const struct map_cache_entry *entry, const struct mapped_files *files)
{
    const struct mapped_file *list;
    size_t count = mapped_files_list(files, &list);
    for (size_t i = 0; i < count; i++)
        if (mapped_is_program(list[i].path) &&
            map_cache_is_for(entry, &list[i].id, mapped_files_recording(files)))
            return true;
    return false;
}

int cached_maps_files(struct reader *reader,
                      int (*see)(void *context, const char *path, struct fathom_error *err), void *context,
                      struct fathom_error *err)
{
    struct mapped_files *files = NULL;
    struct map_cache_entry *entries;
    size_t count;
    int rc = map_cache_list(NULL, &entries, &count, err);
    if (rc < 0)
        return rc;
    if (count)
        rc = read_files(reader, &files, err);
    for (size_t i = 0; rc == 0 && i < count; i++)
        if (is_for_any(&entries[i], files))
            rc = see(context, entries[i].path, err);
    mapped_files_free(files);
    map_cache_list_free(entries, count);
    return rc;
}

void cached_maps_close(struct cached_maps *kept)
{
    pathmap_close(kept->map);
    trie_free(kept->trie);
    *kept = (struct cached_maps){0};
}
