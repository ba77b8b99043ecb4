/*
 * children.h - the lists of children that both trees stand on: found, made, taken out.
 *
 * A list is singly linked. One that has had WIDE_CHILDREN or more at a time is wide: its children are also in
 * a hash table, whose entry for a child is the child's predecessor (its parent for the first child), so that
 * taking out needs no search and no second pointer in each node. Moving a child to the front only when it was
 * found deep is what measured best (three times faster than never on call traces of an interpreter, nearly
 * free elsewhere).
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
#define NODE_NUMBER    0x3fffffffu /* how many children, or once wide, which wide list */

/* The path walked last, so that the next one, which mostly begins like it, need not be searched from the
 * root. Its nodes must be there: who removes one sets count to 0, or walks another path first. */
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
/* The child for `item`, made when new. NULL: out of memory. */
struct cct_node *tree_child(struct tree *tree, struct cct_node *parent, uint32_t item);
/* The node of a whole path, made when new. NULL: out of memory; *deepest is then the last node that there is
 * of it. */
struct cct_node *tree_path(struct tree *tree, const uint32_t *items, size_t count, struct cct_node **deepest);
/* Takes a node without children out of the tree and gives its memory back. Not the root. */
void tree_remove(struct tree *tree, struct cct_node *leaf);

static inline void values_add(uint64_t *to, const uint64_t *values, uint32_t metrics)
{
    for (uint32_t i = 0; i < metrics; i++)
        to[i] = add_saturating(to[i], values[i]);
}

#endif
