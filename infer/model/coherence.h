/*
 * coherence.h - how a thread gets from one calling context to the next: the model that tells ambiguous
 * samples apart by what stands around them in time.
 *
 * States are the resolver's candidates: a function path at a height, with the samples of this recording that
 * are expected in it. How long the contexts around them last, and so what the thread can go on to, is
 * renewal.h's matter.
 *
 * That is learned from the frames that all likely states of a pair's first sample have, and of which all
 * likely ones of the second that have those around it tell the same. (Pairs weighed by what the model itself
 * says of them would confirm it: one sure sample among many ambiguous ones draws them all. Pairs weighed by
 * the shares of the states, as if the first sample told nothing, would make frames of sure samples leave too
 * soon.)
 *
 * The states' samples are shares of expected counts, so one round of expectation-maximisation is: count each
 * ambiguous sample's states by their probabilities (trellis.h), coherence_update().
 */
#ifndef FATHOM_INFER_MODEL_COHERENCE_H
#define FATHOM_INFER_MODEL_COHERENCE_H

#include "infer/contexts/resolver.h"
#include "infer/model/renewal.h"

struct coherence;

/* One moment of a thread: what it can stand for. One state: it is sure. */
struct column {
    uint64_t time;         /* ns that the thread ran */
    uint32_t first, count; /* states: 1 .. CANDIDATES_MAX of them */
};

/* resolver is borrowed. NULL: out of memory. */
struct coherence *coherence_new(struct resolver *resolver);
void coherence_free(struct coherence *model);

/* Takes an answer's candidates as states, unless it did: this many samples are shared out among them as the
 * resolver ranks them. 0 or -ENOMEM. */
int coherence_count(struct coherence *model, uint32_t answer, double samples);
/* Of an answer's candidates, so many of the most probable are what a moment can stand for: all but for coherence_set_most(). */
void coherence_set_most(struct coherence *model, uint32_t most);
uint32_t coherence_most(const struct coherence *model);
/* The usual time between two samples of a thread, ns; 0: all pairs count as that far apart. */
void coherence_set_gap(struct coherence *model, uint64_t ns);
/* How many usual gaps lie between two times, within limits. */
double coherence_gaps(const struct coherence *model, uint64_t from, uint64_t to);

/* P(to | from), at a level of renewal_level(); both are states that were met. */
double coherence_step(struct coherence *model, uint32_t from, uint32_t to, uint32_t level);
/* Another number as soon as coherence_step() may tell otherwise for states that were met before. */
uint32_t coherence_version(const struct coherence *model);
/* The share of all samples that a state has. */
double coherence_share(const struct coherence *model, uint32_t state);

/* Counts what two moments of a thread, one after the other, tell of stay. */
void coherence_count_pair(struct coherence *model, const struct column *from, const struct column *to);
/* How much longer contexts last than the pairs tell (renewal.h). */
void coherence_set_strength(struct coherence *model, double strength);
/* Counts a sample's state by its probability. */
void coherence_count_state(struct coherence *model, uint32_t state, double weight);
/* The states counted so far are sure: coherence_update() keeps them for the rounds that follow. */
void coherence_keep_counts(struct coherence *model);
/* The counts become the model; those of states are cleared but for what is kept. Returns the share of all
 * weight that moved between states. 0 <= it <= 1. */
double coherence_update(struct coherence *model);

#endif
