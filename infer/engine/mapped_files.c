/* mapped_files.c - see mapped_files.h. */
#include "infer/engine/mapped_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/checksum.h"
#include "base/hash.h"
#include "base/vec.h"
#include "infer/samples/builds.h"
#include "process/process.h"

struct mapped_files {
    struct table *known; /* checksum of path and build-id -> index */
    struct mapped_file *list;
    size_t count, capacity;
    uint64_t recording;
};

static uint64_t number_of(const struct sample *sample)
{
    const uint64_t facts[] = {sample->time, sample->pid, sample->tid, sample->ip, sample->sp};
    return checksum_of(facts, sizeof facts) | 1;
}

struct mapped_files *mapped_files_new(void)
{
    struct mapped_files *f = calloc(1, sizeof *f);
    return whole_or_free(f, (f->known = table_new()), free);
}

void mapped_files_free(struct mapped_files *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->count; i++)
        free((char *)f->list[i].path);
    free(f->list);
    table_free(f->known);
    free(f);
}

int mapped_files_note(struct mapped_files *f, const struct record *record, bool *added)
{
    if (added)
        *added = false;
    if (record->kind == RECORD_SAMPLE && !f->recording)
        f->recording = number_of(&record->sample);
    if (record->kind != RECORD_MMAP || !record->mmap.executable || record->mmap.path[0] != '/')
        return 0;
    const char *path = record->mmap.path;
    struct mapped_file file = {.id = process_build_id(&record->mmap)};
    bool is_new;
    uint64_t key = checksum_of(path, strlen(path)) ^ hash_u64(checksum_of(file.id.bytes, file.id.size));
    uint64_t *index = file.id.size ? table_put(f->known, key, &is_new) : NULL;
    if (!file.id.size)
        return 0;
    if (!index)
        return -ENOMEM;
    if (!is_new)
        return 0;
    *index = f->count;
    char *copy = strdup(path);
    file.path = copy;
    if (!copy || !vec_push(f->list, f->count, f->capacity, file)) {
        table_remove(f->known, key);
        free(copy);
        return -ENOMEM;
    }
    if (added)
        *added = true;
    return 0;
}

uint64_t mapped_files_recording(const struct mapped_files *f)
{
    return f->recording;
}

size_t mapped_files_list(const struct mapped_files *f, const struct mapped_file **out)
{
    *out = f->list;
    return f->count;
}

int mapped_files_also(const struct mapped_files *f, const struct pathmap *map, struct image_cache *images)
{
    for (size_t i = 0; i < f->count; i++) {
        uint32_t known = pathmap_find_image(map, f->list[i].path, &f->list[i].id, NULL);
        if (known != PATHMAP_NONE &&
            !image_cache_also(images, pathmap_image(map, known).path, &f->list[i].id))
            return -ENOMEM;
    }
    return 0;
}

int mapped_files_name(const struct mapped_files *f, const struct pathmap *map, struct trie *trie)
{
    for (size_t i = 0; i < f->count; i++) {
        const struct mapped_file *file = &f->list[i];
        if (pathmap_find_image(map, file->path, &file->id, NULL) != PATHMAP_NONE &&
            trie_image(trie, file->path, &file->id) == TRIE_NONE)
            return -ENOMEM;
    }
    return 0;
}

int mapped_files_foreign(const struct mapped_files *f, const struct pathmap *map)
{
    struct builds *builds = builds_new(map, NULL);
    int rc = builds ? 0 : -ENOMEM;
    for (size_t i = 0; rc == 0 && i < f->count; i++)
        rc = builds_note(builds, f->list[i].path, &f->list[i].id);
    if (rc == 0)
        rc = builds_foreign(builds);
    builds_free(builds);
    return rc;
}
