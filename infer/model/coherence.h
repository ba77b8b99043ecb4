/*
 * coherence.h - how a thread gets from one calling context to the next: the model that resolves ambiguous samples by those
 * before and after them.
 *
 * States are the resolver's candidates: a function path at a height, with the number of this recording's samples expected in
 * it. renewal.h models how long the contexts around a state last, and thus where the thread can go next.
 *
 * That is learned from pairs of samples, but only from frames that all likely states of the first sample have, and for which
 * all likely states of the second agree. (Pairs weighted by what the model itself says about them would confirm it: one sure
 * sample among many ambiguous ones would attract them all. Pairs weighted by the states' shares, as if the first sample said
 * nothing, would make the frames of sure samples end too soon.)
 *
 * The states' samples are expected counts, so one round of expectation-maximisation is: count each ambiguous sample's states by
 * their probabilities (trellis.h), then coherence_update().
 */
#ifndef FATHOM_INFER_MODEL_COHERENCE_H
#define FATHOM_INFER_MODEL_COHERENCE_H

#include "infer/contexts/resolver.h"
#include "infer/model/renewal.h"

struct coherence;

/* One moment of a thread: the states that it can be in. With a single state it is sure. */
struct column {
    uint64_t time;         /* ns of the thread's run time */
    uint32_t first, count; /* states: 1 to CANDIDATES_MAX */
};

/* resolver is borrowed. NULL: out of memory. */
struct coherence *coherence_new(struct resolver *resolver);
void coherence_free(struct coherence *model);

/* Makes an answer's candidates states, unless they are, and distributes this many samples among them as the resolver ranks
 * them. 0 or -ENOMEM. */
int coherence_count(struct coherence *model, uint32_t answer, double samples);
/* Limits each moment's states to the most probable candidates of its answer; without a call there is no limit. */
void coherence_set_most(struct coherence *model, uint32_t most);
uint32_t coherence_most(const struct coherence *model);
/* The usual time between two samples of a thread, ns; 0: all pairs count as that far apart. */
void coherence_set_gap(struct coherence *model, uint64_t ns);
/* How many usual gaps are between two times, within limits. */
double coherence_gaps(const struct coherence *model, uint64_t from, uint64_t to);

/* P(to | from), at a level of renewal_level(); both states occurred before. */
double coherence_step(struct coherence *model, uint32_t from, uint32_t to, uint32_t level);
/* The share of all samples that a state has. */
double coherence_share(const struct coherence *model, uint32_t state);

/* Learns how long contexts last from two consecutive moments of a thread. */
void coherence_count_pair(struct coherence *model, const struct column *from, const struct column *to);
/* How much longer contexts last than the pairs show (renewal.h). */
void coherence_set_strength(struct coherence *model, double strength);
/* Counts a sample's state by its probability. */
void coherence_count_state(struct coherence *model, uint32_t state, double weight);
/* Makes the counts the model, and clears those of states. Returns the share of all weight that moved between states: 0 to 1. */
double coherence_update(struct coherence *model);

#endif
