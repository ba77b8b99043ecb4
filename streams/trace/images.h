/*
 * images.h - the files that traced processes had mapped: duplicated ones, with their lists of places
 * (site_list.h), and others. Each is opened once.
 */
#ifndef FATHOM_STREAMS_TRACE_IMAGES_H
#define FATHOM_STREAMS_TRACE_IMAGES_H

#include "image/cache.h"
#include "image/objects.h"
#include "streams/trace/site_list.h"

struct traced_image {
    char *path;              /* in processes; of a duplicated file, that of the original */
    struct image *code;      /* what was executed; NULL: it cannot be opened */
    struct image *original;  /* the file whose functions, lines and objects are reported: `code` if it is not
                              * duplicated */
    struct site_list sites;  /* empty: not duplicated */
    struct objects *objects; /* made by traced_object() */
};

struct traced_images;

/* Opens the duplicated files of a trace's directory. */
int traced_images_new(const char *directory, struct image_cache *cache, const struct log *log,
                      struct traced_images **out, struct fathom_error *err);
void traced_images_free(struct traced_images *images); /* NULL is allowed */
/* Finds or adds a file by its path in a process's maps. Results stay in place. NULL: out of memory. */
struct traced_image *traced_images_get(struct traced_images *images, const char *path);
/* The function whose code is at an address of `code`: returns its image and sets *out to an address in that. If
 * it was duplicated: the original, and the function's entry there. */
const struct image *traced_function(const struct traced_image *image, uint64_t address, uint64_t *out);
/* The object at an address of the original; NULL: none known. */
const struct object *traced_object(struct traced_image *image, uint64_t address);

#endif
