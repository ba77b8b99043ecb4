/*
 * circulation.h - minimum-cost circulation: how much flows along each arc of a graph so that as much leaves each node as comes in, no arc has more than its
 * capacity, and the sum of all costs is the least. By the network simplex method with strongly feasible trees (Ahuja, Magnanti and Orlin, "Network Flows",
 * 1993, 11.5 to 11.7; Cunningham 1976), exact in integers.
 */
#ifndef FATHOM_BASE_CIRCULATION_H
#define FATHOM_BASE_CIRCULATION_H

#include <stddef.h>
#include <stdint.h>

#define CIRCULATION_UNBOUNDED INT64_MAX

struct circulation_arc {
    uint32_t from, to; /* nodes, from 0 on */
    int64_t cost;      /* of each unit that flows; at most 2^20 either way */
    int64_t capacity;  /* at least 0 */
    int64_t flow;      /* result: 0 to the capacity */
};

/* Costs can be negative, but each cycle of negative cost must have an arc of bounded capacity. work: how many nodes and arcs may be looked at, some
 * ns each; those that were are taken off. 0, -ENOMEM, or -E2BIG: it was used up before the least cost was found: what flows is a circulation all the same. */
int circulation_solve(struct circulation_arc *arcs, size_t count, uint32_t nodes, uint64_t *work);

#endif
