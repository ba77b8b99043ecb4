/*
 * images.h - the files that traced processes had mapped: those that were duplicated, with the lists of their places (site_list.h), and
 * others. All of them are opened once.
 */
#ifndef FATHOM_STREAMS_TRACE_IMAGES_H
#define FATHOM_STREAMS_TRACE_IMAGES_H

#include "image/cache.h"
#include "image/objects.h"
#include "streams/trace/site_list.h"

struct traced_image {
    char *path;              /* as processes have it, or that of the file that was duplicated */
    struct image *code;      /* what ran; NULL: it cannot be opened */
    struct image *original;  /* whose functions, lines and objects are told: `code` if it is not duplicated */
    struct site_list sites;  /* of no place: not duplicated */
    struct objects *objects; /* traced_object() makes them */
};

struct traced_images;

/* The duplicated files of a trace's directory. */
int traced_images_new(const char *directory, struct image_cache *cache, const struct log *log,
                      struct traced_images **out, struct fathom_error *err);
void traced_images_free(struct traced_images *images); /* NULL is allowed */
/* By a path in a process's maps. Their addresses do not change. NULL: out of memory. */
struct traced_image *traced_images_get(struct traced_images *images, const char *path);
/* The image, and an address in it, of the function whose code is at an address of `code`: the original and the function's entry there, if it
 * was duplicated. */
const struct image *traced_function(const struct traced_image *image, uint64_t address, uint64_t *out);
/* The object at an address of the original; NULL: none is known. */
const struct object *traced_object(struct traced_image *image, uint64_t address);

#endif
