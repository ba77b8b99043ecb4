/* lineage.c - see lineage.h. */
#include "infer/model/lineage.h"

#include <stdlib.h>

#include "base/allocate.h"
#include "base/arena.h"
#include "base/vec.h"

struct context {
    uint32_t outer, node;
};

struct lineage {
    const struct pathmap *map;
    struct arena *arena;
    struct ancestry **known; /* by node; NULL until it is asked for */
    uint32_t *of_path;       /* context by function path's number; LINEAGE_ROOT: none yet */
    struct context *contexts;
    uint32_t count, capacity;
};

struct lineage *lineage_new(const struct pathmap *map)
{
    struct lineage *l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    l->map = map;
    l->count = LINEAGE_ROOT + 1;
    l->arena = arena_new(0);
    l->known = calloc((size_t)pathmap_node_count(map) + 1, sizeof *l->known);
    l->of_path = calloc((size_t)pathmap_path_count(map) + 1, sizeof *l->of_path);
    return whole_or_free(l, l->arena && l->known && l->of_path, lineage_free);
}

void lineage_free(struct lineage *l)
{
    if (!l)
        return;
    arena_free(l->arena);
    free(l->known);
    free(l->of_path);
    free(l->contexts);
    free(l);
}

const struct pathmap *lineage_map(const struct lineage *l)
{
    return l->map;
}

uint32_t lineage_count(const struct lineage *l)
{
    return l->count;
}

uint32_t lineage_outer(const struct lineage *l, uint32_t context)
{
    return l->contexts[context].outer;
}

uint32_t lineage_node(const struct lineage *l, uint32_t context)
{
    return l->contexts[context].node;
}

/* The number of a node's context. LINEAGE_ROOT: out of memory. */
static uint32_t number_context(struct lineage *l, uint32_t node, uint32_t outer)
{
    uint32_t *number = &l->of_path[pathmap_node(l->map, node).path];
    if (*number != LINEAGE_ROOT)
        return *number;
    if (!vec_reserve(l->contexts, l->count, l->capacity, 1))
        return LINEAGE_ROOT;
    l->contexts[l->count] = (struct context){outer, node};
    *number = l->count++;
    return *number;
}

const struct ancestry *lineage_of(struct lineage *l, uint32_t node)
{
    if (l->known[node])
        return l->known[node];
    uint32_t depth = 0;
    for (uint32_t at = node; at != PATHMAP_NONE; at = pathmap_node(l->map, at).parent)
        depth++;
    struct ancestry *a = arena_alloc(l->arena, sizeof *a);
    uint32_t *contexts = arena_alloc(l->arena, (depth + 1) * sizeof *contexts);
    if (!a || !contexts)
        return NULL;
    uint32_t at = node, outer = LINEAGE_ROOT;
    for (uint32_t i = depth; i > 0; i--) {
        contexts[i - 1] = at; /* temporarily the node, until its outer ones have numbers */
        at = pathmap_node(l->map, at).parent;
    }
    for (uint32_t i = 0; i < depth; i++) {
        outer = contexts[i] = number_context(l, contexts[i], outer);
        if (outer == LINEAGE_ROOT)
            return NULL;
    }
    *a = (struct ancestry){depth, contexts};
    l->known[node] = a;
    return a;
}
