/*
 * profile.h - adds up resolved samples to a calling-context tree: exact, or in bounded memory (HCCT).
 */
#ifndef FATHOM_PROFILE_PROFILE_H
#define FATHOM_PROFILE_PROFILE_H

#include "hcct/hcct.h"
#include "infer/contexts/certainty.h"
#include "profile/contexts.h"
#include "profile/filter.h"
#include "profile/framing.h"
#include "profile/process_shares.h"

struct profile;

/* How to assign the weight of a sample with several possible paths. */
enum profile_ambiguity {
    /* to the most probable one, from the root as far as its probability is at least a half, then to "[one of 3 paths]"
     * (agreement.h) */
    AMBIGUOUS_LIKELY,
    AMBIGUOUS_BEST,   /* to the most probable one */
    AMBIGUOUS_SPLIT,  /* to each one its share (shares.h) */
    AMBIGUOUS_COMMON, /* to a path of their common functions, with "{3 paths}" between (common.h) */
};

struct profile_options {
    struct metrics metrics; /* to sum up; copied */
    enum profile_ambiguity ambiguity;
    /* samples whose most probable path is less probable are unknown: UNKNOWN_UNSURE */
    double min_confidence;
    double eps;             /* more than 0: bounded memory, weights are within eps of the total */
    enum hcct_kind counter; /* for bounded memory; HCCT_EXACT: the default one, Lazy Space Saving */
    double phi;             /* for HCCT_STICKY: the least that will be asked for */
    struct framing_options framing;
    bool samples; /* store each sample's place (56 bytes, and 8 per metric); not in bounded memory */
    /* how many who ended waits, each waking the next, follow the path of each wait; 0: none. At most WAKERS_MOST */
    uint32_t wakers;
    struct filter *filter; /* which samples count; NULL: all. Borrowed */
};

/* Totals of the samples; all except for numbers of samples are in the unit of the weight. */
struct profile_counts {
    uint64_t samples, weight;
    uint64_t left_out; /* excluded by the filter, and in no other total */
    uint64_t by_certainty[CERTAINTIES];
    uint64_t by_kind[RESOLVED_KINDS];
    uint64_t by_source[SOURCES]; /* of all except the unknown */
    uint64_t partial;            /* of these: the outer part of their path could not be read */
    uint64_t refused;            /* stacks that the recorder did not know, and did not read */
    /* precise samples, whose function may have returned before the stack was read */
    uint64_t returned;
    uint64_t unknown_by_reason[UNKNOWN_REASONS];
    double expected; /* weight expected on the most probable paths, by their probabilities */
    double expected_least, expected_most; /* its bounds of 95%, as far as known (calibration.h) */
};

/* images is borrowed; options are copied. NULL: out of memory. */
struct profile *profile_new(const struct profile_options *options, struct image_cache *images);
void profile_free(struct profile *profile);
/* Adds one sample. map: the one that `resolved` refers to; always the same for a profile. */
int profile_add(struct profile *profile, const struct pathmap *map, const struct process *process,
                const struct sample *sample, const struct resolved *resolved, struct fathom_error *err);
/* Whether the last sample added counts: the filter did not exclude all of its paths. */
bool profile_counted(const struct profile *profile);
/* framing_lacks_cgroups() */
bool profile_lacks_cgroups(const struct profile *profile);
/* framing_kernel_named() */
enum kernel_named profile_kernel_named(const struct profile *profile);
void profile_counts(const struct profile *profile, struct profile_counts *out);
/* The same weight by name of the process; borrowed. */
const struct process_shares *profile_processes(const struct profile *profile);
/* The contexts, valid until another function is called. Exact: phi is ignored. Bounded: the (phi, eps)-HCCT. 0, -ENOMEM, or
 * -ERANGE: HCCT_PURGE only, if its bound is not below phi. */
int profile_contexts(struct profile *profile, double phi, struct contexts *out);

#endif
