/*
 * wrap.h - which calls are wrapped, so that paths differ that neither frame sizes nor copies tell apart, and
 * by how much stack each (ICPP paper, section 5.2).
 *
 * A wrapped call moves SP down before it and up behind it, two instructions, by the same number of bytes for
 * all direct calls of one function by another (edges.h). In rounds: calls that differ between paths which are
 * still ambiguous (candidates.h) become candidates, and a search (search/search.h) chooses anew how much
 * frames and these calls take. Wraps have a price there by how often they are executed, so that they are used
 * where frames do not do.
 */
#ifndef FATHOM_DISAMBIG_WRAP_WRAP_H
#define FATHOM_DISAMBIG_WRAP_WRAP_H

#include "disambig/search/search.h"
#include "disambig/wrap/edges.h"

/* The most that a call takes, bytes. With its function's pad, which is at most as large where calls are
 * wrapped, no more than GROWTH_MOST. */
#define WRAP_MOST 2032u

struct wrap_problem { /* all borrowed */
    struct wrap_edges_of of;
    const struct search_problem *search; /* of of.map, without wraps; `costly` is by function of of.of->map */
    const struct search_result *found;   /* what that made; for its copies if there are any */
    uint32_t largest;                    /* the largest pad, bytes */
};

struct wrap_result {
    /* Pads of functions, then wraps; what it says of before is what `found` said. */
    struct search_result found;
    uint32_t *wraps;   /* by node of of.map: search/search.h */
    struct wrap *list; /* all calls that are wrapped, by address, copy, site */
    size_t count;
    uint32_t edges;                  /* that they are */
    uint64_t calls, all_calls;       /* of the map: wrapped, and all */
    uint32_t possible;               /* call sites of the map that can be wrapped, */
    uint32_t refused[WRAP_REFUSALS]; /* and those that cannot */
};

/* With no call wrapped, found.pads is NULL: what was found before is as good. Errors as of search_run() and enlarge_movable(). */
int wrap_run(const struct wrap_problem *problem, struct wrap_result *out, struct fathom_error *err);
void wrap_clear(struct wrap_result *result); /* zeros are allowed */

#endif
