/*
 * bases.h - finds stack bases that the recording does not tell, by voting (DESIGN section 4): the base that
 * puts most samples of the thread on CIDs of the map.
 */
#ifndef FATHOM_INFER_BASES_H
#define FATHOM_INFER_BASES_H

#include "infer/resolver.h"

struct bases;

struct bases *bases_new(struct resolver *resolver); /* borrowed */
void bases_free(struct bases *bases);
/* Notes one sample of a thread whose base is unknown: a vote for every base at which its CID would be known.
 */
int bases_vote(struct bases *bases, const struct process *process, const struct sample *sample,
               struct fathom_error *err);
/* The winner for a thread: false when no base has at least `quorum` votes and half of the thread's samples.
 */
bool bases_winner(const struct bases *bases, uint32_t pid, uint32_t tid, uint64_t *low, uint64_t *base);

#endif
