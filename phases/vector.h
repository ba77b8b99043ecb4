/*
 * vector.h - what an interval of a run did: how its samples are distributed over regions of code, functions, or contexts.
 *
 * Items are hashed into a fixed number of buckets, as in the paper (phase-aware remote profiling, section 4.1, after Sherwood
 * et al., ISCA 2003, which accumulate executed instructions by branch PC). Two vectors are compared by the Manhattan distance
 * of their shares.
 *
 * The paper's vectors count everything that was executed; these count samples. Two intervals that do the same differ by chance,
 * the more the fewer samples they have, so the distance expected by chance is subtracted.
 */
#ifndef FATHOM_PHASES_VECTOR_H
#define FATHOM_PHASES_VECTOR_H

#include <stddef.h>
#include <stdint.h>

/* 4 bytes of memory each. 1,024 of them distinguish 200 hot contexts, except for 9%. */
#define PHASE_BUCKETS 1024u

struct phase_vector {
    float at[PHASE_BUCKETS]; /* weight, by bucket */
    double weight;           /* total */
    double parts;            /* total, each sample's divided by its number of items */
    double samples;
};

/* Adds a sample, whose weight is divided among its items: any numbers that are the same for equal items; they need not be
 * hashes. */
void phase_vector_add(struct phase_vector *vector, const uint64_t *items, size_t count, double weight);
void phase_vector_join(struct phase_vector *to, const struct phase_vector *from);
/* 0: no more than chance; 1: nothing in common, or a vector is empty. */
double phase_vector_distance(const struct phase_vector *a, const struct phase_vector *b);

#endif
