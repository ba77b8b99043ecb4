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
    AMBIGUOUS_LIKELY, /* to the most probable, from the root as far as it is at least half sure, then to "[one
                         of 3 paths]" (agreement.h) */
    AMBIGUOUS_BEST,   /* to the most probable */
    AMBIGUOUS_SPLIT,  /* to each its share (shares.h) */
    AMBIGUOUS_COMMON, /* to a path of their common functions, with "{3 paths}" between (common.h) */
};

struct profile_options {
    struct metrics metrics; /* what is added up; copied */
    enum profile_ambiguity ambiguity;
    double min_confidence;  /* samples whose most probable path is less so are unknown: UNKNOWN_UNSURE */
    double eps;             /* > 0: bounded memory, weights within eps of the total */
    enum hcct_kind counter; /* then; HCCT_EXACT: the default one, Lazy Space Saving */
    double phi;             /* of HCCT_STICKY: the least that will be asked for */
    struct framing_options framing;
    bool samples; /* keep each sample's place (56 bytes, and 8 for each metric); not in bounded memory */
    uint32_t
        wakers; /* so many who ended waits, one after the other, behind the path of each; 0: none. Up to WAKERS_MOST */
    struct filter *filter; /* which samples count; NULL: all. Borrowed */
};

/* What the samples came to; all but their number in the unit of the weight. */
struct profile_counts {
    uint64_t samples, weight;
    uint64_t left_out; /* by the filter, and not among the others */
    uint64_t by_certainty[CERTAINTIES];
    uint64_t by_kind[RESOLVED_KINDS];
    uint64_t by_source[SOURCES]; /* of all but the unknown */
    uint64_t partial;            /* of them: the outer part of their path could not be read */
    uint64_t refused;            /* stacks that the recorder did not know, and did not read */
    uint64_t returned;           /* of precise samples, whose function may have returned before it could */
    uint64_t unknown_by_reason[UNKNOWN_REASONS];
    double expected; /* the weight expected on the most probable paths, by their probabilities */
    double expected_least, expected_most; /* with 95% confidence, as far as is known (calibration.h) */
};

/* images is borrowed; options are copied. NULL: out of memory. */
struct profile *profile_new(const struct profile_options *options, struct image_cache *images);
void profile_free(struct profile *profile);
/* Adds one sample. map: the one that `resolved` refers to; always the same for a profile. */
int profile_add(struct profile *profile, const struct pathmap *map, const struct process *process,
                const struct sample *sample, const struct resolved *resolved, struct fathom_error *err);
/* Whether the last sample added counts: the filter has not left out all of its paths. */
bool profile_counted(const struct profile *profile);
/* framing_lacks_cgroups() */
bool profile_lacks_cgroups(const struct profile *profile);
/* framing_kernel_named() */
enum kernel_named profile_kernel_named(const struct profile *profile);
void profile_counts(const struct profile *profile, struct profile_counts *out);
/* The same weight, by the names of processes; borrowed. */
const struct process_shares *profile_processes(const struct profile *profile);
/* What there is to show, until something else is called. Exact: phi is not used. Bounded: the
 * (phi, eps)-HCCT. 0, -ENOMEM, or -ERANGE: HCCT_PURGE alone, whose bound is not below phi. */
int profile_contexts(struct profile *profile, double phi, struct contexts *out);

#endif
