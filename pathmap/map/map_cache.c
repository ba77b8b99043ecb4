/* map_cache.c - see map_cache.h. */
#include "pathmap/map/map_cache.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/cache.h"

#define NUMBER_DIGITS 16
#define SUFFIX        ".fmap"

char *map_cache_directory(bool make)
{
    return cache_directory("maps", make);
}

/* malloc'ed; NULL: out of memory. */
static char *place_of(const char *directory, const struct build_id *program, uint64_t recording)
{
    char hex[2 * BUILD_ID_MAX + 1], *path;
    build_id_format(program, hex);
    return asprintf(&path, "%s/%s-%016llx" SUFFIX, directory, hex, (unsigned long long)recording) < 0 ? NULL
                                                                                                      : path;
}

/* false: the name is not that of a map. */
static bool read_name(const char *name, struct map_cache_entry *out)
{
    static const char digits[] = "0123456789abcdef";
    size_t length = strspn(name, digits);
    const char *rest = name + length;
    if (length == 0 || length % 2 || length > 2 * BUILD_ID_MAX || *rest++ != '-' ||
        strspn(rest, digits) != NUMBER_DIGITS || strcmp(rest + NUMBER_DIGITS, SUFFIX) != 0)
        return false;
    out->recording = strtoull(rest, NULL, 16);
    out->program = (struct build_id){.size = (uint8_t)(length / 2)};
    for (size_t i = 0; i < out->program.size; i++) {
        char byte[] = {name[2 * i], name[2 * i + 1], 0};
        out->program.bytes[i] = (uint8_t)strtoul(byte, NULL, 16);
    }
    return true;
}

int map_cache_list(const char *given, struct map_cache_entry **out, size_t *count, struct fathom_error *err)
{
    struct cache_entry *files = NULL;
    size_t file_count = 0;
    char *directory = given ? strdup(given) : map_cache_directory(false);
    int rc = directory ? cache_list(directory, &files, &file_count, err) : 0;
    *count = 0;
    *out = rc == 0 ? calloc(file_count + 1, sizeof **out) : NULL;
    if (rc == 0 && !*out)
        rc = error_memory(err);
    for (size_t i = 0; rc == 0 && i < file_count; i++) {
        struct map_cache_entry entry = {.bytes = files[i].bytes, .used = files[i].used.tv_sec};
        if (!read_name(files[i].name, &entry))
            continue;
        entry.path = place_of(directory, &entry.program, entry.recording);
        if (!entry.path)
            rc = error_memory(err);
        else
            (*out)[(*count)++] = entry;
    }
    free(files);
    free(directory);
    if (rc < 0)
        map_cache_list_free(*out, *count);
    return rc;
}

void map_cache_list_free(struct map_cache_entry *entries, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(entries[i].path);
    free(entries);
}

/* Removes all but the latest recordings of the program. */
static int remove_old(const struct build_id *program, struct fathom_error *err)
{
    struct map_cache_entry *entries;
    size_t count, of_program = 0;
    int rc = map_cache_list(NULL, &entries, &count, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < count; i++)
        if (build_id_equal(&entries[i].program, program) && ++of_program > MAP_CACHE_RECORDINGS)
            unlink(entries[i].path);
    map_cache_list_free(entries, count);
    return 0;
}

/* 1: written; 0: it is too large. */
static int write_map(const struct trie *trie, const char *directory, const char *path,
                     struct fathom_error *err)
{
    void *data;
    size_t size;
    struct cache_file file;
    int rc = trie_serialise(trie, &data, &size, err);
    if (rc < 0)
        return rc;
    bool fits = size <= MAP_CACHE_LARGEST;
    rc = fits ? cache_begin(directory, size, MAP_CACHE_BYTES, &file, err) : 0;
    if (rc == 0 && fits)
        rc = cache_end(&file, path, file_write_all(file.fd, data, size, path, err), err);
    free(data);
    return rc < 0 ? rc : fits;
}

int map_cache_add(const struct build_id *program, uint64_t recording, const struct trie *trie,
                  struct fathom_error *err)
{
    char *directory = program->size ? map_cache_directory(true) : NULL;
    if (!directory)
        return 0;
    char *path = place_of(directory, program, recording);
    int rc = path ? write_map(trie, directory, path, err) : error_memory(err);
    free(directory);
    free(path);
    int removed = rc == 1 ? remove_old(program, err) : 0;
    return removed < 0 ? removed : rc;
}

/* 1: added; 0: unusable; -ENOMEM. */
static int add_map(const char *path, struct trie *trie, struct fathom_error *err)
{
    struct pathmap *map;
    int rc = pathmap_open(path, &map, err);
    if (rc == 0) {
        rc = cache_use(path) ? trie_merge(trie, map, err) : -ENOENT;
        pathmap_close(map);
    }
    return rc == 0 ? 1 : rc == -ENOMEM ? rc : 0;
}

bool map_cache_is_for(const struct map_cache_entry *entry, const struct build_id *program, uint64_t recording)
{
    return build_id_equal(&entry->program, program) && entry->recording != recording &&
           entry->bytes <= MAP_CACHE_LARGEST;
}

int map_cache_get(const char *directory, const struct build_id *program, uint64_t recording,
                  struct trie *trie, struct fathom_error *err)
{
    struct map_cache_entry *entries;
    size_t count;
    int used = 0, rc = map_cache_list(directory, &entries, &count, err);
    if (rc < 0)
        return rc == -ENOMEM ? rc : 0;
    for (size_t i = 0; i < count && rc >= 0; i++) {
        if (!map_cache_is_for(&entries[i], program, recording))
            continue;
        rc = add_map(entries[i].path, trie, err);
        used += rc == 1;
    }
    map_cache_list_free(entries, count);
    return rc < 0 ? rc : used;
}
