/*
 * children.h - the child lists of both trees: finding, adding and removing children.
 *
 * A list is singly linked. One that ever had WIDE_CHILDREN or more is wide: its children are also in a hash
 * table, which maps a child to its predecessor (its parent for the first child), so that removal needs no
 * search and no second pointer in each node. Moving a child to the front only if it was found deep measured
 * best (three times faster than never on call traces of an interpreter, nearly free elsewhere).
 */
#ifndef FATHOM_HCCT_CHILDREN_H
#define FATHOM_HCCT_CHILDREN_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/saturate.h"
#include "hcct/cct.h"

#define NODE_MONITORED 0x80000000u /* hcct.c: it has a counter */
#define NODE_WIDE      0x40000000u
#define NODE_NUMBER    0x3fffffffu /* number of children or, once wide, of the wide list */

/* The last path walked, so that the next one, which usually begins like it, need not be searched from the
 * root. Its nodes must exist: code that removes one sets count to 0, or walks another path first. */
struct trail {
    uint32_t *items;
    struct cct_node **nodes;
    size_t count, room;
};

struct tree {
    struct cct_node *root;
    struct arena *arena;   /* all nodes */
    struct cct_node *free; /* given back, linked by next_sibling */
    struct table *wide;    /* number of the wide list << 32 | item -> predecessor */
    uint32_t wide_lists;   /* numbers given out */
    uint32_t metrics;      /* values in each node */
    size_t count;          /* nodes, with the root */
    struct trail trail;
};

bool tree_init(struct tree *tree, uint32_t metrics); /* false: out of memory */
void tree_clear(struct tree *tree);
/* The child for `item`, created if new. NULL: out of memory. */
struct cct_node *tree_child(struct tree *tree, struct cct_node *parent, uint32_t item);
/* The node of a whole path, created if new. NULL: out of memory; *deepest is then the last existing node on
 * it. */
struct cct_node *tree_path(struct tree *tree, const uint32_t *items, size_t count, struct cct_node **deepest);
/* Removes a node without children and frees it. Not for the root. */
void tree_remove(struct tree *tree, struct cct_node *leaf);

static inline void values_add(uint64_t *to, const uint64_t *values, uint32_t metrics)
{
    for (uint32_t i = 0; i < metrics; i++)
        to[i] = add_saturating(to[i], values[i]);
}

#endif
