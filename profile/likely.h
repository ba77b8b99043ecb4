/*
 * likely.h - adds a sample to its most probable path, and its doubts: AMBIGUOUS_LIKELY and AMBIGUOUS_BEST.
 *
 * How far the candidates of a sample agree (agreement.h) is computed once for each set of candidates.
 */
#ifndef FATHOM_PROFILE_LIKELY_H
#define FATHOM_PROFILE_LIKELY_H

#include "profile/profile_data.h"

/* Adds all of the path, or as much as is probable enough. */
int likely_add(struct profile *profile, const struct adding *adding, struct fathom_error *err);
/* A hash of a set of candidates, independent of their order. */
uint64_t likely_key(const struct candidate_path *paths, uint32_t count);
/* Frees a profile's `sets`, a table that is empty before the first sample. NULL is allowed. */
void likely_sets_free(struct table *sets);

#endif
