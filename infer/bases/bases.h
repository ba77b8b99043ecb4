/*
 * bases.h - finds stack bases that the recording does not tell, by voting (DESIGN section 4): the base that
 * puts most samples of the thread on CIDs of the map.
 */
#ifndef FATHOM_INFER_BASES_BASES_H
#define FATHOM_INFER_BASES_BASES_H

#include "infer/contexts/resolver.h"

struct bases;

struct bases *bases_new(struct resolver *resolver); /* borrowed */
void bases_free(struct bases *bases);
#define BASES_QUORUM     8     /* votes that a base needs at least */
#define BASES_CANDIDATES 65536 /* bases that are counted per thread */

/* Notes one sample of a thread whose base is unknown: one vote for every base at which its CID would be
 * known. Bounded: 4096 heights per function (the likeliest), BASES_CANDIDATES bases per thread, of
 * which the rarest go when it is full (so a winner may be denied by that, never made). Returns 1 when it
 * voted, 0 when its CFA or its function told nothing, negative when out of memory. */
int bases_vote(struct bases *bases, const struct process *process, const struct sample *sample,
               struct fathom_error *err);
/* The winner for a thread, for process_set_stack(): *low is the lowest SP of a sample that voted for it.
 * false when no base has BASES_QUORUM votes and those of half of the samples that voted, or when another is
 * nearly as likely by the training counts: no base is better than a wrong one. A program that is one
 * recursion only often has none. */
bool bases_winner(const struct bases *bases, uint32_t pid, uint32_t tid, uint64_t *low, uint64_t *base);

#endif
