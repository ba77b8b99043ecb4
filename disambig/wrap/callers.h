/* callers.h - determines which functions can be emitted anew with their calls wrapped. */
#ifndef FATHOM_DISAMBIG_WRAP_CALLERS_H
#define FATHOM_DISAMBIG_WRAP_CALLERS_H

#include "disambig/wrap/edges.h"

/* Fills callers, by function of the map. most: by function of the map, the largest pad that its frame may get at
 * the same time. Errors as of enlarge_movable(). */
int callers_find(const struct wrap_edges_of *of, const struct wrap_edges *edges, const uint32_t *most,
                 bool *callers, struct fathom_error *err);

#endif
