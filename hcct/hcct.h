/*
 * hcct.h - the hot calling-context tree in bounded memory: Lazy Space Saving (HCCT paper, sections 3
 * and 4.1), weighted.
 *
 * At most 1/eps paths (rounded up) have counters; the tree holds these and their ancestors. A path's counter
 * is never below its true weight and at most eps * N above it (N: all weight so far); each counter carries
 * its own bound. The query returns every path with weight >= phi * N and none with weight <= (phi - eps) * N.
 *
 * The paper's find-min scans an array for another counter equal to the minimum; with weights there is rarely
 * one, and each eviction would scan all. Here a heap holds lower bounds of the counters: adding to a counter
 * leaves its bound unchanged (counters only grow), and an eviction repairs the top of the heap until it is
 * exact. An addition causes at most one repair later, so it costs O(log(1/eps)), amortised.
 */
#ifndef FATHOM_HCCT_HCCT_H
#define FATHOM_HCCT_HCCT_H

#include "hcct/cct.h"

struct hcct;

/* 0 < eps < 1. NULL: out of memory or eps out of range. */
struct hcct *hcct_new(double eps);
void hcct_free(struct hcct *hcct);
/* Adds weight at the end of a path given from the root inwards. 0 or -ENOMEM (then nothing was added). The
 * empty path's weight counts in the total only. */
int hcct_add(struct hcct *hcct, const uint32_t *items, size_t count, uint64_t weight);
/* The current (phi, eps)-HCCT as a new tree: hot paths with counter and error, their ancestors with self 0;
 * the root's `self` is the weight not on any hot path, so the total is preserved. NULL: out of memory, or phi
 * <= eps. */
struct cct *hcct_query(const struct hcct *hcct, double phi);
/* Adds another HCCT's counters: a counter's error is then at most the sum of both bounds, and eps the larger
 * of the two. 0 or -ENOMEM (then nothing was added). */
int hcct_merge(struct hcct *hcct, const struct hcct *other);
uint64_t hcct_total(const struct hcct *hcct);
/* A path without a counter weighs at most this: never more than eps * N. */
uint64_t hcct_unseen(const struct hcct *hcct);
size_t hcct_nodes(const struct hcct *hcct);    /* in the tree now, with the root */
size_t hcct_counters(const struct hcct *hcct); /* monitored now */

#endif
