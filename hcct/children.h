/*
 * children.h - the nodes and child lists of all trees: finding, adding and removing children.
 *
 * A list is singly linked. A child that is not the first one is looked up in a direct-mapped cache of edges, and then in the
 * list; a child found far down is moved to the front. On call traces the cache makes a tree of millions of nodes twice as fast.
 * A list that once had WIDE_CHILDREN or more is wide: its children are also in a hash table, which maps a child to its
 * predecessor (its parent for the first child), so that removal needs no search and no second pointer in each node.
 *
 * Words that only some kinds of tree need are stored before the node: HEAD_ERROR one word, HEAD_PARENT another one before it;
 * further words are the kind's own.
 */
#ifndef FATHOM_HCCT_CHILDREN_H
#define FATHOM_HCCT_CHILDREN_H

#include <stdbool.h>

#include "base/hash.h"
#include "base/saturate.h"
#include "hcct/cct.h"
#include "hcct/slab.h"

#define NODE_MONITORED 0x80000000u /* it has a counter; for counters that mark such nodes */
#define NODE_WIDE      0x40000000u
#define NODE_HELD      0x20000000u /* on the path where a thread is: must not be removed */
#define NODE_LIVE      0x10000000u /* for hcct_compact.c only */
#define NODE_NUMBER    0x0fffffffu /* number of children, or of the wide list once there is one */

enum { HEAD_NOTHING = 0, HEAD_ERROR = 1, HEAD_PARENT = 2 }; /* words before a node */

/* The last path, so that the next one, which usually has the same beginning, need not be searched for from the root; or the
 * position in a stream of calls and returns. Its nodes must exist: code that removes nodes sets count to 0, or spares these. */
struct trail {
    uint32_t *items;
    struct cct_node **nodes;
    size_t count, capacity;
};

struct edge {
    const struct cct_node *parent;
    struct cct_node *child;
};

struct tree {
    struct cct_node *root;
    struct slab nodes;
    struct edge *edges;  /* 1 << edge_bits entries, if the tree is large enough */
    unsigned edge_shift; /* 64 - edge_bits */
    struct table *wide;  /* number of the wide list << 32 | item -> predecessor */
    uint32_t wide_lists; /* number of numbers given out */
    uint32_t metrics;    /* values in each node */
    uint32_t head;       /* words before each node */
    /* number of stamps given out; each node has a unique one in the first of its words; 0: no node has any */
    uint64_t stamps;
    size_t count, most; /* nodes, including the root: now, and the most so far */
    size_t edges_due;   /* count from which on the cache should grow */
    uint64_t fresh;     /* initial weight and error of a node */
    size_t full;        /* from this count on, make_room() is called before a node is created */
    /* false: out of memory. *parent: of the node to be created; it may move. */
    bool (*make_room)(void *context, struct cct_node **parent);
    void *context;
    struct trail trail;
};

bool tree_init(struct tree *tree, uint32_t metrics, uint32_t head); /* false: out of memory */
/* From now on nodes have stamps, in one more word. The tree must be empty except for the root. -1: out of memory. */
int tree_stamp(struct tree *tree);
static inline uint64_t *tree_stamp_of(const struct tree *tree, const struct cct_node *node)
{
    return (uint64_t *)(uintptr_t)node - tree->head;
}
void tree_clear(struct tree *tree);
size_t tree_bytes(const struct tree *tree); /* of memory */
/* The child for `item`, created if new. NULL: out of memory. */
struct cct_node *tree_search(struct tree *tree, struct cct_node *parent, uint32_t item);
/* The node of a whole path, created if new; `trail` is then this path. NULL: out of memory; *deepest is then the last existing
 * node on it. */
struct cct_node *tree_path(struct tree *tree, const uint32_t *items, size_t count, struct cct_node **deepest);
/* Allocates all nodes up to this count from one block. The tree must be empty except for the root. -1: out of memory. */
int tree_reserve(struct tree *tree, size_t count);
/* Call it after all nodes were moved to the first `count` places of their one block, with links that are only the numbers of
 * their children. Takes ownership of an empty table for wide lists. */
void tree_recount(struct tree *tree, size_t count, struct table *wide);
/* Removes a node without children and frees it. Not for the root. */
void tree_remove(struct tree *tree, struct cct_node *parent, struct cct_node *leaf);

static inline struct cct_node *tree_child(struct tree *tree, struct cct_node *parent, uint32_t item)
{
    struct cct_node *first = parent->first_child;
    return first && first->item == item ? first : tree_search(tree, parent, item);
}

static inline void values_add(uint64_t *to, const uint64_t *values, uint32_t metrics)
{
    for (uint32_t i = 0; i < metrics; i++)
        to[i] = add_saturating(to[i], values[i]);
}

#endif
