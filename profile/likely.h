/*
 * likely.h - adds a sample to its most probable path, and how sure that is: AMBIGUOUS_LIKELY and AMBIGUOUS_BEST.
 *
 * What the candidates of a sample agree in (agreement.h) is found once for each set of candidates.
 */
#ifndef FATHOM_PROFILE_LIKELY_H
#define FATHOM_PROFILE_LIKELY_H

#include "profile/profile_data.h"

/* All of the path, or as far as it is sure enough. */
int likely_add(struct profile *profile, const struct adding *adding, struct fathom_error *err);
/* A hash of a set of candidates, independent of their order. */
uint64_t likely_key(const struct candidate_path *paths, uint32_t count);
/* Of a profile, which has an empty table before the first sample. NULL is allowed. */
void likely_sets_free(struct table *sets);

#endif
