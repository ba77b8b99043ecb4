/*
 * model.h - a path map as the plainest thing that could be one: a sorted list of whole paths with counts.
 * What tries, files and merges must agree with.
 */
#ifndef FATHOM_TESTS_PATHMAP_MODEL_H
#define FATHOM_TESTS_PATHMAP_MODEL_H

#include <stdbool.h>

#include "pathmap/map/pathmap.h"

#define MODEL_DEPTH  8
#define MODEL_IMAGES 3

struct model_frame {
    uint32_t image, address, height, site;
};
struct model_path {
    uint32_t depth;
    struct model_frame frames[MODEL_DEPTH]; /* outermost first; zeroes after the last */
    uint64_t passes, self;
};
struct model {
    struct model_path *paths;
    size_t count, capacity;
};

/* splitmix64 (public domain): the same numbers on every machine. */
uint64_t model_random(uint64_t *state);

/* Enters `walks` random paths (every prefix of each) into the model and, when not NULL, the trie; few enough
 * functions, heights and sites that CIDs are shared. backwards: the trie gets its images in the opposite
 * order. */
void model_grow(struct model *model, struct trie *trie, uint64_t seed, unsigned walks, bool backwards);
/* The paths of a map. */
void model_read(struct model *model, const struct pathmap *map);
/* Sorts, and adds up the counts of equal paths. */
void model_settle(struct model *model);
bool model_equal(const struct model *a, const struct model *b); /* both settled */
void model_free(struct model *model);
/* The path of one node, by following parents. */
struct model_path model_path_of(const struct pathmap *map, uint32_t node);

const char *model_image_path(uint32_t image);
struct build_id model_build_id(uint32_t image);
struct pathmap *
model_map(const struct trie *trie); /* serialised and opened; fails the test when it cannot be */

#endif
