/*
 * map_votes.h - finds stack bases that are not in the recording by voting: the base that puts most samples of the thread on
 * CIDs of the map wins.
 */
#ifndef FATHOM_INFER_BASES_MAP_VOTES_H
#define FATHOM_INFER_BASES_MAP_VOTES_H

#include "infer/contexts/resolver.h"

struct map_votes;

struct map_votes *map_votes_new(struct resolver *resolver); /* borrowed */
void map_votes_free(struct map_votes *votes);
#define MAP_VOTES_QUORUM     8     /* minimum number of votes for a base */
#define MAP_VOTES_CANDIDATES 65536 /* bases counted per thread */

/* Notes one sample of a thread whose base is unknown: one vote for every base at which its CID would be known. Bounded: 4096
 * heights per function (the most probable), and MAP_VOTES_CANDIDATES bases per thread, of which the rarest are dropped when
 * full (this may prevent a winner, but never make one). Returns 1 if it voted, 0 if its CFA or function did not allow a vote,
 * negative if out of memory. */
int map_votes_vote(struct map_votes *votes, const struct sample *sample, const struct leaf_frame *frame,
                   struct fathom_error *err);
/* The winner for a thread, for process_set_stack(). *low is the lowest SP of the samples that voted for it. Returns false if no
 * base has MAP_VOTES_QUORUM votes and those of half of the samples that voted, or if another is nearly as probable by the
 * training counts: no base is better than a wrong one. A program that is a single recursion often has no winner. */
bool map_votes_winner(const struct map_votes *votes, uint32_t pid, uint32_t tid, uint64_t *low,
                      uint64_t *base);

#endif
