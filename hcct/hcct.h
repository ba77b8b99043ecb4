/*
 * hcct.h - the hot calling-context tree in bounded memory: Lazy Space Saving (HCCT paper, sections 3
 * and 4.1), weighted.
 *
 * At most 1/eps paths have counters; the tree holds these and their ancestors. A path's counter is never
 * below its true weight and at most eps * N above it (N: all weight so far); each counter carries its own
 * bound. The query returns every path with weight >= phi * N and none with weight <= (phi - eps) * N.
 */
#ifndef FATHOM_HCCT_HCCT_H
#define FATHOM_HCCT_HCCT_H

#include "hcct/cct.h"

struct hcct;

/* 0 < eps < 1. NULL: out of memory or eps out of range. */
struct hcct *hcct_new(double eps);
void hcct_free(struct hcct *hcct);
/* Adds weight at the end of a path given from the root inwards. 0 or -ENOMEM. */
int hcct_add(struct hcct *hcct, const uint32_t *items, size_t count, uint64_t weight);
/* The (phi, eps)-HCCT now, as a new tree: hot paths with counter and error, their ancestors with self 0; the
 * root's `self` is the weight that no hot path holds, so the total stays. phi > eps. NULL: out of memory. */
struct cct *hcct_query(const struct hcct *hcct, double phi);
/* Adds another's counters; the bound is then the sum of both. 0 or -ENOMEM. */
int hcct_merge(struct hcct *hcct, const struct hcct *other);
uint64_t hcct_total(const struct hcct *hcct);
size_t hcct_nodes(const struct hcct *hcct);    /* in the tree now */
size_t hcct_counters(const struct hcct *hcct); /* monitored now */

#endif
