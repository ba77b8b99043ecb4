/*
 * trials.h - how well parts of a training predict each other: the only known measure of a map for a run whose own
 * paths are unknown.
 *
 * A trial takes the samples of one part (an input, or a time slice of the only one) and predicts each one's
 * function path by the samples of the other parts: the path that most samples with this CID ended in, or that
 * most passed through. So no run is judged by its own samples.
 */
#ifndef FATHOM_PATHMAP_MAP_TRIALS_H
#define FATHOM_PATHMAP_MAP_TRIALS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct trie;
struct pathmap;

enum trial_part {
    TRIAL_SLICE = 1, /* a time slice of one input, predicted by the others */
    TRIAL_INPUT,     /* an input, predicted by those that were in the map when it was added */
    TRIAL_PARTS,
};

struct trial {
    uint64_t samples;
    uint64_t known; /* of the samples: the others have paths with the CID */
    uint64_t right; /* of the known: predicted correctly */
    uint64_t wrong; /* of the known: none of the paths is right. For the rest, one of several is */
    uint64_t
        said; /* of the known: expected number of correct ones, by the probabilities that a report would derive from
               * counts (resolver.h) */
    enum trial_part part;
};

#define TRIALS_MAX   64 /* stored in a map: the first ones */
#define TRIAL_SLICES 6u

struct trials {
    struct trial at[TRIALS_MAX];
    uint32_t count;
};

/* Adds a trial made elsewhere, if it has samples. */
void trials_add(struct trie *trie, struct trial trial);
/* Tries time slices of one input, with equally many samples each, and adds the results to the trie. leaves: the
 * nodes in which samples ended, in the order of time; TRIE_NONE: not unwound. Adds nothing if there are fewer
 * samples than slices. */
int trials_slice(const uint32_t *leaves, size_t count, struct trie *trie, struct fathom_error *err);
/* Like trie_merge(), for a map of other inputs, and tries each side by the other, unless it has several inputs
 * that were tried. Samples through files that the other side does not have are of other programs, and left out. */
int trials_merge(struct trie *trie, const struct pathmap *map, struct fathom_error *err);

#endif
