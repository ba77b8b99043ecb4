/*
 * ambiguity.h - which CIDs of a map are ambiguous, by weight; what tells their paths apart; how much could be mended.
 *
 * A CID (function and height) is precise if all of its nodes have the same function path. Weight is samples if the map has
 * any, else calls. A path counts once for each height that its function has on it.
 *
 * Three ceilings (ICPP paper, sections 5.1 to 5.3): the share that is precise if a method changed the program without any
 * limit to the sizes of frames. Each is a bound: it may take more stack than there is, and other paths may be trained later.
 *
 *   resize  frames of functions grow. Paths of one CID with the same functions among the proper ancestors of the innermost
 *           one, each as often, grow alike: nothing parts them. `most` tells which functions can grow at all, if that is
 *           known.
 *   wrap    calls take more stack, each call site by itself (and so resizing is no more than a special case). Paths of one CID
 *           with the same calls (caller, call site, callee), each as often, grow alike.
 *   clone   calls are given copies of functions, whose frames and calls are changed by themselves. A copy knows what called
 *           it, as long as each call from there on is one whose site is known: through a pointer, with a guard (move/move.h).
 *           Paths of one CID stay alike only if they have the same calls at known sites in the same order, and the same functions.
 */
#ifndef FATHOM_DISAMBIG_AMBIGUITY_AMBIGUITY_H
#define FATHOM_DISAMBIG_AMBIGUITY_AMBIGUITY_H

#include "pathmap/map/pathmap.h"

/* From the least invasive on. */
enum ambiguity_method { AMBIGUITY_RESIZE, AMBIGUITY_WRAP, AMBIGUITY_CLONE, AMBIGUITY_METHODS };

struct ambiguity_share {
    uint64_t weight, paths;
};

struct ambiguous_cid {
    uint32_t function, height; /* height: bytes */
    uint32_t first, count;     /* its nodes in the map */
    uint32_t paths;            /* at least 2 */
    uint64_t weight;
    /* The first method whose ceiling has all of its paths; AMBIGUITY_METHODS: none. */
    enum ambiguity_method method;
};

struct ambiguity {
    bool sampled; /* weight is samples, not calls */
    struct ambiguity_share all, precise;
    struct ambiguity_share ceilings[AMBIGUITY_METHODS];
    uint64_t cid_count, precise_cids;
    struct ambiguous_cid *cids; /* the ambiguous ones, heaviest first, then by function and height */
    uint32_t count;
};

/* most: by function: 0: its frame cannot grow, search.h; NULL: all can. unshifted: by node: its parent's pad does not move
 * it; NULL: no such node. -EBADMSG: the map is damaged; -ENOMEM. */
int ambiguity_measure(const struct pathmap *map, const uint32_t *most, const bool *unshifted,
                      struct ambiguity *out, struct fathom_error *err);
void ambiguity_clear(struct ambiguity *ambiguity);

struct ambiguity_function {
    uint32_t function;
    uint32_t least, greatest; /* how often it is among the proper ancestors, of all of the CID's paths */
};
/* The functions that are not on all paths of a CID equally often, those that differ most first, then by number: malloc'ed,
 * the caller frees them. None: the paths differ in their order alone. */
int ambiguity_functions(const struct pathmap *map, const struct ambiguous_cid *cid,
                        struct ambiguity_function **out, uint32_t *count, struct fathom_error *err);

#endif
