/* common.h - what all probable paths of a sample have in common: their outermost and innermost functions. */
#ifndef FATHOM_PROFILE_COMMON_H
#define FATHOM_PROFILE_COMMON_H

#include <stddef.h>

#include "infer/contexts/resolver.h"

#define COMMON_SHARE 0.99 /* the paths considered have this share of the probability together */

struct common {
    uint32_t paths; /* number of (most probable) paths considered: 1 if one has COMMON_SHARE alone */
    size_t outer, inner;
    uint32_t *functions; /* of the first path, from the root inwards */
    size_t depth;        /* outer + inner or more */
    uint32_t *other;     /* scratch */
    size_t capacity, other_capacity;
};

/* Fills all of *common (initialise with zeros, free with common_clear()). 0, -ENOMEM, -EBADMSG. */
int common_find(struct common *common, const struct pathmap *map, const struct candidate_path *paths,
                uint32_t count, struct fathom_error *err);
void common_clear(struct common *common);
/* The number of paths considered. */
uint32_t common_count(const struct candidate_path *paths, uint32_t count);

#endif
