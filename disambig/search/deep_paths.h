/*
 * deep_paths.h - the paths that may become the longest stack, and how much a function may grow before one is too
 * long.
 *
 * A leaf of the map is omitted if another node is at least as high with any pads: a sibling's subtree that
 * reaches as high and contains everything that the leaf contains. Leaves that even the largest pads cannot make
 * too high are omitted, too.
 */
#ifndef FATHOM_DISAMBIG_SEARCH_DEEP_PATHS_H
#define FATHOM_DISAMBIG_SEARCH_DEEP_PATHS_H

#include "disambig/ambiguity/lineage.h"
#include "disambig/search/search.h"

struct deep_path_part {
    uint32_t deep_path;
    uint32_t times; /* how often the function is on it */
};

struct deep_paths {
    uint64_t *heights; /* by deep path: with the current pads */
    uint32_t count;
    struct deep_path_part *parts; /* by function, */
    size_t *first;                /* index of their first part; function_count + 1 of them */
    uint64_t limit;               /* bytes */
    uint32_t deepest;             /* height of the highest node without pads, bytes */
};

int deep_paths_make(struct deep_paths *deep_paths, const struct search_problem *problem,
                    const struct lineage_order *order, struct fathom_error *err);
void deep_paths_clear(struct deep_paths *deep_paths);
/* The largest pad that a function with `pad` may have now, at most `most`. */
uint32_t deep_paths_most(const struct deep_paths *deep_paths, uint32_t function, uint32_t pad, uint32_t most);
void deep_paths_change(struct deep_paths *deep_paths, uint32_t function, uint32_t from, uint32_t to);
/* The greatest height of a deep path, bytes; that of the map, if any of it is close to the limit. */
uint64_t deep_paths_deepest(const struct deep_paths *deep_paths);
/* The maximal number of times that the function is on a deep path, where a path of half of the limit counts half. */
double deep_paths_price(const struct deep_paths *deep_paths, uint32_t function);

#endif
