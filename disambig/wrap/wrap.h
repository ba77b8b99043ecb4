/*
 * wrap.h - chooses calls to wrap, so that paths differ which neither frame sizes nor copies separate, and the
 * additional stack of each (ICPP paper, section 5.2).
 *
 * A wrapped call is enclosed in two instructions that lower and raise SP, by the same number of bytes for all
 * direct calls of one function by another (edges.h). In rounds: calls by which paths differ that are still
 * ambiguous (candidates.h) become candidates, and a search (search/search.h) chooses the pads of frames and of
 * these calls anew. There wraps have a price by how often they are executed, so that they are used only where
 * frames do not suffice.
 */
#ifndef FATHOM_DISAMBIG_WRAP_WRAP_H
#define FATHOM_DISAMBIG_WRAP_WRAP_H

#include "disambig/search/search.h"
#include "disambig/wrap/edges.h"

/* The largest pad of a call, bytes. Together with its function's pad, which has the same limit where calls are
 * wrapped, at most GROWTH_MOST. */
#define WRAP_MOST 2032u

struct wrap_problem { /* all borrowed */
    struct wrap_edges_of of;
    const struct search_problem *search; /* for of.map, without wraps; `costly`: by function of of.of->map */
    const struct search_result *found;   /* its result; with copies, for the cloned map */
    uint32_t largest;                    /* the largest pad, bytes */
};

struct wrap_result {
    /* Pads of functions, then wraps; its values of before are those of `found`. */
    struct search_result found;
    uint32_t *wraps;   /* by node of of.map: search/search.h */
    struct wrap *list; /* all wrapped calls, by address, copy, site */
    size_t count;
    uint32_t edges;                  /* number of edges that these are */
    uint64_t calls, all_calls;       /* of the map: wrapped, and all */
    uint32_t possible;               /* call sites in the map that can be wrapped, */
    uint32_t refused[WRAP_REFUSALS]; /* and those that cannot, by reason */
};

/* If no call is wrapped, found.pads is NULL: the earlier result is as good. Errors as of search_run() and
 * enlarge_movable(). */
int wrap_run(const struct wrap_problem *problem, struct wrap_result *out, struct fathom_error *err);
void wrap_clear(struct wrap_result *result); /* zeros are allowed */

#endif
