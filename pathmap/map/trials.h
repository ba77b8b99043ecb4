/*
 * trials.h - how well parts of a training predict each other: all that is known of a map where the run that it is used for
 * tells nothing of its own paths.
 *
 * A trial takes the samples of one part (an input, or a slice of the time of the only one) and predicts the function path of each by
 * the samples of the other parts: the path that most of those with its CID have, or that most walked through. No run is judged by
 * what it taught itself.
 */
#ifndef FATHOM_PATHMAP_MAP_TRIALS_H
#define FATHOM_PATHMAP_MAP_TRIALS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct trie;
struct pathmap;

enum trial_part {
    TRIAL_SLICE = 1, /* of the time of one input, by the others */
    TRIAL_INPUT,     /* by the inputs that were in the map when it was added */
    TRIAL_PARTS,
};

struct trial {
    uint64_t samples;
    uint64_t known; /* of them: the others have paths with the CID */
    uint64_t right; /* of those */
    uint64_t wrong; /* of those: none of the paths is the right one. The rest is open: it is one of several */
    uint64_t
        said; /* of those: so many are right by their probabilities, as a report would have them by counts (resolver.h) */
    enum trial_part part;
};

#define TRIALS_MAX   64 /* kept in a map: the first ones */
#define TRIAL_SLICES 6u

struct trials {
    struct trial at[TRIALS_MAX];
    uint32_t count;
};

/* Adds one that was made elsewhere, if it has samples. */
void trials_add(struct trie *trie, struct trial trial);
/* Tries slices of one input, of equally many samples, and adds what came of it to the trie. leaves: the nodes that its samples
 * ended in, in the order of time; TRIE_NONE: one that was not unwound. Nothing is added for fewer samples than there are slices. */
int trials_slice(const uint32_t *leaves, size_t count, struct trie *trie, struct fathom_error *err);
/* trie_merge() of a map of other inputs, where each side is tried by the other, unless it has several inputs that were. Samples
 * through files that the other side does not know are of other programs, and left out. */
int trials_merge(struct trie *trie, const struct pathmap *map, struct fathom_error *err);

#endif
