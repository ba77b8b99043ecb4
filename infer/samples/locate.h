/*
 * locate.h - from a path map's function to the binary at hand: for its name and lines.
 */
#ifndef FATHOM_INFER_SAMPLES_LOCATE_H
#define FATHOM_INFER_SAMPLES_LOCATE_H

#include "image/cache.h"
#include "pathmap/map/pathmap.h"

/* The image (of the same build-id) and the index of the function in it. false: the file is gone or another
 * build, or it has no such function; the map's own words are all there is. */
bool locate_function(struct image_cache *images, const struct pathmap *map, uint32_t function,
                     struct image **image, uint32_t *index);
/* Name to show: demangled by the binary or by the map, else "image+0xaddress". As snprintf. */
int locate_name(struct image_cache *images, const struct pathmap *map, uint32_t function, char *out,
                size_t size);

#endif
