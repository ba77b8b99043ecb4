/*
 * lineage.h - a walk over all nodes of a map, parents first, that tracks the functions, and wrapped calls, above
 * each node on its path.
 *
 * Heights after padding depend only on how often each function is among a node's proper ancestors, with calls
 * that move with the ancestor's frame. The walk updates these numbers from node to node, so that a node costs as
 * much as it differs from the one before, however deep recursion goes.
 */
#ifndef FATHOM_DISAMBIG_AMBIGUITY_LINEAGE_H
#define FATHOM_DISAMBIG_AMBIGUITY_LINEAGE_H

#include "pathmap/map/pathmap.h"

/* The nodes in preorder, for any number of walks. */
struct lineage_order {
    uint32_t *nodes;  /* parents first; all nodes below a node directly follow it */
    uint32_t *depths; /* by place in `nodes`; 0: outermost */
    uint32_t count;
    uint32_t deepest; /* the greatest depth */
};

/* -EBADMSG: the map is damaged (an unsound node); -ENOMEM. */
int lineage_order(const struct pathmap *map, struct lineage_order *out, struct fathom_error *err);
void lineage_order_clear(struct lineage_order *order);

/* What moves nodes: functions, all nodes that they call; and wraps, which are numbered behind the functions, some
 * calls. */
struct lineage_movers {
    const uint32_t *most;  /* by mover: 0: not counted; NULL: all are */
    const bool *unshifted; /* by node: its parent is not counted; NULL: all are */
    /* by node: the wrap of the call that leads to it; PATHMAP_NONE: none; NULL: there are no wraps */
    const uint32_t *wraps;
    uint32_t wrap_count;
};

struct lineage {
    const struct pathmap *map;
    const struct lineage_order *order;
    struct lineage_movers movers;
    uint32_t next;        /* place in the order */
    uint32_t node, depth; /* the current node */
    struct pathmap_node at;
    /* by mover: how often it counts among the current node's proper ancestors and their calls */
    uint32_t *times;
    uint32_t *held;    /* movers with times > 0, in no particular order */
    uint32_t count;    /* of them */
    uint32_t *places;  /* by mover: its index in `held` */
    uint32_t *chain;   /* the functions of the path, by depth */
    uint32_t *counted; /* by depth: two movers added by the node at that depth; PATHMAP_NONE: none */
};

int lineage_start(struct lineage *walk, const struct pathmap *map, const struct lineage_order *order,
                  const struct lineage_movers *movers, struct fathom_error *err);
/* Advances to the next node; false: there are no more. */
bool lineage_next(struct lineage *walk);
void lineage_end(struct lineage *walk);

#endif
