/*
 * children.h - the nodes and child lists of all trees: finding, adding and removing children.
 *
 * A list is singly linked. A child that is not the first one is looked for in a direct-mapped cache of edges, and then
 * in the list; a child found deep in it moves to the front. On call traces the cache makes a tree of millions of nodes
 * twice as fast. A list that had WIDE_CHILDREN or more is wide: its children are also in a hash table, which
 * maps a child to its predecessor (its parent for the first child), so that removal needs no search and no second
 * pointer in each node.
 *
 * What a kind of tree needs beside a node's links, item and values stands in front of the node: HEAD_ERROR one word,
 * HEAD_PARENT another one before it; further words are the kind's own.
 */
#ifndef FATHOM_HCCT_CHILDREN_H
#define FATHOM_HCCT_CHILDREN_H

#include <stdbool.h>

#include "base/hash.h"
#include "base/saturate.h"
#include "hcct/cct.h"
#include "hcct/slab.h"

#define NODE_MONITORED 0x80000000u /* it has a counter; of the counters that mark it */
#define NODE_WIDE      0x40000000u
#define NODE_HELD      0x20000000u /* on the path where a thread is: not to be removed */
#define NODE_LIVE      0x10000000u /* of hcct_compact.c alone */
#define NODE_NUMBER    0x0fffffffu /* number of children or, once wide, of the wide list */

enum { HEAD_NOTHING = 0, HEAD_ERROR = 1, HEAD_PARENT = 2 }; /* words in front of a node */

/* The last path walked, so that the next one, which usually begins like it, need not be searched from the
 * root; or where a stream of calls and returns is. Its nodes must exist: code that removes one sets count to 0, or
 * spares those. */
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
    struct edge *edges;  /* 1 << edge_bits, where the tree is large enough for them */
    unsigned edge_shift; /* 64 - edge_bits */
    struct table *wide;  /* number of the wide list << 32 | item -> predecessor */
    uint32_t wide_lists; /* numbers given out */
    uint32_t metrics;    /* values in each node */
    uint32_t head;       /* words in front of each node */
    uint64_t
        stamps; /* given out; each node has one, which no other ever has, in the first of its words; 0: none have */
    size_t count, most; /* nodes, with the root: now, and at most so far */
    size_t edges_due;   /* count from which there are to be more edges */
    uint64_t fresh;     /* the weight of a new node and its error */
    size_t full;        /* at this count make_room() is called before a node is made */
    /* false: out of memory. *parent: of the node to be made; it may move. */
    bool (*make_room)(void *context, struct cct_node **parent);
    void *context;
    struct trail trail;
};

bool tree_init(struct tree *tree, uint32_t metrics, uint32_t head); /* false: out of memory */
/* Nodes have stamps from now on, in a word more. For a tree without any but the root. -1: out of memory. */
int tree_stamp(struct tree *tree);
static inline uint64_t *tree_stamp_of(const struct tree *tree, const struct cct_node *node)
{
    return (uint64_t *)(uintptr_t)node - tree->head;
}
void tree_clear(struct tree *tree);
size_t tree_bytes(const struct tree *tree); /* of memory */
/* The child for `item`, created if new. NULL: out of memory. */
struct cct_node *tree_search(struct tree *tree, struct cct_node *parent, uint32_t item);
/* The node of a whole path, created if new. NULL: out of memory; *deepest is then the last existing node on
 * it. The trail leads there. */
struct cct_node *tree_path(struct tree *tree, const uint32_t *items, size_t count, struct cct_node **deepest);
/* Puts all nodes up to this count into one block. -1: out of memory. For a tree without any but the root. */
int tree_reserve(struct tree *tree, size_t count);
/* All nodes are elsewhere now, in the first `count` places of their one block, and their links are only the numbers of
 * their children. Takes an empty table for wide lists. */
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
