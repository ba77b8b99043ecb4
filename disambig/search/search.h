/*
 * search.h - chooses pads that make contexts precise: frame sizes that separate paths (ICPP paper, section 5.1).
 *
 * A pad is a number of bytes, a multiple of 16, by which a function's frame grows. A node's height grows by the
 * pads of its proper ancestors, each as often as it is one, if the call moves with the ancestor's frame, and by
 * the pads of the wraps of the calls between them. The search maximises the weight of the nodes with a precise
 * CID: a (function, height) that all its nodes reach by one function path. It knows nothing of ELF: `most` and
 * `unshifted` are all that it needs to know about the code.
 */
#ifndef FATHOM_DISAMBIG_SEARCH_SEARCH_H
#define FATHOM_DISAMBIG_SEARCH_SEARCH_H

#include "disambig/ambiguity/lineage.h"
#include "rewrite/pads.h"
#include "pathmap/map/pathmap.h"

struct search_problem {
    const struct pathmap *map;
    const uint32_t *most;  /* by function of the map: the largest pad, bytes, a multiple of 16; 0: none */
    const bool *unshifted; /* by node of the map: its parent's pad does not move it; NULL: all are moved */
    const bool *costly;    /* by function of the map: a pad adds instructions to it; NULL: none does */
    /* Calls that can take more stack by themselves (wrap/wrap.h); a wrap is a set of these. By node of the map,
     * the wrap of the call that leads to it; PATHMAP_NONE: none; NULL: no wraps. Wraps are numbered behind the
     * functions, also in `most` and the result's pads. Each of their pads adds instructions. */
    const uint32_t *wraps;
    uint32_t wrap_count;
    double stack;  /* the longest stack may grow to this multiple of its length, at least 1: 1.15 */
    double target; /* stop when this share of the weight is precise; 1: continue for paths without weight */
    uint64_t seed;
    bool random;    /* the paper's search, section 5.1.1 (by_chance.c) */
    uint64_t steps; /* limit of pads tried; 0: chosen by the search */
    double seconds; /* time limit; 0: none. With one, results depend on the machine */
    /* Called from time to time; may be NULL. precise: share of the weight; stack: relative to its original
     * length. */
    void (*progress)(void *context, uint64_t steps, double precise, double stack);
    void *context;
};

struct search_result {
    uint32_t *pads;         /* by function of the map, then wrap; the caller frees it */
    uint64_t steps;         /* pads tried */
    uint64_t weight;        /* samples if the map has any, else calls */
    uint64_t weight_before; /* equal, unless calls skip the PLT since (clone/past_plt.h) */
    uint64_t precise_before, precise_after;
    uint64_t paths; /* function paths, counted once for each of their heights */
    /* Equal, unless functions have copies since (clone/clone.h), calls skip the PLT, or pads separate nodes of
     * one path. */
    uint64_t paths_before;
    uint64_t paths_precise_before, paths_precise_after;
    uint32_t stack_before, stack_after; /* the greatest height of the map, bytes */
};

/* The number of functions and wraps. */
uint32_t search_mover_count(const struct search_problem *problem);
/* The wrap of the call that leads to the node; PATHMAP_NONE: none. */
uint32_t search_wrap(const struct search_problem *problem, uint32_t node);
struct lineage_movers search_movers(const struct search_problem *problem);

/* The same problem and seed give the same result, unless `seconds` ended the search. The result is recounted from
 * the map, independently of the search's own updates. Errors: -EINVAL: bad numbers in the problem; -EBADMSG: the
 * map is damaged; -EFBIG: its paths hold too many functions; -ENOMEM. */
int search_run(const struct search_problem *problem, struct search_result *result, struct fathom_error *err);
/* Approximately what the search maximises (worth.h), from 0 to 1: the quality of the result. */
double search_value(const struct search_result *result);

#endif
