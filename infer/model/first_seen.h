/*
 * first_seen.h - the probability that an observation like those of a map's training has a CID that none of these had, by
 * Good's estimator (The population frequencies of species and the estimation of population parameters, 1953): the share
 * of those whose CID was seen once.
 *
 * Its bound is for independent observations. Of n observations, let M be the probability of what was not seen, and G the
 * share of what was seen once:
 * - P(M >= E M + e) <= exp(-n e^2)        McAllester and Ortiz, Concentration inequalities for the missing mass, 2003;
 * - P(G <= E G - e) <= exp(-n e^2 / 2)    McDiarmid, On the method of bounded differences, 1989: one observation
 *                                         changes G by 2 / n at most;
 * - E M <= E G                            as E G is E M of one observation less.
 * So M <= G + (1 + sqrt(2)) sqrt(ln(2 / d) / n) with probability 1 - d.
 *
 * Observations are samples by their own CID, or calls if the map has no samples. A CID that samples only walked through
 * is in the map, too: then the true probability is lower than the estimate.
 */
#ifndef FATHOM_INFER_MODEL_FIRST_SEEN_H
#define FATHOM_INFER_MODEL_FIRST_SEEN_H

#include "pathmap/map/pathmap.h"

#define FIRST_SEEN_DOUBT 0.05 /* d */

struct first_seen {
    uint64_t observations, once;
    bool calls;          /* the observations are calls */
    double chance, most; /* 1 if nothing was observed */
};

struct first_seen first_seen_of(const struct pathmap *map); /* O(nodes) */
struct first_seen first_seen_by(uint64_t observations, uint64_t once);

#endif
