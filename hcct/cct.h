/*
 * cct.h - the exact calling-context tree: one node per path, with its weight added up (HCCT paper,
 * section 2.1).
 *
 * A tree counts one metric or several. The first one is the weight; the others stand beside it, and their
 * meaning is the caller's as that of items is. The values of all are always handed over together.
 *
 * Items are numbers that the caller gives meaning to (a frame table's). First child, next sibling; a child
 * found far down its list moves to the front, and nodes with many children find them by hash. Values stay at
 * the largest one rather than wrap round. Nothing recurses over the tree's depth.
 */
#ifndef FATHOM_HCCT_CCT_H
#define FATHOM_HCCT_CCT_H

#include <stddef.h>
#include <stdint.h>

struct cct;

struct cct_node {
    struct cct_node *parent, *first_child, *next_sibling; /* NULL at the ends; the root has no parent */
    uint32_t item;
    uint32_t links;  /* of children.c alone */
    uint64_t error;  /* at most this much of self[0] may not be its own; 0 in an exact tree */
    uint64_t self[]; /* of the samples that end here: their weight, then the tree's other metrics */
};
_Static_assert(sizeof(struct cct_node) == 40, "millions of them, with 8 bytes for each metric");

struct cct *cct_new(uint32_t metrics); /* 1 or more. NULL: out of memory */
void cct_free(struct cct *cct);
struct cct_node *cct_root(struct cct *cct);
/* The child for `item`, created if new; NULL: out of memory. Nodes never move and are never removed, but the
 * order of siblings may change. */
struct cct_node *cct_child(struct cct *cct, struct cct_node *parent, uint32_t item);
/* Adds a value of each metric at the end of a path given from the root inwards. NULL: out of memory. */
struct cct_node *cct_add(struct cct *cct, const uint32_t *items, size_t count, const uint64_t *values);
/* Adds them at a node of this tree. */
void cct_weigh(struct cct *cct, struct cct_node *node, const uint64_t *values);
/* Adds all of `other` (threads, processes, machines), which is another tree of the same metrics, into cct. 0
 * or -ENOMEM. */
int cct_merge(struct cct *cct, const struct cct *other);
uint64_t cct_total(const struct cct *cct); /* weight added */
size_t cct_count(const struct cct *cct);   /* nodes, with the root */

/* The node after `node` in a walk of the tree below `top`, parents before children: start with top itself;
 * NULL at the end. */
static inline struct cct_node *cct_next(const struct cct_node *top, struct cct_node *node)
{
    if (node->first_child)
        return node->first_child;
    while (node != top && !node->next_sibling)
        node = node->parent;
    return node == top ? NULL : node->next_sibling;
}

#endif
