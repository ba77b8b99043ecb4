/* walk.h - a walk over all nodes of a path map, callers before their callees. */
#ifndef FATHOM_PATHMAP_MAP_WALK_H
#define FATHOM_PATHMAP_MAP_WALK_H

#include "pathmap/map/pathmap.h"

/* Visits each node once, after its parent; otherwise in the order of numbers. A visit that returns a negative
 * errno, with its message set, ends the walk. Also walks damaged maps: the visit must check pathmap_node_sound().
 * Returns -ENOMEM, or what a visit returned. */
int pathmap_walk(const struct pathmap *map,
                 int (*visit)(void *context, uint32_t node, struct fathom_error *err), void *context,
                 struct fathom_error *err);

#endif
