/*
 * lines_cache.h - the lines of each image, opened once; lines that nobody asked for only within a bound on the
 * bytes read. Private to image/: cache.h.
 */
#ifndef FATHOM_IMAGE_LINES_LINES_CACHE_H
#define FATHOM_IMAGE_LINES_LINES_CACHE_H

#include "image/lines/lines.h"

struct lines_cache;

struct lines_cache *lines_cache_new(void); /* NULL: out of memory */
void lines_cache_free(struct lines_cache *cache);
/* As image_cache_lines() and image_cache_unread(). most: bytes; UINT64_MAX: any. */
struct lines *lines_cache_get(struct lines_cache *cache, const struct image *image,
                              const struct image_options *options, uint64_t most);
const struct image *lines_cache_unread(const struct lines_cache *cache, size_t index, uint64_t *size);

#endif
