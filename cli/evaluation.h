/*
 * evaluation.h - inferred paths held against true ones: the ICPP paper's categories (section 8.4), and how
 * far the reported probabilities can be believed.
 *
 * Paths are compared over the functions of images that the map covers (DESIGN section 1, "right path"), and
 * the truth too. Weights are in events; they are whole numbers but where a truth map has several paths for a
 * CID (truth.h).
 */
#ifndef FATHOM_CLI_EVALUATION_H
#define FATHOM_CLI_EVALUATION_H

#include "cli/truth.h"
#include "infer/resolver.h"

enum category {
    CATEGORY_PRECISE,   /* the CID has one path, the right one */
    CATEGORY_AMBIGUOUS, /* several, the right one among them */
    CATEGORY_INCORRECT, /* one or several, the right one not among them */
    CATEGORY_MISSING,   /* none, or there is no CID */
    CATEGORIES
};

#define DEGREES 20 /* of ambiguity: paths that share a CID */
#define BINS    10 /* of the reported probability: [0, 0.1), ..., [0.9, 1] */

struct tally {
    uint64_t paths; /* distinct true paths, each for each CID that it was met under */
    double weight;
};

struct score {
    struct tally category[CATEGORIES], all;
    struct tally right; /* the most probable path is the right one (paths: for most of the weight) */
    struct tally within[DEGREES]; /* [k - 1]: the right one is among at most k paths */
    double right_frames; /* weight, each sample's times the share of frames that agree (evaluation_wrong()) */
    double said;         /* weight times the probability that was reported: what `right` should be */
    struct bin {
        double weight, right, said;
    } bins[BINS];               /* samples with an answer */
    double calibration_error;   /* mean distance of right from said over the bins, by weight; 0 to 1 */
    double no_truth[NO_TRUTHS]; /* weight of samples without one, by the reason */
    uint64_t samples;           /* with and without a truth */
};

struct evaluation;

/* truth is borrowed. NULL: out of memory. */
struct evaluation *evaluation_new(struct truth *truth);
void evaluation_free(struct evaluation *evaluation);
/* One resolved sample. resolver: the one that answered; always the same for one evaluation, and still there
 * when it is scored. */
int evaluation_add(struct evaluation *evaluation, struct resolver *resolver, const struct process *process,
                   const struct sample *sample, const struct resolved *resolved, struct fathom_error *err);
/* 0 or -ENOMEM. */
int evaluation_score(const struct evaluation *evaluation, struct score *out, struct fathom_error *err);

/* Samples of one CID that have one true path and got one answer. */
struct verdict {
    struct place place; /* the sampled function; image NULL when unknown */
    uint64_t height;
    uint32_t truth; /* a path of the truth */
    uint32_t node;  /* the answer in the resolver's map; PATHMAP_NONE when unknown */
    enum category category;
    enum unknown_reason reason; /* why there is none */
    uint32_t paths;             /* that share the CID */
    bool right;
    double frames; /* share of frames that agree, counted from both ends of the longer path inwards until they
                      differ: a lower bound when they differ in several places */
    uint64_t samples;
    double weight, said; /* said: weight times the reported probability */
};
/* Whether frames of the image, or of a function of the resolver's map, are compared. */
bool evaluation_compares(struct evaluation *evaluation, const struct image *image);
bool evaluation_compares_function(struct evaluation *evaluation, uint32_t function);
/* The wrong ones, the heaviest first: *out is the caller's to free(). 0 or -ENOMEM. */
int evaluation_wrong(const struct evaluation *evaluation, struct verdict **out, size_t *count,
                     struct fathom_error *err);

#endif
