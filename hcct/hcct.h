/*
 * hcct.h - the hot calling-context tree in bounded memory: Lazy Space Saving (HCCT paper, sections 3
 * and 4.1), weighted.
 *
 * At most 1/eps paths (rounded up) have counters; the tree holds these and their ancestors. A path's counter
 * is never below its true weight and at most eps * N above it (N: all weight so far); each counter carries
 * its own bound. The query returns every path with weight >= phi * N and none with weight <= (phi - eps) * N.
 *
 * Other metrics of a path are counted as long as it has a counter: they are what it has or less, never more.
 *
 * The paper's find-min scans an array for another counter that equals the minimum; with weights there hardly
 * is one, and each eviction would scan all. Here a heap holds lower bounds of the counters: adding to a
 * counter leaves its bound as it is (counters only grow), and an eviction repairs the top of the heap until
 * it is exact. An addition causes at most one repair later, so it costs O(log(1/eps)), amortised.
 */
#ifndef FATHOM_HCCT_HCCT_H
#define FATHOM_HCCT_HCCT_H

#include "hcct/cct.h"

struct hcct;

/* 0 < eps < 1; metrics: as in an exact tree. NULL: out of memory or eps out of range. */
struct hcct *hcct_new(double eps, uint32_t metrics);
void hcct_free(struct hcct *hcct);
/* Adds a value of each metric at the end of a path given from the root inwards. 0 or -ENOMEM (then nothing
 * was added). The empty path's values count in the totals only, and so do those beside no weight. */
int hcct_add(struct hcct *hcct, const uint32_t *items, size_t count, const uint64_t *values);
/* The (phi, eps)-HCCT now, as a new tree: hot paths with counter and error, their ancestors with self 0; the
 * root's `self` is what no hot path holds, so the totals stay. NULL: out of memory, or phi is not above
 * eps. */
struct cct *hcct_query(const struct hcct *hcct, double phi);
/* Adds another's counters, of the same metrics: a counter's error is then at most the sum of both bounds, and
 * eps the larger of both. 0 or -ENOMEM (then nothing was added). */
int hcct_merge(struct hcct *hcct, const struct hcct *other);
uint64_t hcct_total(const struct hcct *hcct);
/* A path without a counter weighs at most this: never more than eps * N. */
uint64_t hcct_unseen(const struct hcct *hcct);
size_t hcct_nodes(const struct hcct *hcct);    /* in the tree now, with the root */
size_t hcct_counters(const struct hcct *hcct); /* monitored now */

#endif
