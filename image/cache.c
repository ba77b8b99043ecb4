/* cache.c - images by path and build-id, opened once; see cache.h. */
#include "image/cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/arena.h"
#include "base/checksum.h"
#include "base/hash.h"
#include "base/vec.h"
#include "image/derive.h"
#include "image/image_find.h"
#include "image/image_private.h"
#include "image/lines/lines_cache.h"
#include "image/made/code_names.h"
#include "image/twins.h"
#include "image/run_time.h"
#include "image/vdso.h"

/* The result for one path: an image, or why there is none. */
struct entry {
    const char *path;
    struct build_id expected;
    struct image *image; /* shared by the entries of one path; NULL: failed */
    struct fathom_error error;
    uint32_t asked; /* requests since it failed */
    uint32_t next;  /* next entry with the same hash; 0: end */
};

struct image_cache {
    struct image_options options;
    struct twins *twins;
    struct arena *arena;
    struct table *by_hash;  /* hash of path and build-id -> entry */
    struct entry **entries; /* [0] is unused */
    uint32_t entry_count, entry_capacity;
    struct image **images;
    size_t image_count, image_capacity;
    struct lines_cache *lines;
    struct code_names **code_names; /* the last one is current; images of run-time code may use any */
    size_t code_names_count, code_names_capacity;
    struct table *failed; /* hashes of the paths whose failure was reported */
    bool other_build;     /* image_cache_other_build() */
    bool other_kernel;    /* image_cache_kernel() */
    bool late;            /* image_cache_is_late() */
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
    cache->failed = table_new();
    cache->lines = lines_cache_new();
    cache->options.twins = cache->twins = twins_new();
    cache->entry_count = 1;
    if (!cache->twins || !cache->arena || !cache->by_hash || !cache->failed || !cache->lines) {
        image_cache_free(cache);
        return NULL;
    }
    return cache;
}

const struct image_options *image_cache_options(const struct image_cache *cache)
{
    return &cache->options;
}

static void close_images(struct image_cache *cache)
{
    lines_cache_free(cache->lines);
    for (size_t i = 0; i < cache->image_count; i++)
        image_close(cache->images[i]);
    cache->lines = NULL;
    cache->image_count = 0;
}

void image_cache_free(struct image_cache *cache)
{
    if (!cache)
        return;
    close_images(cache);
    free(cache->images);
    free(cache->entries);
    table_free(cache->by_hash);
    table_free(cache->failed);
    twins_free(cache->twins);
    while (cache->code_names_count)
        code_names_free(cache->code_names[--cache->code_names_count]);
    free(cache->code_names);
    arena_free(cache->arena);
    free(cache);
}

/* An already open image of this build. */
static struct image *find_image(const struct image_cache *cache, const char *path,
                                const struct build_id *expected)
{
    for (size_t i = 0; i < cache->image_count; i++) {
        struct image *image = cache->images[i];
        if (strcmp(image_path(image), path) == 0 &&
            (!expected->size || build_id_equal(expected, image_build_id(image))))
            return image;
    }
    return NULL;
}

static int open_file(const struct image_cache *cache, const struct entry *entry, struct image **out,
                     struct fathom_error *err)
{
    char *file;
    int rc = image_find(entry->path, &entry->expected, &cache->options, &file, err);
    if (rc < 0)
        return rc;
    rc = image_open_as(file, entry->path, &cache->options, out, err);
    free(file);
    return rc;
}

/* Opens this process's own vDSO or, if the recorded kernel is or may be another one, a stored copy of that
 * kernel's vDSO. */
static int open_vdso(const struct image_cache *cache, const struct entry *entry, struct image **out,
                     struct fathom_error *err)
{
    const struct build_id *expected = &entry->expected;
    struct image *own;
    int rc = vdso_open(&cache->options, &own, err);
    if (!expected->size && cache->options.archived && open_file(cache, entry, out, NULL) == 0) {
        if (rc == 0)
            image_close(own);
        return 0;
    }
    if (rc == 0 && (expected->size ? build_id_equal(expected, image_build_id(own)) : !cache->other_kernel)) {
        *out = own;
        return 0;
    }
    if (rc == 0) {
        image_close(own);
        rc = error_set(err, ESTALE, "%s belongs to another kernel than the running one", entry->path);
    }
    if (rc == -ENOMEM || !expected->size)
        return rc;
    int found = open_file(cache, entry, out, NULL);
    return found == 0 || found == -ENOMEM ? found : rc;
}

static int keep_image(struct image_cache *cache, struct image *image)
{
    return vec_push(cache->images, cache->image_count, cache->image_capacity, image) ? 0 : -ENOMEM;
}

static const struct code_names *code_names_now(const struct image_cache *cache)
{
    return cache->code_names_count ? cache->code_names[cache->code_names_count - 1] : NULL;
}

static int open_run_time(const struct image_cache *cache, const struct entry *entry, struct image **out,
                         struct fathom_error *err)
{
    (void)entry;
    return run_time_open(code_names_now(cache), out) < 0 ? error_memory(err) : 0;
}

/* Opens the entry's image, or notes why it is not available. Fails only for lack of memory. */
static int fill_entry(struct image_cache *cache, struct entry *entry)
{
    struct image *image = find_image(cache, entry->path, &entry->expected);
    if (!image) {
        const bool vdso = strcmp(entry->path, VDSO_NAME) == 0, made = strcmp(entry->path, RUN_TIME_NAME) == 0;
        int rc = (vdso ? open_vdso : made ? open_run_time : open_file)(cache, entry, &image, &entry->error);
        if (rc == -ENOMEM)
            return rc;
        if (rc < 0)
            return 0;
        if (entry->expected.size && !build_id_equal(&entry->expected, image_build_id(image))) {
            image_close(image);
            error_set(&entry->error, ESTALE, IMAGE_OTHER_BUILD, entry->path);
            return 0;
        }
        if ((!made && image_derive_rows(image, DERIVE_WHOLE_MOST) < 0) || keep_image(cache, image) < 0) {
            image_close(image);
            return -ENOMEM;
        }
    }
    entry->image = image;
    return 0;
}

static struct entry *add_entry(struct image_cache *cache, const char *path, const struct build_id *expected)
{
    if (!vec_reserve(cache->entries, cache->entry_count, cache->entry_capacity, 1))
        return NULL;
    struct entry *entry = arena_alloc(cache->arena, sizeof *entry);
    if (!entry)
        return NULL;
    entry->path = arena_strdup(cache->arena, path);
    entry->expected = *expected;
    if (!entry->path || fill_entry(cache, entry) < 0)
        return NULL;
    cache->entries[cache->entry_count++] = entry;
    return entry;
}

static struct build_id wanted_build(const struct build_id *expected)
{
    static const struct build_id any;
    return expected && expected->size && expected->size <= BUILD_ID_MAX ? *expected : any;
}

static uint64_t hash_of(const char *path, const struct build_id *id)
{
    return checksum_of(path, strlen(path)) ^ hash_u64(checksum_of(id->bytes, id->size));
}

static struct entry *find_entry(const struct image_cache *cache, uint64_t first, const char *path,
                                const struct build_id *id)
{
    for (uint32_t i = (uint32_t)first; i; i = cache->entries[i]->next)
        if (strcmp(cache->entries[i]->path, path) == 0 && build_id_equal(&cache->entries[i]->expected, id))
            return cache->entries[i];
    return NULL;
}

/* While programs run, a file may turn up later: the recorder stores a copy of a deleted one. */
#define RETRY_EVERY 64 /* requests between attempts, each of which costs some system calls */

static bool is_due(const struct image_cache *cache, struct entry *entry)
{
    return cache->options.live && !entry->image && ++entry->asked % RETRY_EVERY == 0;
}

int image_cache_get(struct image_cache *cache, const char *path, const struct build_id *expected,
                    struct image **out, struct fathom_error *err)
{
    struct build_id id = wanted_build(expected);
    uint64_t hash = hash_of(path, &id);
    uint64_t *slot = table_put(cache->by_hash, hash, NULL);
    if (!slot)
        return error_memory(err);
    struct entry *entry = find_entry(cache, *slot, path, &id);
    if (!entry) {
        entry = add_entry(cache, path, &id);
        if (!entry)
            return error_memory(err);
        entry->next = (uint32_t)*slot;
        *slot = cache->entry_count - 1;
    } else if (is_due(cache, entry) && fill_entry(cache, entry) < 0) {
        return error_memory(err);
    }
    if (!entry->image) {
        if (err)
            *err = entry->error;
        return -entry->error.code;
    }
    *out = entry->image;
    return 0;
}

int image_cache_check(struct image_cache *cache, const char *path, const struct build_id *expected,
                      struct fathom_error *err)
{
    struct build_id id = wanted_build(expected);
    const uint64_t *slot = table_find(cache->by_hash, hash_of(path, &id));
    const struct entry *entry = slot ? find_entry(cache, *slot, path, &id) : NULL;
    if (entry && err && !entry->image)
        *err = entry->error;
    if (entry)
        return entry->image ? 0 : -entry->error.code;
    struct image *image;
    if (strcmp(path, VDSO_NAME) == 0) /* only a few pages */
        return image_cache_get(cache, path, &id, &image, err);
    char *file;
    int rc = image_find(path, &id, &cache->options, &file, err);
    if (rc == 0)
        free(file);
    return rc;
}

int image_cache_code_names(struct image_cache *cache, const void *data, size_t size)
{
    struct code_names *names = size ? code_names_new(data, size) : NULL;
    int rc = size && !names ? -ENOMEM : 0;
    if (!names && !code_names_now(cache))
        return rc;
    if (!vec_push(cache->code_names, cache->code_names_count, cache->code_names_capacity, names)) {
        code_names_free(names);
        return -ENOMEM;
    }
    for (uint32_t i = 1; i < cache->entry_count && rc == 0; i++) {
        struct image *image;
        if (strcmp(cache->entries[i]->path, RUN_TIME_NAME) != 0)
            continue;
        rc = run_time_open(names, &image);
        if (rc == 0 && (rc = keep_image(cache, image)) < 0)
            image_close(image);
        else if (rc == 0)
            cache->entries[i]->image = image;
    }
    return rc;
}

const struct code_set *image_cache_code_of(const struct image_cache *cache, uint32_t pid, uint64_t birth)
{
    const struct code_names *names = code_names_now(cache);
    return names ? code_names_of(names, pid, birth) : NULL;
}

/* Whether the file at a path is of the image's build and names functions that the image does not name. */
static bool names_more(const struct image_cache *cache, const struct image *image, const char *path)
{
    char *file;
    if (strcmp(image_path(image), path) == 0 ||
        image_find_at(path, image_build_id(image), cache->options.symfs, &file, NULL) < 0)
        return false;
    bool more = elf_file_names_more(file, &image->file);
    free(file);
    return more;
}

bool image_cache_also(struct image_cache *cache, const char *path, const struct build_id *id)
{
    for (size_t i = 0; i < cache->image_count && !cache->late && id->size; i++) {
        const struct image *image = cache->images[i];
        cache->late = build_id_equal(image_build_id(image), id) && image_is_stripped(image) &&
                      names_more(cache, image, path);
    }
    return twins_add(cache->twins, path, id);
}

const char *image_cache_path(const struct image_cache *cache, const struct build_id *id, size_t index)
{
    const char *paths[TWINS_MOST];
    return index < twins_find(cache->twins, id, paths) ? paths[index] : NULL;
}

bool image_cache_is_late(const struct image_cache *cache)
{
    return cache->late;
}

bool image_cache_close_all(struct image_cache *cache)
{
    close_images(cache);
    table_free(cache->by_hash);
    cache->by_hash = table_new();
    cache->lines = lines_cache_new();
    cache->entry_count = 1;
    cache->late = false;
    return cache->by_hash && cache->lines;
}

int image_cache_settle(struct image_cache *cache)
{
    const bool apart = cache->options.parts_apart, live = cache->options.live;
    int rc = 0;
    cache->options.live = cache->options.parts_apart = false;
    for (size_t i = 0; i < cache->image_count && rc == 0; i++)
        if (apart && !image_is_run_time(cache->images[i]))
            rc = image_join_parts(cache->images[i]);
    for (uint32_t i = 1; live && i < cache->entry_count && rc == 0; i++)
        if (!cache->entries[i]->image)
            rc = fill_entry(cache, cache->entries[i]);
    return rc;
}

void image_cache_kernel(struct image_cache *cache, const char *release)
{
    struct utsname own;
    cache->other_kernel = release && uname(&own) == 0 && strcmp(own.release, release) != 0;
}

bool image_cache_first_failure(struct image_cache *cache, const char *path, const struct fathom_error *why)
{
    bool added = false;
    cache->other_build |= why->code == ESTALE;
    return table_put(cache->failed, checksum_of(path, strlen(path)), &added) && added;
}

bool image_cache_other_build(const struct image_cache *cache)
{
    return cache->other_build;
}

struct image *image_cache_at(const struct image_cache *cache, size_t index)
{
    return index < cache->image_count ? cache->images[index] : NULL;
}

struct lines *image_cache_lines(struct image_cache *cache, const struct image *image, uint64_t most_kib)
{
    uint64_t most = most_kib > UINT64_MAX / 1024 ? UINT64_MAX : most_kib * 1024;
    return lines_cache_get(cache->lines, image, &cache->options, most);
}

const struct image *image_cache_unread(const struct image_cache *cache, size_t index, uint64_t *size)
{
    return lines_cache_unread(cache->lines, index, size);
}
