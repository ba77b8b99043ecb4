/* candidates.h - finds the calls by which the paths of ambiguous CIDs differ, and which are therefore worth
 * wrapping. */
#ifndef FATHOM_DISAMBIG_WRAP_CANDIDATES_H
#define FATHOM_DISAMBIG_WRAP_CANDIDATES_H

#include "disambig/search/search.h"
#include "disambig/wrap/edges.h"

/* worth: by edge: the worth of the ambiguous CIDs (search/worth.h) that have it more often on some of their paths
 * than on others. pads: of the problem's functions, and of its wraps if it has any. -EBADMSG: the map is damaged;
 * -ENOMEM. */
int candidates_find(const struct search_problem *problem, const uint32_t *pads,
                    const struct wrap_edges *edges, double *worth, struct fathom_error *err);

#endif
