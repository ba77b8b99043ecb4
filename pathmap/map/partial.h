/*
 * partial.h - what a path has in place of its outer part, where that could not be read: a root that says why.
 *
 * It is a function of an image that is none (PARTIAL_IMAGE), so that all that handles paths handles it. Its height is no
 * multiple of 8, so that the automaton, which goes in such steps (callers.h), finds no path through it: what was proved stays
 * what is known of the stack.
 *
 * Where the base of the stack is not known, or the copy ended before the stack did, heights do not tell what other samples
 * have: such paths are kept apart, with heights that no sample has.
 */
#ifndef FATHOM_PATHMAP_MAP_PARTIAL_H
#define FATHOM_PATHMAP_MAP_PARTIAL_H

#include "pathmap/map/pathmap.h"
#include "pathmap/map/trie.h"

#define PARTIAL_IMAGE  "[partial]"
#define PARTIAL_HEIGHT 4u /* of the root */
#define PARTIAL_APART  1u /* added to the heights of paths that are kept apart */
#define PARTIAL_JOINED                                                                                       \
    2u /* likewise, of those that have their root all the same: on two stacks (process/unwind.h) */

/* A function whose CFA is not known, as its frame could not be unwound, is below the root at a height that is no frame's: so much less than
 * that of the frame which it called. Of paths that are kept apart that is a multiple of 8. */
#define PARTIAL_BEYOND       2u
#define PARTIAL_BEYOND_APART 8u

/* Whether the file's path is PARTIAL_IMAGE. */
bool partial_is_image(const char *path);
/* The node of the root with this text ("[run-time code]"), which is also what to show of it; added when new. TRIE_NONE: out of
 * memory. */
uint32_t partial_node(struct trie *trie, const char *text);
/* The same of a map; PATHMAP_NONE: it has none. */
uint32_t partial_find(const struct pathmap *map, const char *text);
/* Whether a node at this height, which is not a root, is kept apart. */
static inline bool partial_is_apart(uint32_t height)
{
    return height % 8 == PARTIAL_APART || height % 8 == PARTIAL_JOINED;
}
/* Whether it is, and has its root. */
static inline bool partial_is_joined(uint32_t height)
{
    return height % 8 == PARTIAL_JOINED;
}

#endif
