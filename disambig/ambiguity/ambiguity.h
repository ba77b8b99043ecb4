/*
 * ambiguity.h - which CIDs of a map are ambiguous, by weight; how their paths differ; how much could become
 * precise.
 *
 * A CID (function and height) is precise if all of its nodes have the same function path. Weight is samples if
 * the map has any, else calls. A path counts once for each height at which it occurs.
 *
 * Three ceilings (ICPP paper, sections 5.1 to 5.3): the precise share if a method changed the program without any
 * limit to the sizes of frames. Each is an upper bound: it may take more stack than there is, and further paths
 * may be trained later.
 *
 *    resize  frames of functions grow. Paths of one CID with the same functions among the proper ancestors of the innermost
 *            one, each as often, grow alike and stay ambiguous. `most` says which functions can grow at all, if that is known.
 *    wrap    calls take more stack, each call site on its own (so resizing is a special case). Paths of one CID with the same
 *            calls (caller, call site, callee), each as often, grow alike.
 *    clone   calls are given copies of functions, whose frames and calls are changed separately. A copy knows its caller, as
 *            long as each call from there on has a known site: through a pointer, with a guard (move/move.h). Paths of one CID
 *            stay alike only if they have the same calls at known sites in the same order, and the same functions.
 */
#ifndef FATHOM_DISAMBIG_AMBIGUITY_AMBIGUITY_H
#define FATHOM_DISAMBIG_AMBIGUITY_AMBIGUITY_H

#include "pathmap/map/pathmap.h"

/* Least invasive first. */
enum ambiguity_method { AMBIGUITY_RESIZE, AMBIGUITY_WRAP, AMBIGUITY_CLONE, AMBIGUITY_METHODS };

struct ambiguity_share {
    uint64_t weight, paths;
};

struct ambiguous_cid {
    uint32_t function, height; /* height: bytes */
    uint32_t first, count;     /* its nodes in the map */
    uint32_t paths;            /* at least 2 */
    uint64_t weight;
    /* The first method whose ceiling separates all of its paths; AMBIGUITY_METHODS: none. */
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

/* most: by function: 0: its frame cannot grow, search.h; NULL: all can. unshifted: by node: its parent's pad does
 * not move it; NULL: all are moved. -EBADMSG: the map is damaged; -ENOMEM. */
int ambiguity_measure(const struct pathmap *map, const uint32_t *most, const bool *unshifted,
                      struct ambiguity *out, struct fathom_error *err);
void ambiguity_clear(struct ambiguity *ambiguity);

struct ambiguity_function {
    uint32_t function;
    uint32_t least, greatest; /* times among proper ancestors, over all of the CID's paths */
};
/* The functions that are not equally often on all paths of a CID, those that differ most first, then by number:
 * malloc'ed, the caller frees them. None: the paths only differ in their order. */
int ambiguity_functions(const struct pathmap *map, const struct ambiguous_cid *cid,
                        struct ambiguity_function **out, uint32_t *count, struct fathom_error *err);

#endif
