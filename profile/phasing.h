/*
 * phasing.h - the phases of a profile's samples: which items each sample adds to the vector of its interval.
 *
 * Equal contexts, functions and regions of code are equal items in every recording, by their names: a file is identified by its
 * name without directories.
 */
#ifndef FATHOM_PROFILE_PHASING_H
#define FATHOM_PROFILE_PHASING_H

#include "phases/timeline.h"
#include "profile/contexts.h"

enum phase_kind {
    PHASE_CONTEXTS, /* calling contexts, of functions */
    PHASE_FUNCTIONS,
    PHASE_REGIONS, /* PHASE_REGION_BYTES of a file's code */
    PHASE_KINDS,
};
extern const char *const phase_kind_names[]; /* "contexts", ... */

#define PHASE_REGION_BYTES 64u

struct phasing_options {
    enum phase_kind kind;
    /* weight, in ms for times; 0: PHASE_SAMPLES samples each, or PHASE_INTERVALS intervals */
    double interval;
    double threshold; /* 0: PHASE_THRESHOLD */
    enum phase_policy policy;
};

/* contexts: must have samples. -ENODATA: they have no weight; -ERANGE: the interval is too short; -ENOMEM. */
int phasing_find(const struct contexts *contexts, const struct phasing_options *options,
                 struct timeline **out, struct fathom_error *err);

#endif
