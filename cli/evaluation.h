/*
 * evaluation.h - inferred paths held against true ones: the ICPP paper's categories (section 8.4).
 */
#ifndef FATHOM_CLI_EVALUATION_H
#define FATHOM_CLI_EVALUATION_H

#include "infer/pipeline.h"

enum category {
    CATEGORY_PRECISE,   /* the CID has one path, the right one */
    CATEGORY_AMBIGUOUS, /* several, the right one among them */
    CATEGORY_INCORRECT, /* one or several, the right one not among them */
    CATEGORY_MISSING,   /* none, or there is no CID */
    CATEGORIES
};

struct score {
    uint64_t paths[CATEGORIES], weight[CATEGORIES]; /* distinct true paths; weight in events */
    uint64_t right_paths, right_weight;             /* the most probable path is the right one */
    uint64_t all_paths, all_weight;                 /* sums over the categories */
    uint64_t no_truth[UNWIND_ENDS]; /* weight of samples whose own stack was not unwound, by the reason */
    uint64_t samples;
};

struct evaluation;

/* pipeline is borrowed. NULL: out of memory. */
struct evaluation *evaluation_new(struct pipeline *pipeline);
void evaluation_free(struct evaluation *evaluation);
/* A pipeline_sink (context: the evaluation): unwinds the sample's own dump for the truth. Paths are compared
 * over the functions of images that the map covers (DESIGN section 1, "right path"). */
int evaluation_add(void *evaluation, const struct process *process, const struct sample *sample,
                   const struct resolved *resolved, struct fathom_error *err);
void evaluation_score(const struct evaluation *evaluation, struct score *out);

#endif
