/* candidates.h - by which calls the paths of ambiguous CIDs differ: those that are worth to be wrapped. */
#ifndef FATHOM_DISAMBIG_WRAP_CANDIDATES_H
#define FATHOM_DISAMBIG_WRAP_CANDIDATES_H

#include "disambig/search/search.h"
#include "disambig/wrap/edges.h"

/* worth: by edge: what the ambiguous CIDs are worth (search/worth.h) of whose paths it is on some more
 * often than on others. pads: of the problem's functions, and of its wraps if it has any. -EBADMSG: the
 * map is damaged; -ENOMEM. */
int candidates_find(const struct search_problem *problem, const uint32_t *pads,
                    const struct wrap_edges *edges, double *worth, struct fathom_error *err);

#endif
