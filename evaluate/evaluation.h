/*
 * evaluation.h - inferred paths held against true ones: the ICPP paper's categories (section 8.4), and how
 * far the reported probabilities can be believed.
 *
 * The paper's categories are those of the map; these are those of the answer that was given: an answer that
 * calls itself precise and is wrong is incorrect, whatever else the map has for the CID.
 *
 * Weights are in events; they are whole numbers but where a truth map has several paths for a
 * CID (truth.h).
 */
#ifndef FATHOM_EVALUATE_EVALUATION_H
#define FATHOM_EVALUATE_EVALUATION_H

#include "evaluate/comparison.h"

enum category {
    CATEGORY_PRECISE,   /* the answer is called precise, and right */
    CATEGORY_AMBIGUOUS, /* it is not called precise, and the right path is among the CID's */
    CATEGORY_INCORRECT, /* it is called precise and is wrong, or the right one is not among them */
    CATEGORY_MISSING,   /* there is none, or no CID */
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
    struct tally right;         /* the most probable path is the right one (paths: for most of the weight) */
    struct tally right_covered; /* the same over the frames of images that the map covers (comparison.h) */
    struct {
        double weight, right;
    } called_precise;             /* the answers that are; and that are right */
    struct tally within[DEGREES]; /* [k - 1]: the right one is among at most k paths */
    double right_frames; /* weight, each sample's times the share of frames that agree (comparison.h) */
    double said;         /* weight times the probability that was reported: what `right` should be */
    struct bin {
        double weight, right, said;
    } bins[BINS];               /* samples with an answer */
    double calibration_error;   /* mean distance of right from said over the bins, by weight; 0 to 1 */
    double no_truth[NO_TRUTHS]; /* weight of samples without one, by the reason */
    uint64_t samples;           /* with and without a truth */
};

struct evaluation;

/* What a verdict is known by beside its truth and its answer: the function, by any number, and the height. */
struct judged_cid {
    uint64_t function, height;
};

/* truth is borrowed. NULL: out of memory. */
struct evaluation *evaluation_new(struct truth *truth);
void evaluation_free(struct evaluation *evaluation);
/* One resolved sample. map: the one that answered; always the same for one evaluation, and still there as
 * long as that. */
int evaluation_add(struct evaluation *evaluation, const struct pathmap *map, const struct process *process,
                   const struct sample *sample, const struct resolved *resolved, struct fathom_error *err);
/* The same for a CID whose true paths are known, with its weight in all. */
int evaluation_count(struct evaluation *evaluation, const struct pathmap *map, struct judged_cid cid,
                     const struct resolved *resolved, const struct true_share *shares, size_t count,
                     double weight, struct fathom_error *err);
/* 0 or -ENOMEM. */
int evaluation_score(const struct evaluation *evaluation, struct score *out, struct fathom_error *err);

/* Samples of one CID that have one true path and got one answer. */
struct verdict {
    struct judged_cid cid;
    uint32_t truth; /* a path of the truth */
    uint32_t node;  /* the answer in the map; PATHMAP_NONE when unknown */
    enum category category;
    enum unknown_reason reason; /* why there is none */
    uint32_t paths;             /* that share the CID: degree of ambiguity */
    bool right, right_covered;
    bool among;          /* the right path is one of the CID's */
    bool called_precise; /* the answer is */
    double frames;       /* share of frames that agree (comparison.h) */
    uint64_t samples;
    double weight, said; /* said: weight times the reported probability */
};
/* What it compares by; NULL before the first sample. */
struct comparison *evaluation_comparison(struct evaluation *evaluation);
/* The wrong ones, the heaviest first: *out is the caller's to free(). 0 or -ENOMEM. */
int evaluation_wrong(const struct evaluation *evaluation, struct verdict **out, size_t *count,
                     struct fathom_error *err);

#endif
