/*
 * cache.h - each image opened once, found by path and build-id.
 *
 * A file whose build-id differs from the one that was recorded is not used: frames are not looked up in the
 * wrong build.
 */
#ifndef FATHOM_IMAGE_CACHE_H
#define FATHOM_IMAGE_CACHE_H

#include "image/image.h"

struct image_cache;

/* options are copied (their strings are borrowed). NULL: out of memory. */
struct image_cache *image_cache_new(const struct image_options *options);
void image_cache_free(struct image_cache *cache); /* closes all images */

/* The image of a path as recorded. `expected` may be NULL or empty: any build-id is taken. "[vdso]" is opened
 * from this process's own vDSO when the build-ids agree. Failures are remembered and cost nothing the second
 * time: -ESTALE: the file is another build; others as image_open(). The image is the cache's. */
int image_cache_get(struct image_cache *cache, const char *path, const struct build_id *expected,
                    struct image **out, struct fathom_error *err);

/* Images in the order in which they were opened; NULL at the end. */
struct image *image_cache_at(const struct image_cache *cache, size_t index);

#endif
