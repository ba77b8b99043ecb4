/*
 * automaton.h - the height automaton: all paths that a (function, height) can stand for, and how probable they are.
 *
 * States are (function, height, what the function called next); a graph edge leads outwards to (caller, height - rise,
 * function). Every call takes at least 8 bytes, so there are no cycles, even in recursive programs, and dynamic programming
 * sums up the probabilities of paths where plain enumeration is exponential. That is done once for all CIDs, from the root
 * inwards (lattice.h). The k most probable paths of a CID are then found best first, as the best path's probability is known
 * for every state (ranking.h). So answers are exact, whatever the number of paths.
 *
 * A path's probability is the product of its edges'. An edge's is its share among the callers of its function given what that
 * called next; if this was seen rarely, it backs off to the share among all of the function's callers. Callers known only from
 * the binary together have the share of callers that were not seen yet: t / (n + t) for a function seen n times from t callers
 * (Witten and Bell, 1991).
 *
 * Calls through pointers, and calls from frames of open size, are followed from a state only if its other callers lead to no
 * path; they do not depend on what was called next. A call that can reach a function in two ways (by its field, and as any
 * function whose address is taken) makes two paths. An open frame can have any size that puts its function at a height at which
 * training saw it; if training never saw the function, up to CALLERS_OPEN sizes in steps of 16 bytes (the ABI's alignment).
 *
 * Memory and work are bounded: CIDs at heights for which they do not suffice, or from LATTICE_HEIGHT on, are given up.
 */
#ifndef FATHOM_INFER_MODEL_AUTOMATON_H
#define FATHOM_INFER_MODEL_AUTOMATON_H

#include "infer/model/graph.h"

#define AUTOMATON_BEST     8u           /* default number of paths per CID */
#define AUTOMATON_BEST_MAX 64u          /* maximum number of paths per CID */
#define AUTOMATON_BYTES    (256u << 20) /* of memory */
#define AUTOMATON_END      UINT32_MAX   /* as a path: there is no step further out */

struct automaton;

struct automaton_cid {
    uint32_t function, height; /* function: of the map */
};

/* 0: the default above. */
struct automaton_options {
    uint32_t best;
    size_t bytes;
    /* that will be asked for; NULL: any may be. Read only by automaton_new() */
    const struct automaton_cid *cids;
    size_t cid_count;
    /* with cids: minimum probability of a path outwards, from the CID on; others need not be found */
    double least;
    struct work *work; /* borrowed; NULL: no limit */
};

struct automaton_step {
    uint32_t function, height;
    uint64_t site; /* the return address of the call to this function, 0 unknown */
    bool open;     /* called from a frame of open size: the heights above it are only likely ones */
};

/* graph is borrowed; options may be NULL. NULL: out of memory. */
struct automaton *automaton_new(const struct graph *graph, const struct automaton_options *options);
void automaton_free(struct automaton *automaton);

struct automaton_answer {
    uint32_t best; /* number of paths in the arrays below, most probable first */
    /* probability that a walk outwards along callers ends at this height */
    double chance;
    double probability[AUTOMATON_BEST_MAX]; /* of each path, among all of them */
    uint32_t path[AUTOMATON_BEST_MAX];      /* its number, for automaton_step() */
};

/* Finds the paths of a CID. 0; -ENOENT: no path leads there; -ENOSPC: its height needs too much memory, or no work is left (if
 * work ends between two paths, those found so far are returned); -ENOMEM. */
int automaton_find(struct automaton *automaton, uint32_t function, uint32_t height,
                   struct automaton_answer *out);
/* Gives the innermost step of a path of the CID that was found last, and the rest of the path (*outer; AUTOMATON_END: none),
 * whose number is the same in all paths that share it. 0 or -ENOMEM. */
int automaton_step(struct automaton *automaton, uint32_t path, struct automaton_step *step, uint32_t *outer);
/* A number for the caller's use, initially 0, that stays with the path until memory is needed for other paths: at most until
 * the next automaton_find(). The pointer is valid until the next call of any function. */
uint32_t *automaton_note(struct automaton *automaton, uint32_t path);
/* Computes heights up to this one, which the first look-up would do otherwise: 0, -ENOSPC, -ENOMEM as above. */
int automaton_prepare(struct automaton *automaton, uint32_t height);
size_t automaton_states(const struct automaton *automaton); /* (function, height) with a path, so far */
size_t automaton_bytes(const struct automaton *automaton);  /* of memory in use, roughly */

#endif
