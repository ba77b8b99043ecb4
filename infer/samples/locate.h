/*
 * locate.h - finds a path map's function in the available binary, for its name and lines.
 */
#ifndef FATHOM_INFER_SAMPLES_LOCATE_H
#define FATHOM_INFER_SAMPLES_LOCATE_H

#include "image/cache.h"
#include "pathmap/map/pathmap.h"

/* The image (of the same build-id) and the index of the function in it. false: the file is missing or another
 * build, or lacks the function; only the map's own data is available. */
bool locate_function(struct image_cache *images, const struct pathmap *map, uint32_t function,
                     struct image **image, uint32_t *index);
/* Name to show: demangled, from the binary or the map, else "image+0xaddress". Like snprintf. */
int locate_name(struct image_cache *images, const struct pathmap *map, uint32_t function, char *out,
                size_t size);

#endif
