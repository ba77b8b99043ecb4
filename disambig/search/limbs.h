/*
 * limbs.h - the paths that may become the longest stack, and how much a function may grow before one is too long.
 *
 * Of the leaves of the map only those are kept that no other node is sure to be above, whatever the pads: a sibling's
 * subtree that reaches as high holds all that the leaf holds. Those that the largest pads cannot make too long are left out.
 */
#ifndef FATHOM_DISAMBIG_SEARCH_LIMBS_H
#define FATHOM_DISAMBIG_SEARCH_LIMBS_H

#include "disambig/ambiguity/lineage.h"
#include "disambig/search/search.h"

struct limb_part {
    uint32_t limb;
    uint32_t times; /* how often the function is on it */
};

struct limbs {
    uint64_t *heights; /* by limb: with the pads as they are */
    uint32_t count;
    struct limb_part *parts; /* by function, */
    size_t *first;           /* whose begin here; function_count + 1 of them */
    uint64_t limit;          /* bytes */
    uint32_t tallest;        /* height of the highest node before, bytes */
};

int limbs_make(struct limbs *limbs, const struct search_problem *problem, const struct lineage_order *order,
               struct fathom_error *err);
void limbs_clear(struct limbs *limbs);
/* The largest pad that a function with `pad` now may have, at most `most`. */
uint32_t limbs_most(const struct limbs *limbs, uint32_t function, uint32_t pad, uint32_t most);
void limbs_change(struct limbs *limbs, uint32_t function, uint32_t from, uint32_t to);
/* The greatest height of a limb, bytes: of the map, if any of it is close to the limit. */
uint64_t limbs_tallest(const struct limbs *limbs);
/* How often, at most, the function is on a limb, one of half of the limit counting half. */
double limbs_price(const struct limbs *limbs, uint32_t function);

#endif
