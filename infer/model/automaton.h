/*
 * automaton.h - the height automaton: all paths that a (function, height) can stand for, and which are
 * likely.
 *
 * States are (function, height, what the function called next); a graph edge leads outwards to (caller,
 * height - rise, function). Every call takes at least 8 bytes, so there are no cycles, even in recursive
 * programs, and dynamic programming sums up the probabilities of paths where plain enumeration
 * is exponential. That is done once for all CIDs, from the root inwards (lattice.h); the k most probable paths of
 * a CID are then found best first, as it is known of every state how good its best path is (ranking.h). So answers are
 * exact, whatever the number of paths.
 *
 * A path's probability is the product of its edges', each the share among the callers of its function given
 * what that called next, backed by the share among all its callers where that was seen rarely. Callers that
 * only the binary shows have, together, the share that a function seen n times from t callers has for callers
 * that were not seen yet: t / (n + t) (Witten and Bell, 1991).
 *
 * Calls through pointers and calls from frames of open size are followed from a state only where its other
 * callers lead to no path; which caller of the caller is likely then is not asked. A call that can lead to a
 * function in two ways (by its field, and as any function whose address is taken) makes two paths. An open
 * frame can have any size that leaves its function at a height at which training saw it; where it saw none,
 * any up to CALLERS_OPEN steps of 16 bytes (the ABI's alignment).
 *
 * Memory is bounded, and so is work: CIDs at heights for which they are not enough, or from LATTICE_HEIGHT on, are given up.
 */
#ifndef FATHOM_INFER_MODEL_AUTOMATON_H
#define FATHOM_INFER_MODEL_AUTOMATON_H

#include "infer/model/graph.h"

#define AUTOMATON_BEST     8u           /* paths found for each CID, unless asked otherwise */
#define AUTOMATON_BEST_MAX 64u          /* and the most that can be asked for */
#define AUTOMATON_BYTES    (256u << 20) /* of memory */
#define AUTOMATON_END      UINT32_MAX   /* as a path: no step is further out */

struct automaton;

struct automaton_cid {
    uint32_t function, height; /* function: of the map */
};

/* 0: the default above. */
struct automaton_options {
    uint32_t best;
    size_t bytes;
    const struct automaton_cid *cids; /* those that will be asked for; NULL: any. Not kept */
    size_t cid_count;
    double
        least; /* with cids: paths outwards that are less probable than this, from the CID on, need not be found */
    struct work *work; /* borrowed; NULL: no limit */
};

struct automaton_step {
    uint32_t function, height;
    uint64_t site; /* the return address of the call to this function, 0 unknown */
    bool open;     /* called from a frame of open size: the heights above it are likely ones */
};

/* graph is borrowed; options may be NULL. NULL: out of memory. */
struct automaton *automaton_new(const struct graph *graph, const struct automaton_options *options);
void automaton_free(struct automaton *automaton);

struct automaton_answer {
    uint32_t best;                          /* how many of them are told; the most probable first */
    double chance;                          /* that a walk outwards along callers comes out at this height */
    double probability[AUTOMATON_BEST_MAX]; /* of each among all */
    uint32_t path[AUTOMATON_BEST_MAX];      /* its number, for automaton_step() */
};

/* All about one CID. 0; -ENOENT: no path leads there; -ENOSPC: it stands too high for the memory, or there is no work
 * left (where it ends between two paths, those found so far are told); -ENOMEM. */
int automaton_find(struct automaton *automaton, uint32_t function, uint32_t height,
                   struct automaton_answer *out);
/* The innermost step of a path of the CID that was found last, and the rest of the path (*outer, AUTOMATON_END: there is
 * none), which has the same number in all paths that have it. 0 or -ENOMEM. */
int automaton_step(struct automaton *automaton, uint32_t path, struct automaton_step *step, uint32_t *outer);
/* A number for the caller's use, 0 at first, that stays with the path until memory is needed for others: until the next
 * automaton_find() at most. The pointer is good until the next call of any function. */
uint32_t *automaton_note(struct automaton *automaton, uint32_t path);
/* Makes heights up to this one known, which the first look-up would do else: 0, -ENOSPC, -ENOMEM as above. */
int automaton_prepare(struct automaton *automaton, uint32_t height);
size_t automaton_states(const struct automaton *automaton); /* (function, height) with a path, so far */
size_t automaton_bytes(const struct automaton *automaton);  /* of memory in use, roughly */

#endif
