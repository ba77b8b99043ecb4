/*
 * partial.h - roots of partial paths: each stands for the outer part of a path that could not be read, and says
 * why.
 *
 * Such a root is a function of a pseudo-image (PARTIAL_IMAGE), so all code that handles paths handles it. Its
 * height is no multiple of 8, so the automaton, which goes in such steps (callers.h), finds no path through it:
 * of such a stack only what was proved is known.
 *
 * Where the stack's base is unknown, or the copy ended before the stack did, heights cannot be compared with
 * those of other samples: such paths are kept apart, with heights that no sample has.
 */
#ifndef FATHOM_PATHMAP_MAP_PARTIAL_H
#define FATHOM_PATHMAP_MAP_PARTIAL_H

#include "pathmap/map/pathmap.h"
#include "pathmap/map/trie.h"

#define PARTIAL_IMAGE  "[partial]"
#define PARTIAL_HEIGHT 4u /* of the root */
#define PARTIAL_APART  1u /* added to the heights of paths that are kept apart */
#define PARTIAL_JOINED 2u /* the same for those with a root nevertheless: on two stacks (process/unwind.h) */

/* A function whose frame could not be unwound, so that its CFA is unknown, is below the root at a height that no
 * frame has: this much less than that of the frame that it called; for paths kept apart, a multiple of 8. */
#define PARTIAL_BEYOND       2u
#define PARTIAL_BEYOND_APART 8u

/* Whether the path is PARTIAL_IMAGE. */
bool partial_is_image(const char *path);
/* The node of the root with this text ("[run-time code]"), which reports show; added if new. TRIE_NONE: out of
 * memory. */
uint32_t partial_node(struct trie *trie, const char *text);
/* The same in a map; PATHMAP_NONE: not there. */
uint32_t partial_find(const struct pathmap *map, const char *text);
/* Whether a node at this height (not a root) is kept apart. */
static inline bool partial_is_apart(uint32_t height)
{
    return height % 8 == PARTIAL_APART || height % 8 == PARTIAL_JOINED;
}
/* Whether it is, but has its root. */
static inline bool partial_is_joined(uint32_t height)
{
    return height % 8 == PARTIAL_JOINED;
}

#endif
