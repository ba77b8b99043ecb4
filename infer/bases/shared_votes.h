/*
 * shared_votes.h - finds the bases of stacks that belong to no thread and that no unwound stack told of, by
 * voting (internal to infer/).
 *
 * Such a stack often runs few functions. One of them in one place, however often it was sampled, fits any
 * base at which the map knows its height: it says nothing. So what counts are spots: distinct functions at
 * distinct places. A base wins when three of them or more, of two functions or more, have heights below it
 * that the map knows; when they have at least half of the samples that lie on the stack that it makes; and
 * when no other base explains more than three quarters of them, nor all of them but one. A base explains a
 * spot that training did not see below it, too, when that can be chance: a function that was seen once below
 * one base, say the clock that all ask, may as well be called below the others. Heights are those of
 * paths that begin on such a stack (at height 0): paths of threads of their own say nothing here.
 */
#ifndef FATHOM_INFER_BASES_SHARED_VOTES_H
#define FATHOM_INFER_BASES_SHARED_VOTES_H

#include "infer/contexts/resolver.h"
#include "infer/bases/shared_stacks.h"

#define SHARED_QUORUM 3          /* spots that a base needs at least */
#define SHARED_SPOTS  (1u << 18) /* are kept; what comes after that does not vote */

struct shared_votes;

/* Both are borrowed. NULL: out of memory. */
struct shared_votes *shared_votes_new(struct resolver *resolver, struct image_cache *images);
void shared_votes_free(struct shared_votes *votes);
/* A sample that is on no thread's own stack. 0 or negative. */
int shared_votes_add(struct shared_votes *votes, const struct process *process, const struct sample *sample,
                     struct fathom_error *err);
/* Counts: the stacks that are known grow down to samples near to them, and winners are added, as many as *won
 * tells. 0 or -ENOMEM. */
int shared_votes_settle(struct shared_votes *votes, struct shared_stacks *stacks, uint64_t *won);

#endif
