/*
 * sampling.h - which intervals are profiled while a program runs: some of each phase (phase-aware remote profiling, section
 * 5.3), or for comparison some of all intervals, whatever their phase is. One in `share` is; the policies differ in which one.
 *
 * During the run it is unknown how often a phase will come. So its first profile is taken early, and the second one in its
 * second `share` intervals. The first interval of a phase cannot be chosen, as only a phase seen before can be predicted.
 */
#ifndef FATHOM_PHASES_SAMPLING_H
#define FATHOM_PHASES_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

enum phase_sampling_policy {
    PHASE_SAMPLING_THIRD,  /* the third interval of a phase, then the first of each further `share` */
    PHASE_SAMPLING_SECOND, /* the same from its second one on */
    PHASE_SAMPLING_RANDOM, /* at random: one of the second to the fourth, then one of each further `share` */
    PHASE_SAMPLING_PERIODIC, /* every `share`th interval, whatever its phase */
    PHASE_SAMPLING_CHANCE,   /* one at random of each `share` intervals, whatever their phase */
};

struct phase_sampling {
    enum phase_sampling_policy policy;
    uint32_t share; /* at least 1 */
    uint64_t seed;  /* for random choices */
};

/* Counts for one phase, or for all intervals. */
struct phase_tally {
    uint32_t intervals, profiled; /* numbers so far */
    double weight, profiled_weight;
};

/* Whether intervals are chosen by their phases. If not, all are treated as phase 1. */
bool phase_sampling_by_phase(const struct phase_sampling *sampling);
/* Whether the next interval of a phase should be profiled. */
bool phase_sampling_wants(const struct phase_sampling *sampling, uint32_t phase,
                          const struct phase_tally *tally);

#endif
