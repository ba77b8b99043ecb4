/* cache.c - images by path and build-id, opened once; see cache.h. */
#include "image/cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/checksum.h"
#include "base/hash.h"
#include "image/vdso.h"

/* What came of one path: an image, or why there is none. */
struct entry {
    const char *path;
    struct build_id expected;
    struct image *image; /* shared by the entries of one path; NULL: failed */
    struct fathom_error error;
    uint32_t next; /* of the same hash; 0 ends */
};

struct image_cache {
    struct image_options options;
    struct arena *arena;
    struct table *by_hash;  /* hash of path and build-id -> entry */
    struct entry **entries; /* [0] is unused */
    uint32_t entry_count, entry_room;
    struct image **images;
    size_t image_count, image_room;
};

struct image_cache *image_cache_new(const struct image_options *options)
{
    struct image_cache *cache = calloc(1, sizeof *cache);
    if (!cache)
        return NULL;
    if (options)
        cache->options = *options;
    cache->arena = arena_new(0);
    cache->by_hash = table_new();
    cache->entry_count = 1;
    if (!cache->arena || !cache->by_hash) {
        image_cache_free(cache);
        return NULL;
    }
    return cache;
}

void image_cache_free(struct image_cache *cache)
{
    if (!cache)
        return;
    for (size_t i = 0; i < cache->image_count; i++)
        image_close(cache->images[i]);
    free(cache->images);
    free(cache->entries);
    table_free(cache->by_hash);
    arena_free(cache->arena);
    free(cache);
}

/* Names of mappings that no file stands behind (proc(5)). */
static bool is_no_file(const char *path)
{
    static const char deleted[] = " (deleted)";
    size_t length = strlen(path), tail = sizeof deleted - 1;
    return path[0] != '/' || strncmp(path, "//", 2) == 0 || strncmp(path, "/memfd:", 7) == 0 ||
           strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/SYSV", 5) == 0 ||
           (length > tail && strcmp(path + length - tail, deleted) == 0);
}

static int open_path(struct image_cache *cache, const char *path, struct image **out,
                     struct fathom_error *err)
{
    if (strcmp(path, "[vdso]") == 0)
        return vdso_open(&cache->options, out, err);
    if (is_no_file(path))
        return error_set(err, ENOENT, "no file stands behind the mapping \"%s\"", path);
    return image_open(path, &cache->options, out, err);
}

static struct image *find_image(const struct image_cache *cache, const char *path)
{
    for (size_t i = 0; i < cache->image_count; i++)
        if (strcmp(image_path(cache->images[i]), path) == 0)
            return cache->images[i];
    return NULL;
}

static int keep_image(struct image_cache *cache, struct image *image)
{
    if (cache->image_count == cache->image_room) {
        size_t room = cache->image_room ? cache->image_room * 2 : 16;
        struct image **images = realloc(cache->images, room * sizeof *images);
        if (!images)
            return -ENOMEM;
        cache->images = images;
        cache->image_room = room;
    }
    cache->images[cache->image_count++] = image;
    return 0;
}

/* Opens the entry's image, or notes why it cannot be had. Fails only for lack of memory. */
static int fill(struct image_cache *cache, struct entry *entry)
{
    struct image *image = find_image(cache, entry->path);
    if (!image) {
        int rc = open_path(cache, entry->path, &image, &entry->error);
        if (rc == -ENOMEM)
            return rc;
        if (rc < 0)
            return 0;
        if (entry->expected.size && !build_id_equal(&entry->expected, image_build_id(image))) {
            image_close(image);
            goto other_build;
        }
        if (keep_image(cache, image) < 0) {
            image_close(image);
            return -ENOMEM;
        }
    } else if (entry->expected.size && !build_id_equal(&entry->expected, image_build_id(image))) {
        goto other_build;
    }
    entry->image = image;
    return 0;
other_build:
    error_set(&entry->error, ESTALE, "%s is not the build that was recorded: its build-id differs",
              entry->path);
    return 0;
}

static struct entry *add_entry(struct image_cache *cache, const char *path, const struct build_id *expected)
{
    if (cache->entry_count == cache->entry_room || !cache->entries) {
        uint32_t room = cache->entry_room ? cache->entry_room * 2 : 64;
        struct entry **entries = realloc(cache->entries, room * sizeof(struct entry *));
        if (!entries)
            return NULL;
        cache->entries = entries;
        cache->entry_room = room;
    }
    struct entry *entry = arena_alloc(cache->arena, sizeof *entry);
    if (!entry)
        return NULL;
    entry->path = arena_strdup(cache->arena, path);
    entry->expected = *expected;
    if (!entry->path || fill(cache, entry) < 0)
        return NULL;
    cache->entries[cache->entry_count++] = entry;
    return entry;
}

int image_cache_get(struct image_cache *cache, const char *path, const struct build_id *expected,
                    struct image **out, struct fathom_error *err)
{
    struct build_id id = {0};
    if (expected && expected->size && expected->size <= BUILD_ID_MAX)
        id = *expected;
    uint64_t hash = checksum_of(path, strlen(path)) ^ hash_u64(checksum_of(id.bytes, id.size));
    uint64_t *slot = table_put(cache->by_hash, hash, NULL);
    if (!slot)
        return error_memory(err);
    struct entry *entry = NULL;
    for (uint32_t i = (uint32_t)*slot; i && !entry; i = cache->entries[i]->next)
        if (strcmp(cache->entries[i]->path, path) == 0 && build_id_equal(&cache->entries[i]->expected, &id))
            entry = cache->entries[i];
    if (!entry) {
        entry = add_entry(cache, path, &id);
        if (!entry)
            return error_memory(err);
        entry->next = (uint32_t)*slot;
        *slot = cache->entry_count - 1;
    }
    if (!entry->image) {
        if (err)
            *err = entry->error;
        return -entry->error.code;
    }
    *out = entry->image;
    return 0;
}

struct image *image_cache_at(const struct image_cache *cache, size_t index)
{
    return index < cache->image_count ? cache->images[index] : NULL;
}
