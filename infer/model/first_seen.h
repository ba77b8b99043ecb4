/*
 * first_seen.h - the chance that an observation like those of a map's training has a CID that none of these had, as Good estimates it (The population frequencies
 * of species and the estimation of population parameters, 1953): the share of those whose CID was seen once.
 *
 * Its bound is for independent observations. What was not seen has so large a share M, and what was seen once G, of n:
 *   - P(M >= E M + e) <= exp(-n e^2)        McAllester and Ortiz, Concentration inequalities for the missing mass, 2003;
 *   - P(G <= E G - e) <= exp(-n e^2 / 2)    McDiarmid, On the method of bounded differences, 1989: one observation changes G by 2 / n at most;
 *   - E M <= E G                            as E G is E M of one observation less.
 * So M <= G + (1 + sqrt(2)) sqrt(ln(2 / d) / n) with probability 1 - d.
 *
 * Observations are samples by their own CID. A CID that samples walked through alone is in the map, too: then the chance is lower than is said. Of a map without
 * samples they are calls.
 */
#ifndef FATHOM_INFER_MODEL_FIRST_SEEN_H
#define FATHOM_INFER_MODEL_FIRST_SEEN_H

#include "pathmap/map/pathmap.h"

#define FIRST_SEEN_DOUBT 0.05 /* d */

struct first_seen {
    uint64_t observations, once;
    bool calls;          /* are observed */
    double chance, most; /* 1: nothing was observed */
};

struct first_seen first_seen_of(const struct pathmap *map); /* O(nodes) */
struct first_seen first_seen_by(uint64_t observations, uint64_t once);

#endif
