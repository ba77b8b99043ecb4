/*
 * search.h - which pads make contexts precise: the frame sizes that tell paths apart (ICPP paper, section
 * 5.1).
 *
 * A pad is a number of bytes, a multiple of 16, by which a function's frame grows. A node's height grows by
 * the pads of its proper ancestors, each as often as it is one, where the call moves with the ancestor's
 * frame, and by the pads of the wraps of the calls between them. The search maximises the weight of the nodes
 * with a precise CID: one (function, height) that all its nodes reach by one function path. It knows nothing
 * of ELF: `most` and `unshifted` are all that it needs of the code.
 */
#ifndef FATHOM_DISAMBIG_SEARCH_SEARCH_H
#define FATHOM_DISAMBIG_SEARCH_SEARCH_H

#include "disambig/ambiguity/lineage.h"
#include "rewrite/pads.h"
#include "pathmap/map/pathmap.h"

struct search_problem {
    const struct pathmap *map;
    const uint32_t *most;  /* by function of the map: the largest pad, bytes, a multiple of 16; 0: none */
    const bool *unshifted; /* by node of the map: its parent's pad does not move it; NULL: no such node */
    const bool *costly;    /* by function of the map: a pad adds instructions to it; NULL: no such function */
    /* Calls that can take more stack by themselves (wrap/wrap.h), each wrap so many of them: by node of
     * the map, the wrap of the call that leads to it; PATHMAP_NONE: none; NULL: no node has one. Their
     * numbers, and what `most` and the result's pads say of them, follow those of the functions. Each of
     * their pads adds instructions. */
    const uint32_t *wraps;
    uint32_t wrap_count;
    double stack;  /* the longest stack may grow to so many times its bytes: 1.15; at least 1 */
    double target; /* stop when so much of the weight is precise; 1: go on for paths that had none */
    uint64_t seed;
    bool random;    /* the paper's search, section 5.1.1 (by_chance.c) */
    uint64_t steps; /* pads tried, at most; 0: as many as the search thinks useful */
    double seconds; /* at most; 0: no limit. With one, results depend on the machine */
    /* Told now and then; may be NULL. precise: share of the weight; stack: times its length before. */
    void (*progress)(void *context, uint64_t steps, double precise, double stack);
    void *context;
};

struct search_result {
    uint32_t *pads;         /* by function of the map, then wrap; the caller frees it */
    uint64_t steps;         /* pads tried */
    uint64_t weight;        /* samples if the map has any, else calls */
    uint64_t weight_before; /* as much, unless calls pass the PLT since (clone/past_plt.h) */
    uint64_t precise_before, precise_after;
    uint64_t paths; /* function paths, counted once for each height that they have */
    /* As many, unless the functions have got copies since (clone/clone.h), or that, or pads parted nodes of one path. */
    uint64_t paths_before;
    uint64_t paths_precise_before, paths_precise_after;
    uint32_t stack_before, stack_after; /* the greatest height of the map, bytes */
};

/* Functions and wraps. */
uint32_t search_mover_count(const struct search_problem *problem);
/* The wrap of the call that leads to the node; PATHMAP_NONE: none. */
uint32_t search_wrap(const struct search_problem *problem, uint32_t node);
struct lineage_movers search_movers(const struct search_problem *problem);

/* The same problem and seed give the same result, unless `seconds` ended the search. The result is counted afresh from the
 * map: it does not rest on what the search kept up to date. Errors: -EINVAL: bad numbers in the problem; -EBADMSG: the map
 * is damaged; -EFBIG: its paths hold too many functions; -ENOMEM. */
int search_run(const struct search_problem *problem, struct search_result *result, struct fathom_error *err);
/* What the search works for, roughly (worth.h), from 0 to 1: how good the result is. */
double search_value(const struct search_result *result);

#endif
