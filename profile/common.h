/*
 * common.h - what all paths that a sample may be on have in common: their outermost and their innermost
 * functions.
 */
#ifndef FATHOM_PROFILE_COMMON_H
#define FATHOM_PROFILE_COMMON_H

#include <stddef.h>

#include "infer/contexts/resolver.h"

#define COMMON_SHARE 0.99 /* the paths looked at have this much of the probability together */

struct common {
    uint32_t paths; /* how many were looked at, the most probable: 1 when it has COMMON_SHARE alone */
    size_t outer, inner;
    uint32_t *functions; /* of the first path, from the root inwards */
    size_t depth;        /* outer + inner or more */
    uint32_t *other;     /* scratch */
    size_t room, other_room;
};

/* Fills all of *common (zeroed at first; common_clear() at last). 0, -ENOMEM, -EBADMSG. */
int common_find(struct common *common, const struct pathmap *map, const struct candidate_path *paths,
                uint32_t count, struct fathom_error *err);
void common_clear(struct common *common);
/* How many of the paths are looked at. */
uint32_t common_count(const struct candidate_path *paths, uint32_t count);

#endif
