/* kept_maps.c - see kept_maps.h. */
#include "api/kept_maps.h"

#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/vec.h"
#include "image/mapped_name.h"
#include "infer/engine/program_maps.h"
#include "pathmap/map/map_cache.h"
#include "process/process.h"

bool kept_maps_wanted(bool no_cache)
{
    const char *set = getenv("FATHOM_NO_CACHE");
    return !no_cache && !(set && set[0]);
}

/* A recording's number, and its programs. */
struct contents {
    uint64_t number; /* by its first sample; 0: it has none */
    struct build_id *programs;
    size_t count, room;
};

static uint64_t number_of(const struct sample *sample)
{
    const uint64_t facts[] = {sample->time, sample->pid, sample->tid, sample->ip, sample->sp};
    return checksum_of(facts, sizeof facts) | 1;
}

static int note_program(struct contents *c, const struct record_mmap *m, struct fathom_error *err)
{
    const struct build_id id = process_build_id(m);
    if (!m->executable || !m->path || !id.size || !mapped_is_program(m->path))
        return 0;
    for (size_t i = 0; i < c->count; i++)
        if (build_id_equal(&c->programs[i], &id))
            return 0;
    return vec_push(c->programs, c->count, c->room, id) ? 0 : error_memory(err);
}

/* An order_sink. */
static int note(void *contents, const struct record *record, struct fathom_error *err)
{
    struct contents *c = contents;
    if (record->kind == RECORD_SAMPLE && !c->number)
        c->number = number_of(&record->sample);
    return record->kind == RECORD_MMAP ? note_program(c, &record->mmap, err) : 0;
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
        if (rc > 0)
            log_write(notes, LOG_NOTE, "%u contexts of %s are kept for later recordings",
                      trie_node_count(map.trie) - 1, map.path);
    }
    return rc;
}

void kept_maps_add(struct reader *reader, const struct log *log, bool verbose)
{
    struct fathom_error err = {0};
    struct contents contents = {0};
    struct program_maps *maps = NULL;
    struct image_cache *images = image_cache_new(&(struct image_options){0});
    int rc = images ? reader_run(reader, note, &contents, &err) : error_memory(&err);
    if (rc == 0)
        rc = program_maps_read(reader, images, &maps, &err);
    if (rc == 0)
        rc = add_maps(contents.number, maps, verbose ? log : NULL, &err);
    if (rc < 0)
        log_write(log, LOG_WARNING, "what was learned is not kept for later recordings: %s", err.text);
    free(contents.programs);
    program_maps_free(maps);
    image_cache_free(images);
}

/* Takes all maps of the recording's programs. */
static int take_up(const struct contents *contents, const char *directory, struct trie *trie,
                   struct fathom_error *err)
{
    int used = 0, rc = 0;
    for (size_t i = 0; i < contents->count && rc >= 0; i++) {
        rc = map_cache_get(directory, &contents->programs[i], contents->number, trie, err);
        used += rc > 0 ? rc : 0;
    }
    return rc < 0 ? rc : used;
}

static bool any_kept(const char *directory)
{
    struct map_cache_entry *entries;
    size_t count;
    if (map_cache_list(directory, &entries, &count, NULL) < 0)
        return false;
    map_cache_list_free(entries, count);
    return count > 0;
}

int kept_maps_find(struct reader *reader, const char *directory, struct kept_maps *out,
                   struct fathom_error *err)
{
    struct contents contents = {0};
    *out = (struct kept_maps){0};
    if (!any_kept(directory))
        return 0;
    out->trie = trie_new();
    int rc = out->trie ? reader_run(reader, note, &contents, err) : error_memory(err);
    if (rc == 0)
        rc = take_up(&contents, directory, out->trie, err);
    out->recordings = rc > 0 ? (unsigned)rc : 0;
    if (rc > 0)
        rc = pathmap_over(out->trie, &out->map, err);
    free(contents.programs);
    if (!out->map)
        kept_maps_close(out);
    return rc;
}

/* Whether a recording of any of the programs learns from the map. */
static bool is_for_any(const struct map_cache_entry *entry, const struct contents *contents)
{
    for (size_t i = 0; i < contents->count; i++)
        if (map_cache_is_for(entry, &contents->programs[i], contents->number))
            return true;
    return false;
}

int kept_maps_files(struct reader *reader,
                    int (*see)(void *context, const char *path, struct fathom_error *err), void *context,
                    struct fathom_error *err)
{
    struct contents contents = {0};
    struct map_cache_entry *entries;
    size_t count;
    int rc = map_cache_list(NULL, &entries, &count, err);
    if (rc < 0)
        return rc;
    if (count)
        rc = reader_run(reader, note, &contents, err);
    for (size_t i = 0; rc == 0 && i < count; i++)
        if (is_for_any(&entries[i], &contents))
            rc = see(context, entries[i].path, err);
    free(contents.programs);
    map_cache_list_free(entries, count);
    return rc;
}

void kept_maps_close(struct kept_maps *kept)
{
    pathmap_close(kept->map);
    trie_free(kept->trie);
    *kept = (struct kept_maps){0};
}
