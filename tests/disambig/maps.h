/* maps.h - maps for tests of disambiguation: by hand and by chance, and heights counted by force. */
#ifndef FATHOM_TESTS_DISAMBIG_MAPS_H
#define FATHOM_TESTS_DISAMBIG_MAPS_H

#include "pathmap/map/pathmap.h"

struct maps {
    struct trie *trie;
    struct pathmap *map;
    uint32_t functions; /* numbered from 0, named a, b, c, ... */
};

/* A map with so many functions and no nodes yet. */
void maps_begin(struct maps *m, uint32_t functions);
/* Enters a path, as letters, each frame 16 bytes above its caller's (`last`: the last one); samples end there. */
void maps_add(struct maps *m, const char *path, uint32_t last, uint64_t samples);
/* Random paths: some functions call each other, from one of two places, one of which is deeper. */
void maps_grow(struct maps *m, uint64_t seed, unsigned walks);
void maps_ready(struct maps *m);
void maps_end(struct maps *m);

struct maps_count {
    uint64_t weight, precise, paths, paths_precise;
    uint64_t deepest;
};
/* By comparing each node with each other. pads: by function; unshifted: by node, or NULL. */
struct maps_count maps_count(const struct pathmap *map, const uint32_t *pads, const bool *unshifted);

#endif
