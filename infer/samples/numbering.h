/*
 * numbering.h - translates between the numbers of functions in a trie and in the map made from it (internal
 * to infer/).
 */
#ifndef FATHOM_INFER_SAMPLES_NUMBERING_H
#define FATHOM_INFER_SAMPLES_NUMBERING_H

#include "pathmap/map/pathmap.h"

struct numbering {
    uint32_t *to_trie; /* by the map's number */
    uint32_t *to_map;  /* by the trie's; PATHMAP_NONE: not in the map */
};

/* map: made from the trie, which may have grown since. false: out of memory. Clear it even on failure. */
bool numbering_make(struct numbering *out, struct trie *trie, const struct pathmap *map);
void numbering_clear(struct numbering *numbering);

#endif
