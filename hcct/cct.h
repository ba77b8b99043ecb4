/*
 * cct.h - the exact calling-context tree: one node per path, with its weight summed up (HCCT paper, section 2.1). Queries of a
 * counter (hcct.h) also return one.
 *
 * A tree counts one metric or several. The first one is the weight; the caller decides what the others are, and what items are
 * (indices in a table of frames). The values of all metrics are always passed together.
 *
 * Values saturate instead of wrapping round. Nothing recurses over the tree's depth.
 */
#ifndef FATHOM_HCCT_CCT_H
#define FATHOM_HCCT_CCT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cct;

struct cct_node {
    struct cct_node *first_child, *next_sibling; /* NULL at the end */
    uint32_t item;
    uint32_t links;  /* used by children.c only */
    uint64_t self[]; /* of the samples that end here: their weight, then the tree's other metrics */
};
_Static_assert(sizeof(struct cct_node) == 24, "millions of them, with 8 bytes for each metric");

/* Words before a node, if its kind of tree has them (children.h). */
static inline struct cct_node **cct_parent_of(const struct cct_node *node)
{
    return (struct cct_node **)(uintptr_t)node - 2;
}

static inline uint64_t *cct_error_of(const struct cct_node *node)
{
    return (uint64_t *)(uintptr_t)node - 1;
}

/* NULL: the root. */
static inline struct cct_node *cct_parent(const struct cct_node *node)
{
    return *cct_parent_of(node);
}

/* At most this much of self[0] does not belong to the node; 0 in an exact tree. */
static inline uint64_t cct_error(const struct cct_node *node)
{
    return *cct_error_of(node);
}

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
/* Adds a node of such a tree, and everything below it, to a node of cct. items: by item of the other tree, the item in this
 * one; NULL: the same. O(nodes), whatever the depth. 0 or -ENOMEM. */
int cct_graft(struct cct *cct, struct cct_node *to, const struct cct_node *top, const uint32_t *items);
/* A new tree of the nodes that keep() chooses, without the root, and their ancestors, which have no weight unless they are
 * chosen. values: the node's own, which keep() may change. O(nodes), whatever the depth. NULL: out of memory. */
struct cct *cct_choose(struct cct *from,
                       bool (*keep)(void *context, const struct cct_node *node, uint64_t *values),
                       void *context);
/* All nodes except the root that have weight of their own, the heaviest first. Returns how many, and *nodes, owned by the
 * caller; or -ENOMEM, and *nodes is NULL. */
int64_t cct_heaviest(struct cct *cct, struct cct_node ***nodes);
/* For qsort(3), of pointers to nodes: heavier ones first. */
int cct_heavier_first(const void *a, const void *b);
uint64_t cct_total(const struct cct *cct); /* weight added */
size_t cct_count(const struct cct *cct);   /* nodes, with the root */

/* The first node after `node` and all below it in a walk of the tree below `top`; NULL at the end. */
static inline struct cct_node *cct_next_beside(const struct cct_node *top, struct cct_node *node)
{
    while (node != top && !node->next_sibling)
        node = cct_parent(node);
    return node == top ? NULL : node->next_sibling;
}

/* The node after `node` in that walk, parents before children: start with top itself. */
static inline struct cct_node *cct_next(const struct cct_node *top, struct cct_node *node)
{
    return node->first_child ? node->first_child : cct_next_beside(top, node);
}

#endif
