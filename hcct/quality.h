/*
 * quality.h - how good an HCCT is, against the whole calling-context tree of the same stream: the metrics of the HCCT
 * paper, section 5.1.
 */
#ifndef FATHOM_HCCT_QUALITY_H
#define FATHOM_HCCT_QUALITY_H

#include "hcct/cct.h"

#define QUALITY_TAUS 4
extern const double quality_taus[QUALITY_TAUS]; /* 0.1, 0.05, 0.01, 0.001 */

struct quality {
    size_t hot;                    /* contexts of weight >= phi * N */
    size_t hot_nodes;              /* of the exact HCCT: these and their ancestors, without the root */
    size_t nodes;                  /* of the HCCT, without the root */
    size_t false_positives;        /* said to be hot, and not */
    size_t false_negatives;        /* hot, and not said to be */
    double overlap;                /* weight of the contexts in the tree, of all */
    double coverage[QUALITY_TAUS]; /* of the edges of at least tau of the heaviest, those in the tree */
    double most_uncovered, mean_uncovered; /* weight of contexts not in the tree, of the heaviest context's */
    double most_error, mean_error;         /* of those said to be hot: |estimate - weight| / weight */
    double most_corrected, mean_corrected; /* the same of the estimate less its error */
};

/* hcct: hcct_query()'s, for this phi; exact: a tree of all contexts, its items the same. 0 or -ENOMEM. */
int quality_of(struct cct *hcct, struct cct *exact, double phi, struct quality *out);
/* The largest phi for which the exact HCCT overlaps by at least that much; 0: there is none. -ENOMEM. */
int quality_phi_for(struct cct *exact, double overlap, double *phi);

#endif
