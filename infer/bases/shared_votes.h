/*
 * shared_votes.h - finds, by voting, the bases of stacks that belong to no thread and were not found by unwinding (internal to
 * infer/).
 *
 * Few functions run on such a stack. One function at one position, however often it was sampled, fits any base at which its
 * height is in the map: that proves nothing. So what counts are positions: distinct functions at distinct CFAs. A base wins if
 * at least three positions, of at least two functions, have heights below it that are in the map; if they have at least half of
 * the samples on the resulting stack; and if no other base explains more than three quarters of them, nor all but one. A base
 * also explains a position that training did not see below it if that may be chance: a function seen once below one base, such
 * as a clock that everything calls, may as well be called below the others. Only heights of paths that begin on such a stack
 * (at height 0) are used, not those of paths on threads' own stacks.
 */
#ifndef FATHOM_INFER_BASES_SHARED_VOTES_H
#define FATHOM_INFER_BASES_SHARED_VOTES_H

#include "infer/bases/shared_stacks.h"
#include "infer/contexts/resolver.h"

#define SHARED_QUORUM    3          /* minimum number of positions for a base */
#define SHARED_POSITIONS (1u << 18) /* positions stored; later ones do not vote */

struct shared_votes;

/* Both are borrowed. NULL: out of memory. */
struct shared_votes *shared_votes_new(struct resolver *resolver, struct image_cache *images);
void shared_votes_free(struct shared_votes *votes);
/* Notes a sample that is on no thread's own stack. 0 or negative. */
int shared_votes_add(struct shared_votes *votes, const struct sample *sample, const struct leaf_frame *frame,
                     struct fathom_error *err);
/* Counts the votes: known stacks grow down to nearby samples, and the winners are added. *won: the number of winners. 0 or
 * -ENOMEM. */
int shared_votes_settle(struct shared_votes *votes, struct shared_stacks *stacks, uint64_t *won);

#endif
