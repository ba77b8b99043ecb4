/*
 * conflicts.h - which calls of a body should lead to different copies of it: those where paths of one CID join.
 *
 * Paths of an ambiguous CID are followed from the innermost frame outwards, as long as they have the same bodies.
 * If they come into one body from different callers, a copy of it for some of these separates them: immediately
 * if it is the CID's own function, otherwise if the copy's frame gets another size, or its callees get copies in
 * turn.
 */
#ifndef FATHOM_DISAMBIG_CLONE_CONFLICTS_H
#define FATHOM_DISAMBIG_CLONE_CONFLICTS_H

#include "disambig/clone/cloned_map.h"

#define CONFLICT_OTHERS UINT32_MAX /* everything that leads to it and cannot lead to a copy */

/* Two bodies that lead to a body on conflicting paths. */
struct conflicts {
    uint32_t body;
    uint32_t a, b; /* a < b; b may be CONFLICT_OTHERS */
    double worth;  /* of separating them: search/worth.h */
};

struct conflicts_of { /* all borrowed */
    const struct pathmap *map;
    const uint32_t *redirectors; /* redirects.h */
    const struct bodies *bodies;
    const struct cloned_map *cloned;
    const uint32_t *pads;  /* by body, bytes */
    const bool *unshifted; /* by node of the cloned map: its caller's pad does not move it */
    const bool *clonable;  /* by function */
    const bool *growing;   /* by function: its copies can have larger frames */
};

/* By body, a, b, each once; the caller frees them. -EBADMSG: the map is damaged; -ENOMEM. */
int conflicts_find(const struct conflicts_of *of, struct conflicts **out, size_t *count,
                   struct fathom_error *err);

#endif
