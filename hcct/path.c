/* path.c - finds whole paths in a tree without searching again for what a path shares with the previous one. */
#include "base/vec.h"
#include "hcct/children.h"

static bool trail_reserve(struct trail *trail, size_t count)
{
    size_t capacity = trail->capacity; /* one for both arrays, so it is set only when both have grown */
    return vec_reserve(trail->items, 0, capacity, count) &&
           vec_reserve(trail->nodes, 0, trail->capacity, count);
}

struct cct_node *tree_path(struct tree *tree, const uint32_t *items, size_t count, struct cct_node **deepest)
{
    struct trail *trail = &tree->trail;
    size_t shared = 0;
    *deepest = tree->root;
    if (!trail_reserve(trail, count)) {
        trail->count = 0;
        return NULL;
    }
    while (shared < count && shared < trail->count && items[shared] == trail->items[shared])
        shared++;
    struct cct_node *node = shared ? trail->nodes[shared - 1] : tree->root;
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
