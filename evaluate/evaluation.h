/*
 * evaluation.h - scores inferred paths against true ones: by the ICPP paper's categories (section 8.4), and by how well the
 * reported probabilities match how often answers are right.
 *
 * The paper judges the map; this judges the answer that was given: one that is called precise and is wrong is incorrect,
 * whatever other paths the map has for the CID.
 *
 * Weights are in events. They are whole numbers, unless a truth map has several paths for a CID (truth.h).
 */
#ifndef FATHOM_EVALUATE_EVALUATION_H
#define FATHOM_EVALUATE_EVALUATION_H

#include "evaluate/comparison.h"

enum category {
    CATEGORY_PRECISE,   /* the answer is called precise, and right */
    CATEGORY_AMBIGUOUS, /* it is not called precise, and one of the CID's paths is right */
    CATEGORY_INCORRECT, /* it is called precise and is wrong, or none of the CID's paths is right */
    CATEGORY_MISSING,   /* there is no answer, or no CID */
    CATEGORIES
};

#define DEGREES 20 /* degrees of ambiguity (number of paths that share a CID) that are distinguished */
#define BINS    10 /* bins of the reported probability: [0, 0.1), ..., [0.9, 1] */

struct tally {
    uint64_t paths; /* distinct pairs of a true path and a CID */
    double weight;
};

struct score {
    struct tally category[CATEGORIES], all;
    struct tally right;         /* the most probable path is right (paths: for most of their weight) */
    struct tally right_covered; /* the same, comparing only frames of images that the map covers */
    struct {
        double weight, right;
        /* answers that are called precise, or reported as proved; and how many of them are right */
    } called_precise, proved;
    struct tally within[DEGREES]; /* [k - 1]: the right path is among at most k paths */
    double right_frames; /* sum over samples: weight times the share of frames that agree (comparison.h) */
    double said;         /* sum over samples: weight times the reported probability; should equal `right` */
    double said_least, said_most; /* the same for the probability's bounds */
    struct bin {
        double weight, right, said;
    } bins[BINS];               /* samples with an answer */
    double calibration_error;   /* mean difference between right and said over the bins, weighted; 0 to 1 */
    double no_truth[NO_TRUTHS]; /* weight of samples without a true path, by reason */
    /* weight of samples whose truth relies on CFI rows that were derived from code (image/derive.h) */
    double derived;
    /* Samples with only the innermost callers known, which are in no other figure: how much has an answer, how much of that has
     * these callers, and the total weight of the known frames. */
    struct {
        double weight, answered, right, frames;
    } part;
    uint64_t samples; /* including those without a true path */
};

struct evaluation;

/* Identifies a CID. function: any number that is the same for the same function. */
struct judged_cid {
    uint64_t function, height;
    double weight; /* of the sample, or of all of the CID's samples together; not part of the identity */
};

/* truth is borrowed. NULL: out of memory. */
struct evaluation *evaluation_new(struct truth *truth);
void evaluation_free(struct evaluation *evaluation);
/* Adds one resolved sample. map: the map that it was resolved with; the same one in each call, borrowed until
 * the evaluation is freed. */
int evaluation_add(struct evaluation *evaluation, const struct pathmap *map, const struct process *process,
                   const struct sample *sample, const struct resolved *resolved, struct fathom_error *err);
/* Adds a CID whose true paths are known. */
int evaluation_count(struct evaluation *evaluation, const struct pathmap *map, struct judged_cid cid,
                     const struct resolved *resolved, const struct true_shares *truth,
                     struct fathom_error *err);
/* Computes the score. 0 or -ENOMEM. */
int evaluation_score(const struct evaluation *evaluation, struct score *out, struct fathom_error *err);

/* The samples of one CID that have the same true path and got the same answer. */
struct verdict {
    struct judged_cid cid;
    uint32_t truth; /* number of a path in the truth */
    uint32_t node;  /* the answer, a node of the map; PATHMAP_NONE: unknown */
    enum category category;
    enum unknown_reason reason; /* why there is no answer */
    uint32_t paths;             /* paths that share the CID: the degree of ambiguity */
    bool right, right_covered;
    bool among; /* one of the CID's paths is right */
    /* the answer is called precise: one path has the CID, or the sample's own stack shows it */
    bool called_precise;
    bool proved;   /* it is reported as proved (certainty.h) */
    double frames; /* share of frames that agree (comparison.h) */
    uint64_t samples;
    double weight, said; /* said: weight times the reported probability */
};
/* The comparison over all frames; NULL before the first sample. */
struct comparison *evaluation_comparison(struct evaluation *evaluation);
/* The verdicts that are wrong, heaviest first. The caller frees *out. 0 or -ENOMEM. */
int evaluation_wrong(const struct evaluation *evaluation, struct verdict **out, size_t *count,
                     struct fathom_error *err);

#endif
