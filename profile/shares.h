/*
 * shares.h - divides an ambiguous sample's weight among its possible paths, in whole events.
 *
 * Each path gets its share by probability, rounded by largest remainder so that the parts add up to the
 * sample's weight. Rounding errors carry over to the next sample of the same CID, so that a path's sum over
 * any number of samples is within one event of its exact share.
 */
#ifndef FATHOM_PROFILE_SHARES_H
#define FATHOM_PROFILE_SHARES_H

#include "infer/contexts/resolver.h"

/* parts[0 .. count) for the paths of one sample, 1 to CANDIDATES_MAX of them. owed: by node of the map, at first 0: events that rounding has
 * withheld from it so far; -1 to 1. */
void shares_divide(double *owed, const struct candidate_path *paths, uint32_t count, uint64_t weight,
                   uint64_t *parts);

#endif
