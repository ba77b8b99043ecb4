/*
 * quality.h - how good an HCCT is, compared with the exact calling-context tree of the same stream: the metrics of the HCCT
 * paper, section 5.1.
 */
#ifndef FATHOM_HCCT_QUALITY_H
#define FATHOM_HCCT_QUALITY_H

#include "hcct/cct.h"

#define QUALITY_TAUS 4
extern const double quality_taus[QUALITY_TAUS]; /* 0.1, 0.05, 0.01, 0.001 */

struct quality {
    size_t hot; /* contexts of weight >= phi * N */
    /* of the exact HCCT: hot contexts and their ancestors, without the root */
    size_t hot_nodes;
    size_t nodes;           /* of the HCCT, without the root */
    size_t false_positives; /* returned, but not hot */
    size_t false_negatives; /* hot, but not returned */
    double overlap;         /* share of all weight that is in contexts of the tree */
    /* of the edges with at least tau of the heaviest one's weight, the share in the tree */
    double coverage[QUALITY_TAUS];
    /* weight of contexts not in the tree, relative to the heaviest context's */
    double most_uncovered, mean_uncovered;
    double most_error, mean_error;         /* of returned hot contexts: |estimate - weight| / weight */
    double most_corrected, mean_corrected; /* the same for the estimate minus its error */
};

/* hcct: from hcct_query(), for this phi; exact: a tree of all contexts with the same items. 0 or -ENOMEM. */
int quality_of(struct cct *hcct, struct cct *exact, double phi, struct quality *out);
/* The largest phi for which the exact HCCT has at least this overlap; 0: there is none. -ENOMEM. */
int quality_phi_for(struct cct *exact, double overlap, double *phi);

#endif
