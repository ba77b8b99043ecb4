/* lines_cache.c - see lines_cache.h. */
#include "image/lines/lines_cache.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/vec.h"
#include "image/image_private.h"
#include "image/lines/child.h"
#include "image/lines/files.h"

struct entry {
    const struct image *image;
    struct lines *lines; /* NULL: not opened, or none. Before `opened`: by a table alone */
    bool looked;         /* searched for within a bound: not on servers */
    bool unread;         /* ... and it is larger than the bound */
    bool opened;         /* opening was tried */
    uint64_t size;       /* bytes to read */
};

struct lines_cache {
    struct table *numbers; /* image -> number of its entry */
    struct entry *entries;
    size_t count, capacity;
    uint64_t read; /* bytes opened within a bound */
    uint64_t all;  /* ... and altogether: the processes that read them stay to the end */
};

struct lines_cache *lines_cache_new(void)
{
    struct lines_cache *cache = calloc(1, sizeof *cache);
    if (cache && !(cache->numbers = table_new())) {
        free(cache);
        return NULL;
    }
    return cache;
}

void lines_cache_free(struct lines_cache *cache)
{
    if (!cache)
        return;
    for (size_t i = 0; i < cache->count; i++)
        lines_close(cache->entries[i].lines);
    free(cache->entries);
    table_free(cache->numbers);
    free(cache);
}

static struct entry *entry_of(struct lines_cache *cache, const struct image *image)
{
    bool added;
    uint64_t *number = table_put(cache->numbers, (uintptr_t)image, &added);
    if (!number)
        return NULL;
    if (added) {
        *number = cache->count;
        if (!vec_push(cache->entries, cache->count, cache->capacity, (struct entry){.image = image})) {
            table_remove(cache->numbers, (uintptr_t)image);
            return NULL;
        }
    }
    return &cache->entries[*number];
}

/* Tables cost next to nothing. Debug information is only needed for C in a Go program, which then has .eh_frame. */
static void open_table(struct entry *e, const struct image_options *options)
{
    if (lines_open_table(e->image, options, &e->lines, NULL) == 0)
        e->unread &= elf_file_section(&e->image->file, ".eh_frame") != NULL;
}

/* Opens the lines, unless they are larger than what the bound leaves. */
static void open_entry(struct lines_cache *cache, struct entry *e, const struct image_options *options,
                       uint64_t most)
{
    struct image_options quick = *options;
    struct fathom_error why = {0};
    if (most != UINT64_MAX) {
        quick.debuginfod = NULL; /* files of servers may be large, too */
        e->looked = true;
        e->size = image_lines_size(e->image, &quick);
        e->unread = e->size > (most > cache->read ? most - cache->read : 0);
        if (e->unread || e->size == 0) {
            if (most)
                open_table(e, &quick);
            return;
        }
        cache->read += e->size;
    } else {
        e->size = image_lines_size(e->image, options);
    }
    e->opened = true;
    if (e->size > LINES_CHILD_MEMORY - cache->all) {
        log_write(
            options->log, LOG_WARNING,
            "the debug information of %s is not read: together with that of other files it would be more "
            "than 8 GiB",
            image_path(e->image));
        return;
    }
    cache->all += e->size;
    if (e->lines) {
        lines_allow_debug(e->lines);
        return;
    }
    int rc = lines_open(e->image, &quick, &e->lines, &why);
    if (rc < 0 && rc != -ENODATA)
        log_write(options->log, LOG_WARNING, "%s", why.text);
}

struct lines *lines_cache_get(struct lines_cache *cache, const struct image *image,
                              const struct image_options *options, uint64_t most)
{
    struct entry *e = entry_of(cache, image);
    if (e && !e->opened && !(e->looked && most != UINT64_MAX))
        open_entry(cache, e, options, most);
    return e ? e->lines : NULL;
}

const struct image *lines_cache_unread(const struct lines_cache *cache, size_t index, uint64_t *size)
{
    for (size_t i = 0; i < cache->count; i++)
        if (cache->entries[i].unread && index-- == 0) {
            *size = cache->entries[i].size;
            return cache->entries[i].image;
        }
    return NULL;
}
