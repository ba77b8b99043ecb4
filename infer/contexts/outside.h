/*
 * outside.h - what a partial path (pathmap/map/partial.h) proves about the frames outside of it.
 *
 * Its root says why the walk ended, and so where the return address of its outermost frame is: in code made at run time, in a
 * file without unwind tables, ... A whole path with the same inner frames, from training or another recording, is not this
 * stack's if its call there was made from elsewhere. Paths from training by hooks may leave out functions without hooks; such a
 * call has no site, and contradicts nothing.
 */
#ifndef FATHOM_INFER_CONTEXTS_OUTSIDE_H
#define FATHOM_INFER_CONTEXTS_OUTSIDE_H

#include "pathmap/map/pathmap.h"

/* Whether the path of a node is partial. O(depth). */
bool outside_is_partial(const struct pathmap *map, uint32_t node);
/* Whether a node's path has the frames of a partial path innermost (heights may count from another base). *outermost: the node
 * of the outermost of these frames. */
bool outside_has_frames(const struct pathmap *map, uint32_t node, uint32_t partial, uint32_t *outermost);
/* Whether the caller of `outermost` (see above) contradicts what the partial path proved about it. */
bool outside_contradicts(const struct pathmap *map, uint32_t partial, uint32_t outermost);

#endif
