/*
 * shared_levels.h - the heights that a map has for functions on stacks that belong to no thread (internal to infer/).
 *
 * On such a stack the outermost function has height 0, or is a signal handler below the root PARTIAL_SIGNAL. The function that
 * clone3 calls has height 0, too, but returns to clone3.
 */
#ifndef FATHOM_INFER_BASES_SHARED_LEVELS_H
#define FATHOM_INFER_BASES_SHARED_LEVELS_H

#include "image/cache.h"
#include "pathmap/map/pathmap.h"

#define SHARED_LEVELS 64 /* maximum number of heights per function: those with the most passes */

struct levels {
    uint32_t count;
    struct level {
        uint32_t height;
        uint64_t passes;
    } of[]; /* by passes, descending */
};

struct shared_levels;

/* Both are borrowed. NULL: out of memory. */
struct shared_levels *shared_levels_new(const struct pathmap *map, struct image_cache *images);
void shared_levels_free(struct shared_levels *levels);
/* The heights of a function of the map; lives as long as `levels`. NULL: out of memory. */
const struct levels *shared_levels_of(struct shared_levels *levels, uint32_t function);
/* Whether the function has this height; *passes: how often. */
bool levels_find(const struct levels *levels, uint64_t height, double *passes);

#endif
