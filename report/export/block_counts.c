/* block_counts.c - see block_counts.h. */
#include "report/export/block_counts.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/circulation.h"

#define LARGEST 1e9 /* largest count in the calculation, which uses integers */
#define COST    200 /* per unit of difference from the measured count, times the root of the instructions */
#define CALLS   16  /* number of instructions for COST, for a function's calls */
/* If the counts explain a smaller part of a function's weight than this, it has so few samples that most blocks that ran have none.
 * Then, as in a Poisson distribution, a sample says much, and no sample says little. Chosen on clang and perl, by callgrind's counts. */
#define SPARSE_LEAST 0.02

/* Cost of differing from a measured count, piecewise linear, as parallel arcs. Small differences cost little, as chance and instructions
 * that do not take equally long cause them. */
static const struct {
    double until;     /* times the measured count */
    int cost, sparse; /* sparse: see SPARSE_LEAST */
} parts[] = {{1.0 / 30, -10, -300}, {1.0 / 3, -10, -30}, {2.0 / 3, -10, -8}, {1, -2, 2},
             {1.5, 2, 6},           {INFINITY, 10, 10}};
#define PARTS (sizeof parts / sizeof *parts)

/* Nodes: the begin and the end of each block; then nodes that are not blocks. */
static uint32_t node_of(const struct blocks *b, uint32_t block, bool end)
{
    return block == BLOCK_OUTSIDE ? 2 * b->block_count
           : block == BLOCK_ANY   ? 2 * b->block_count + 1
                                  : 2 * block + end;
}

static void set_measured(struct circulation_arc arcs[PARTS], uint32_t from, uint32_t to, double count,
                         double instructions, bool sparse)
{
    const int64_t cost = llround(COST * sqrt(instructions));
    int64_t at = 0;
    for (size_t i = 0; i < PARTS; i++) {
        const int64_t end = isinf(parts[i].until) ? CIRCULATION_UNBOUNDED : llround(count * parts[i].until);
        arcs[i] = (struct circulation_arc){.from = from,
                                           .to = to,
                                           .cost = cost * (sparse ? parts[i].sparse : parts[i].cost),
                                           .capacity = end};
        if (end != CIRCULATION_UNBOUNDED)
            arcs[i].capacity -= at;
        at = end;
    }
}

static double flow_of(const struct circulation_arc arcs[PARTS])
{
    double sum = 0;
    for (size_t i = 0; i < PARTS; i++)
        sum += (double)arcs[i].flow;
    return sum;
}

/* scale: from counts to flow. */
static void set_arcs(const struct blocks *b, const struct block_samples *s, const uint32_t *length,
                     double scale, bool sparse, struct circulation_arc *arcs)
{
    for (uint32_t i = 0; i < b->block_count; i++, arcs += PARTS)
        set_measured(arcs, node_of(b, i, false), node_of(b, i, true), s->weight[i] / length[i] * scale,
                     length[i], sparse);
    for (uint32_t i = 0; i < b->edge_count; i++, arcs += PARTS) {
        const struct block_edge *e = &b->edges[i];
        const uint32_t from = node_of(b, e->from, true), to = node_of(b, e->to, false);
        if (e->from == BLOCK_OUTSIDE && e->to == s->entry && s->calls > 0)
            set_measured(arcs, from, to, s->calls * scale, CALLS, sparse);
        else
            arcs[0] = (struct circulation_arc){.from = from, .to = to, .capacity = CIRCULATION_UNBOUNDED};
    }
}

/* The part of the samples' weight that the flow explains, in units of the arcs. */
static double told_of(const struct blocks *b, const struct block_samples *s, const uint32_t *length,
                      const struct circulation_arc *arcs)
{
    double told = 0, all = 0;
    for (uint32_t i = 0; i < b->block_count; i++) {
        told += flow_of(&arcs[i * PARTS]) * length[i];
        all += s->weight[i];
    }
    return all > 0 ? told / all : INFINITY;
}

int block_counts_find(const struct blocks *b, const struct block_samples *s, double *counts, double *edges,
                      uint64_t *work)
{
    const size_t count = PARTS * ((size_t)b->block_count + b->edge_count);
    struct circulation_arc *arcs = calloc(count + 1, sizeof *arcs), *at = arcs;
    uint32_t *length = calloc((size_t)b->block_count + 1, sizeof *length);
    double most = s->calls;
    int rc = arcs && length ? 0 : -ENOMEM;
    for (uint32_t i = 0; rc == 0 && i < b->count; i++)
        length[b->blocks[i]]++;
    for (uint32_t i = 0; rc == 0 && i < b->block_count; i++)
        most = fmax(most, s->weight[i] / length[i]);
    if (rc == 0 && most > 0) {
        set_arcs(b, s, length, LARGEST / most, false, arcs);
        rc = circulation_solve(arcs, count, 2 * b->block_count + 2, work);
        if (rc == 0 && told_of(b, s, length, arcs) * most / LARGEST < SPARSE_LEAST) {
            set_arcs(b, s, length, LARGEST / most, true, arcs);
            rc = circulation_solve(arcs, count, 2 * b->block_count + 2, work);
        }
    }
    for (uint32_t i = 0; rc != -ENOMEM && i < b->block_count; i++, at += PARTS)
        counts[i] = flow_of(at) / LARGEST * most;
    for (uint32_t i = 0; rc != -ENOMEM && i < b->edge_count; i++, at += PARTS)
        edges[i] = flow_of(at) / LARGEST * most;
    free(arcs);
    free(length);
    return rc == -E2BIG ? 1 : rc;
}
