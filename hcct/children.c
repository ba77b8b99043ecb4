/* children.c - see children.h. */
#include "hcct/children.h"

#include <stdlib.h>
#include <string.h>

#define FAR_DOWN      8  /* a child found after this many others moves to the front */
#define WIDE_CHILDREN 32 /* from this many on, children are found by hash */

static size_t values_size(const struct tree *tree)
{
    return tree->metrics * sizeof(uint64_t);
}

static struct cct_node *node_new(struct tree *tree)
{
    struct cct_node *node = tree->free;
    if (!node)
        return arena_alloc(tree->arena, sizeof *node + values_size(tree));
    tree->free = node->next_sibling;
    memset(node->self, 0, values_size(tree));
    return node;
}

bool tree_init(struct tree *tree, uint32_t metrics)
{
    *tree = (struct tree){.count = 1, .metrics = metrics};
    tree->arena = arena_new(0);
    tree->wide = table_new();
    tree->root = tree->arena ? node_new(tree) : NULL;
    if (!tree->root || !tree->wide) {
        tree_clear(tree);
        return false;
    }
    return true;
}

void tree_clear(struct tree *tree)
{
    arena_free(tree->arena);
    table_free(tree->wide);
    free(tree->trail.items);
    free(tree->trail.nodes);
    *tree = (struct tree){0};
}

static uint64_t wide_key(const struct cct_node *parent, uint32_t item)
{
    return (uint64_t)(parent->links & NODE_NUMBER) << 32 | item;
}

static struct cct_node **link_to(struct cct_node *parent, struct cct_node *before)
{
    return before == parent ? &parent->first_child : &before->next_sibling;
}

static struct cct_node *wide_find(const struct tree *tree, struct cct_node *parent, uint32_t item)
{
    const uint64_t *before = table_find(tree->wide, wide_key(parent, item));
    return before ? *link_to(parent, (struct cct_node *)(uintptr_t)*before) : NULL;
}

static bool wide_enter(struct tree *tree, struct cct_node *parent, uint32_t item, struct cct_node *before)
{
    uint64_t *entry = table_put(tree->wide, wide_key(parent, item), NULL);
    if (entry)
        *entry = (uintptr_t)before;
    return entry != NULL;
}

/* Hashes all children of a list that has become long. If memory or numbers run out, the list stays as it was.
 */
static void widen(struct tree *tree, struct cct_node *parent)
{
    if (tree->wide_lists == NODE_NUMBER)
        return;
    uint32_t links = parent->links;
    parent->links = (links & NODE_MONITORED) | NODE_WIDE | tree->wide_lists;
    struct cct_node *before = parent;
    for (struct cct_node *child = parent->first_child; child; before = child, child = child->next_sibling) {
        if (wide_enter(tree, parent, child->item, before))
            continue;
        for (struct cct_node *entered = parent->first_child; entered != child;
             entered = entered->next_sibling)
            table_remove(tree->wide, wide_key(parent, entered->item));
        parent->links = links;
        return;
    }
    tree->wide_lists++;
}

static struct cct_node *child_new(struct tree *tree, struct cct_node *parent, uint32_t item)
{
    struct cct_node *node = node_new(tree), *second = parent->first_child;
    if (!node)
        return NULL;
    if (parent->links & NODE_WIDE) {
        if (!wide_enter(tree, parent, item, parent)) {
            node->next_sibling = tree->free;
            tree->free = node;
            return NULL;
        }
        if (second)
            *table_find(tree->wide, wide_key(parent, second->item)) = (uintptr_t)node;
    }
    *node = (struct cct_node){.parent = parent, .next_sibling = second, .item = item};
    parent->first_child = node;
    tree->count++;
    if (!(parent->links & NODE_WIDE) && (++parent->links & NODE_NUMBER) >= WIDE_CHILDREN)
        widen(tree, parent);
    return node;
}

struct cct_node *tree_child(struct tree *tree, struct cct_node *parent, uint32_t item)
{
    struct cct_node *child = parent->first_child, *before = NULL;
    if (child && child->item == item)
        return child;
    if (parent->links & NODE_WIDE) {
        child = wide_find(tree, parent, item);
        return child ? child : child_new(tree, parent, item);
    }
    unsigned passed = 0;
    for (; child && child->item != item; child = child->next_sibling) {
        before = child;
        passed++;
    }
    if (!child)
        return child_new(tree, parent, item);
    if (passed >= FAR_DOWN) {
        before->next_sibling = child->next_sibling;
        child->next_sibling = parent->first_child;
        parent->first_child = child;
    }
    return child;
}

void tree_remove(struct tree *tree, struct cct_node *leaf)
{
    struct cct_node *parent = leaf->parent, *before = parent;
    if (parent->links & NODE_WIDE) {
        uint64_t key = wide_key(parent, leaf->item);
        before = (struct cct_node *)(uintptr_t)*table_find(tree->wide, key);
        table_remove(tree->wide, key);
        if (leaf->next_sibling)
            *table_find(tree->wide, wide_key(parent, leaf->next_sibling->item)) = (uintptr_t)before;
    } else {
        if (parent->first_child != leaf) {
            for (before = parent->first_child; before->next_sibling != leaf;)
                before = before->next_sibling;
        }
        parent->links--;
    }
    *link_to(parent, before) = leaf->next_sibling;
    leaf->next_sibling = tree->free;
    tree->free = leaf;
    tree->count--;
}
