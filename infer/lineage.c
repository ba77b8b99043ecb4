/* lineage.c - see lineage.h. */
#include "infer/lineage.h"

#include <stdlib.h>

#include "base/arena.h"

struct lineage {
    const struct pathmap *map;
    struct arena *arena;
    struct ancestry **known; /* by node; NULL before it was asked for */
    double *below;           /* by node: samples at it and under it */
    double total;
};

/* Adds each node's samples to all its ancestors: nodes leave the queue when all their children did. */
static bool sum_below(struct lineage *l, uint32_t nodes)
{
    uint32_t *children = calloc((size_t)nodes + 1, sizeof *children);
    uint32_t *queue = malloc(((size_t)nodes + 1) * sizeof *queue);
    bool good = children && queue;
    uint32_t queued = 0;
    for (uint32_t i = 0; good && i < nodes; i++) {
        struct pathmap_node node = pathmap_node(l->map, i);
        l->below[i] = (double)node.self;
        if (node.parent != PATHMAP_NONE)
            children[node.parent]++;
    }
    for (uint32_t i = 0; good && i < nodes; i++) {
        if (children[i] == 0)
            queue[queued++] = i;
    }
    for (uint32_t i = 0; good && i < queued; i++) {
        uint32_t parent = pathmap_node(l->map, queue[i]).parent;
        if (parent == PATHMAP_NONE) {
            l->total += l->below[queue[i]];
            continue;
        }
        l->below[parent] += l->below[queue[i]];
        if (--children[parent] == 0)
            queue[queued++] = parent;
    }
    free(children);
    free(queue);
    return good;
}

struct lineage *lineage_new(const struct pathmap *map)
{
    struct lineage *l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    uint32_t nodes = pathmap_node_count(map);
    l->map = map;
    l->arena = arena_new(0);
    l->known = calloc((size_t)nodes + 1, sizeof *l->known);
    l->below = calloc((size_t)nodes + 1, sizeof *l->below);
    if (!l->arena || !l->known || !l->below || !sum_below(l, nodes)) {
        lineage_free(l);
        return NULL;
    }
    return l;
}

void lineage_free(struct lineage *l)
{
    if (!l)
        return;
    arena_free(l->arena);
    free(l->known);
    free(l->below);
    free(l);
}

const struct ancestry *lineage_of(struct lineage *l, uint32_t node)
{
    if (l->known[node])
        return l->known[node];
    uint32_t depth = 0;
    for (uint32_t at = node; at != PATHMAP_NONE; at = pathmap_node(l->map, at).parent)
        depth++;
    struct ancestry *a = arena_alloc(l->arena, sizeof *a);
    uint32_t *paths = arena_alloc(l->arena, (depth + 1) * sizeof *paths);
    double *below = arena_alloc(l->arena, (depth + 1) * sizeof *below);
    if (!a || !paths || !below)
        return NULL;
    uint32_t at = node;
    for (uint32_t i = depth; i > 0; i--) {
        struct pathmap_node n = pathmap_node(l->map, at);
        paths[i - 1] = n.path;
        below[i] = l->below[at] > 1 ? l->below[at] : 1;
        at = n.parent;
    }
    below[0] = l->total > 1 ? l->total : 1;
    *a = (struct ancestry){depth, paths, below};
    l->known[node] = a;
    return a;
}
