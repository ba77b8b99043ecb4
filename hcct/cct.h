/*
 * cct.h - the exact calling-context tree: one node for each path, weights added up (HCCT paper, section 2.1).
 *
 * Items are numbers that the caller gives meaning to (a frame table's). First-child, next-sibling; a child
 * found far down its list moves to the front.
 */
#ifndef FATHOM_HCCT_CCT_H
#define FATHOM_HCCT_CCT_H

#include <stddef.h>
#include <stdint.h>

struct cct;

struct cct_node {
    struct cct_node *parent, *first_child, *next_sibling; /* NULL at the ends; the root has no parent */
    uint32_t item;
    uint64_t self;  /* weight of samples that end here */
    uint64_t error; /* at most this much of `self` may not be its own; 0 in an exact tree */
};

struct cct *cct_new(void); /* NULL: out of memory */
void cct_free(struct cct *cct);
struct cct_node *cct_root(struct cct *cct);
/* The child for `item`, made when new; NULL: out of memory. Nodes never move or go away. */
struct cct_node *cct_child(struct cct *cct, struct cct_node *parent, uint32_t item);
/* Adds weight at the end of a path given from the root inwards. NULL: out of memory. */
struct cct_node *cct_add(struct cct *cct, const uint32_t *items, size_t count, uint64_t weight);
/* Adds all of `other` (threads, processes, machines) into cct. 0 or -ENOMEM. */
int cct_merge(struct cct *cct, const struct cct *other);
uint64_t cct_total(const struct cct *cct); /* weight added */
size_t cct_count(const struct cct *cct);   /* nodes, with the root */

#endif
