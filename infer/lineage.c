/* lineage.c - see lineage.h. */
#include "infer/lineage.h"

#include <stdlib.h>

#include "base/arena.h"

struct lineage {
    const struct pathmap *map;
    struct arena *arena;
    struct ancestry **known; /* by node; NULL before it was asked for */
};

struct lineage *lineage_new(const struct pathmap *map)
{
    struct lineage *l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    uint32_t nodes = pathmap_node_count(map);
    l->map = map;
    l->arena = arena_new(0);
    l->known = calloc((size_t)nodes + 1, sizeof *l->known);
    if (!l->arena || !l->known) {
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
    if (!a || !paths)
        return NULL;
    uint32_t at = node;
    for (uint32_t i = depth; i > 0; i--) {
        struct pathmap_node n = pathmap_node(l->map, at);
        paths[i - 1] = n.path;
        at = n.parent;
    }
    *a = (struct ancestry){depth, paths};
    l->known[node] = a;
    return a;
}
