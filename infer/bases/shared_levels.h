/*
 * shared_levels.h - the heights that a map knows of functions on stacks that belong to no thread (internal to
 * infer/).
 *
 * There, the outermost function has height 0. So has the function that clone3 calls, but that returns into
 * clone3.
 */
#ifndef FATHOM_INFER_BASES_SHARED_LEVELS_H
#define FATHOM_INFER_BASES_SHARED_LEVELS_H

#include "image/cache.h"
#include "pathmap/map/pathmap.h"

#define SHARED_LEVELS 64 /* heights of a function: those that were passed most */

struct levels {
    uint32_t count;
    struct level {
        uint32_t height;
        uint64_t passes;
    } of[]; /* the most passed first */
};

struct shared_levels;

/* Both are borrowed. NULL: out of memory. */
struct shared_levels *shared_levels_new(const struct pathmap *map, struct image_cache *images);
void shared_levels_free(struct shared_levels *levels);
/* Of a function of the map; lives as long as all of them. NULL: out of memory. */
const struct levels *shared_levels_of(struct shared_levels *levels, uint32_t function);
/* Whether a height is one of them, and its passes. */
bool levels_find(const struct levels *levels, uint64_t height, double *passes);

#endif
