/*
 * outside.h - what a partial path (pathmap/map/partial.h) proves of the frames that lie outside of its own.
 *
 * Its root says why the walk ended, and with that where the return address of its outermost frame is: in code made at run time, in a
 * file without unwind tables, ... A whole path with the same inner frames, from training or another recording, in which something
 * else made that call, was not this stack's. Paths of training by hooks may leave out what has none, and tell such a call by its
 * missing site: they deny nothing.
 */
#ifndef FATHOM_INFER_CONTEXTS_OUTSIDE_H
#define FATHOM_INFER_CONTEXTS_OUTSIDE_H

#include "pathmap/map/pathmap.h"

/* Whether the path of a node is partial. O(depth). */
bool outside_is_partial(const struct pathmap *map, uint32_t node);
/* Whether the innermost frames of a node's path are those of a partial one, whose heights may count from another base. *outermost:
 * the node of the last of them. */
bool outside_has_frames(const struct pathmap *map, uint32_t node, uint32_t partial, uint32_t *outermost);
/* Whether what called `outermost`, as above, cannot be what the partial path proved to be there. */
bool outside_denies(const struct pathmap *map, uint32_t partial, uint32_t outermost);

#endif
