/* path.c - whole paths in a tree: what a path has in common with the one before it is not searched again. */
#include <stdlib.h>

#include "hcct/children.h"

static bool trail_reserve(struct trail *trail, size_t count)
{
    if (count <= trail->room)
        return true;
    size_t room = count + count / 2;
    uint32_t *items = realloc(trail->items, room * sizeof *items);
    if (items)
        trail->items = items;
    struct cct_node **nodes = realloc(trail->nodes, room * sizeof *nodes);
    if (nodes)
        trail->nodes = nodes;
    if (!items || !nodes)
        return false;
    trail->room = room;
    return true;
}

struct cct_node *tree_path(struct tree *tree, const uint32_t *items, size_t count, struct cct_node **deepest)
{
    struct trail *trail = &tree->trail;
    size_t shared = 0;
    *deepest = &tree->root;
    if (!trail_reserve(trail, count)) {
        trail->count = 0;
        return NULL;
    }
    while (shared < count && shared < trail->count && items[shared] == trail->items[shared])
        shared++;
    struct cct_node *node = shared ? trail->nodes[shared - 1] : &tree->root;
    for (trail->count = shared; trail->count < count; trail->count++) {
        *deepest = node;
        node = tree_child(tree, node, items[trail->count]);
        if (!node)
            return NULL;
        trail->items[trail->count] = items[trail->count];
        trail->nodes[trail->count] = node;
    }
    *deepest = node;
    return node;
}
