/* children.c - see children.h. */
#include "hcct/children.h"

#include <stdlib.h>
#include <string.h>

#define FAR_DOWN      8   /* a child found after this many others is moved to the front */
#define WIDE_CHILDREN 128 /* with at least this many, children are found by hash */

#define FEW_EDGES  12 /* bits of the number of edges cached, from FEW_NODES on */
#define MANY_EDGES 15 /* the same from MANY_NODES on */
#define FEW_NODES  256
#define MANY_NODES 1000000

static size_t node_size(const struct tree *tree)
{
    return tree->head * sizeof(uint64_t) + sizeof(struct cct_node) + tree->metrics * sizeof(uint64_t);
}

/* Allocates a node with that weight and error, other values zero; the kind's own words before it are not set. */
static struct cct_node *node_new(struct tree *tree, struct cct_node *parent, uint32_t item)
{
    uint64_t *words = slab_alloc(&tree->nodes);
    if (!words)
        return NULL;
    struct cct_node *node = (struct cct_node *)(words + tree->head);
    node->first_child = node->next_sibling = NULL;
    node->item = item;
    node->links = 0;
    node->self[0] = tree->fresh;
    for (uint32_t m = 1; m < tree->metrics; m++)
        node->self[m] = 0;
    if (tree->stamps)
        words[0] = ++tree->stamps;
    if (tree->head >= HEAD_ERROR)
        *cct_error_of(node) = tree->fresh;
    if (tree->head >= HEAD_PARENT)
        *cct_parent_of(node) = parent;
    return node;
}

static void node_free(struct tree *tree, struct cct_node *node)
{
    slab_give(&tree->nodes, (uint64_t *)node - tree->head);
}

bool tree_init(struct tree *tree, uint32_t metrics, uint32_t head)
{
    *tree = (struct tree){
        .count = 1, .most = 1, .metrics = metrics, .head = head, .edges_due = FEW_NODES, .full = SIZE_MAX};
    slab_init(&tree->nodes, node_size(tree));
    tree->wide = table_new();
    tree->root = node_new(tree, NULL, 0);
    if (!tree->root || !tree->wide) {
        tree_clear(tree);
        return false;
    }
    return true;
}

void tree_clear(struct tree *tree)
{
    slab_clear(&tree->nodes);
    table_free(tree->wide);
    free(tree->edges);
    free(tree->trail.items);
    free(tree->trail.nodes);
    *tree = (struct tree){0};
}

int tree_reserve(struct tree *tree, size_t count)
{
    slab_clear(&tree->nodes);
    tree->root = slab_reserve(&tree->nodes, count) < 0 ? NULL : node_new(tree, NULL, 0);
    return tree->root ? 0 : -1;
}

int tree_stamp(struct tree *tree)
{
    slab_clear(&tree->nodes);
    tree->head = (tree->head < HEAD_PARENT ? HEAD_PARENT : tree->head) + 1; /* before all others */
    tree->stamps = 1;
    slab_init(&tree->nodes, node_size(tree));
    tree->root = node_new(tree, NULL, 0);
    return tree->root ? 0 : -1;
}

size_t tree_bytes(const struct tree *tree)
{
    size_t edges = tree->edges ? sizeof *tree->edges << (64 - tree->edge_shift) : 0;
    return tree->nodes.bytes + edges + table_bytes(tree->wide) +
           tree->trail.capacity * (sizeof *tree->trail.items + sizeof *tree->trail.nodes);
}

/* Makes a larger, empty cache; if memory runs out, keeps the present one. */
static void edges_grow(struct tree *tree)
{
    unsigned bits = tree->count < MANY_NODES ? FEW_EDGES : MANY_EDGES;
    struct edge *edges = calloc((size_t)1 << bits, sizeof *edges);
    tree->edges_due = bits == FEW_EDGES ? MANY_NODES : SIZE_MAX;
    if (!edges)
        return;
    free(tree->edges);
    tree->edges = edges;
    tree->edge_shift = 64 - bits;
}

static struct edge *edge_of(const struct tree *tree, const struct cct_node *parent, uint32_t item)
{
    uint64_t hash = ((uintptr_t)parent >> 3) * 0x9e3779b97f4a7c15u + item * 0xff51afd7ed558ccdu;
    return tree->edges + (hash >> tree->edge_shift);
}

static void edge_put(struct tree *tree, const struct cct_node *parent, struct cct_node *child)
{
    if (tree->edges)
        *edge_of(tree, parent, child->item) = (struct edge){parent, child};
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
    return table_set(tree->wide, wide_key(parent, item), (uintptr_t)before);
}

/* Hashes all children of a list that has become long. If memory or numbers run out, the list stays unhashed. */
static void widen_list(struct tree *tree, struct cct_node *parent)
{
    if (tree->wide_lists == NODE_NUMBER)
        return;
    uint32_t links = parent->links;
    parent->links = (links & ~NODE_NUMBER) | NODE_WIDE | tree->wide_lists;
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
    if (tree->count >= tree->full && !tree->make_room(tree->context, &parent))
        return NULL;
    struct cct_node *node = node_new(tree, parent, item), *second = parent->first_child;
    if (!node)
        return NULL;
    if (parent->links & NODE_WIDE) {
        if (!wide_enter(tree, parent, item, parent)) {
            node_free(tree, node);
            return NULL;
        }
        if (second)
            *table_find(tree->wide, wide_key(parent, second->item)) = (uintptr_t)node;
    }
    node->next_sibling = second;
    parent->first_child = node;
    if (++tree->count > tree->most)
        tree->most = tree->count;
    if (tree->count >= tree->edges_due)
        edges_grow(tree);
    edge_put(tree, parent, node);
    if (!(parent->links & NODE_WIDE) && (++parent->links & NODE_NUMBER) >= WIDE_CHILDREN)
        widen_list(tree, parent);
    return node;
}

void tree_recount(struct tree *tree, size_t count, struct table *wide)
{
    if (tree->edges)
        memset(tree->edges, 0, sizeof *tree->edges << (64 - tree->edge_shift));
    table_free(tree->wide);
    tree->wide = wide;
    tree->wide_lists = 0;
    tree->count = count;
    unsigned char *at = slab_first(&tree->nodes);
    for (size_t i = 0; i < count; i++, at += tree->nodes.object) {
        struct cct_node *node = (struct cct_node *)((uint64_t *)at + tree->head);
        if ((node->links & NODE_NUMBER) >= WIDE_CHILDREN)
            widen_list(tree, node);
    }
}

/* Finds a child in the list, not at its head. NULL: there is none. */
static struct cct_node *find_listed(struct cct_node *parent, uint32_t item)
{
    struct cct_node *before = parent->first_child, *child = before ? before->next_sibling : NULL;
    unsigned passed = 1;
    for (; child && child->item != item; child = child->next_sibling) {
        before = child;
        passed++;
    }
    if (child && passed >= FAR_DOWN) {
        before->next_sibling = child->next_sibling;
        child->next_sibling = parent->first_child;
        parent->first_child = child;
    }
    return child;
}

struct cct_node *tree_search(struct tree *tree, struct cct_node *parent, uint32_t item)
{
    struct cct_node *child = parent->first_child;
    if (child && child->item == item)
        return child;
    if (tree->edges) {
        const struct edge *edge = edge_of(tree, parent, item);
        if (edge->parent == parent && edge->child->item == item)
            return edge->child;
    }
    child = parent->links & NODE_WIDE ? wide_find(tree, parent, item) : find_listed(parent, item);
    if (!child)
        return child_new(tree, parent, item);
    edge_put(tree, parent, child);
    return child;
}

void tree_remove(struct tree *tree, struct cct_node *parent, struct cct_node *leaf)
{
    struct cct_node *before = parent;
    if (tree->edges) {
        struct edge *edge = edge_of(tree, parent, leaf->item);
        if (edge->child == leaf)
            *edge = (struct edge){0};
    }
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
    node_free(tree, leaf);
    tree->count--;
}
