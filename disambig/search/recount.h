/* recount.h - counts directly from the nodes what is precise in a map with pads, and how long its longest stack
 * is. */
#ifndef FATHOM_DISAMBIG_SEARCH_RECOUNT_H
#define FATHOM_DISAMBIG_SEARCH_RECOUNT_H

#include "disambig/ambiguity/lineage.h"

struct recount {
    uint64_t weight, precise_weight; /* samples if the map has any, else calls */
    uint64_t paths, precise_paths;   /* function paths, counted once for each height */
    uint64_t deepest;                /* bytes */
};

/* pads: by function, then wrap; NULL: none. unshifted, wraps: search.h. -ENOMEM. */
int recount_map(const struct pathmap *map, const struct lineage_order *order, const uint32_t *pads,
                const bool *unshifted, const uint32_t *wraps, struct recount *out, struct fathom_error *err);

/* The height of each node with the pads, bytes: the parent's plus the old distance from it, the parent's pad and
 * that of the call. */
void recount_heights(const struct pathmap *map, const struct lineage_order *order, const uint32_t *pads,
                     const bool *unshifted, const uint32_t *wraps, uint64_t *heights);

#endif
