/*
 * shares.h - an ambiguous sample's weight divided over the paths that it may be on, in whole events.
 *
 * Each path gets its share by probability, rounded by largest remainder so that the parts sum up to the
 * sample's weight. What rounding took from or gave to a path is made up for by the next sample of the same
 * CID, so that a path's sum over any number of samples is less than one event from what is due to it.
 */
#ifndef FATHOM_PROFILE_SHARES_H
#define FATHOM_PROFILE_SHARES_H

#include "infer/contexts/resolver.h"

struct shares;

/* nodes: of the map. NULL: out of memory. */
struct shares *shares_new(uint32_t nodes);
void shares_free(struct shares *shares);
/* parts[0 .. count) for the paths of one sample, 1 to CANDIDATES_MAX of them. */
void shares_divide(struct shares *shares, const struct candidate_path *paths, uint32_t count, uint64_t weight,
                   uint64_t *parts);

#endif
