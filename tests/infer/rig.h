/* rig.h - a path map over functions made by hand, the graph of its calls and the automaton over it. */
#ifndef FATHOM_TESTS_INFER_RIG_H
#define FATHOM_TESTS_INFER_RIG_H

#include "infer/model/automaton.h"

enum { RIG_FUNCTIONS = 16 };

struct rig {
    struct trie *trie;
    uint32_t functions[RIG_FUNCTIONS]; /* of the trie */
    uint32_t numbers[RIG_FUNCTIONS];   /* of the map */
    struct pathmap *map;
    struct graph *graph;
    struct automaton *automaton;
};

void rig_begin(struct rig *rig);
/* A child of a node of the trie: the function with this number at the height. */
uint32_t rig_child(struct rig *rig, uint32_t parent, unsigned function, uint32_t height, uint64_t passes,
                   uint64_t self);
/* The trie becomes the map. */
void rig_finish(struct rig *rig);
/* Replaces graph and automaton: `calls` are in the map's numbers. Either may be NULL. */
void rig_use(struct rig *rig, struct statics *calls, const struct automaton_options *options);
void rig_end(struct rig *rig);
/* The steps of the rank-th best path of a CID, from the root inwards; at most max of them (the innermost are kept). Returns
 * the depth; 0: there is no such path. */
size_t rig_path(const struct rig *rig, uint32_t function, uint32_t height, uint32_t rank,
                struct automaton_step *steps, size_t max);
/* The functions of the rank-th path as letters, the root first; after '~' one that an open frame called. */
const char *rig_letters(const struct rig *rig, unsigned function, uint32_t height, uint32_t rank);
/* A small random number generator. */
unsigned rig_random(uint64_t *seed, unsigned limit);

#endif
