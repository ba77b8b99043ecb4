/* common.c - see common.h. */
#include "profile/common.h"

#include <stdlib.h>

void common_clear(struct common *c)
{
    free(c->functions);
    free(c->other);
    *c = (struct common){0};
}

uint32_t common_count(const struct candidate_path *paths, uint32_t count)
{
    double all = 0, seen = 0;
    for (uint32_t i = 0; i < count; i++)
        all += (double)paths[i].probability;
    for (uint32_t i = 0; i < count; i++) {
        seen += (double)paths[i].probability;
        if (seen >= COMMON_SHARE * all)
            return i + 1;
    }
    return count;
}

int common_find(struct common *c, const struct pathmap *map, const struct candidate_path *paths,
                uint32_t count, struct fathom_error *err)
{
    int depth = pathmap_read_path(map, paths[0].node, &c->functions, &c->capacity, err);
    if (depth < 0)
        return depth;
    c->paths = common_count(paths, count);
    c->depth = c->outer = c->inner = (size_t)depth;
    size_t shortest = c->depth;
    for (uint32_t i = 1; i < c->paths; i++) {
        depth = pathmap_read_path(map, paths[i].node, &c->other, &c->other_capacity, err);
        if (depth < 0)
            return depth;
        size_t other = (size_t)depth, outer = 0, inner = 0;
        shortest = other < shortest ? other : shortest;
        while (outer < c->outer && outer < other && c->functions[outer] == c->other[outer])
            outer++;
        while (inner < c->inner && inner < other &&
               c->functions[c->depth - 1 - inner] == c->other[other - 1 - inner])
            inner++;
        c->outer = outer;
        c->inner = inner;
    }
    if (c->inner > shortest - c->outer)
        c->inner = shortest - c->outer;
    return 0;
}
