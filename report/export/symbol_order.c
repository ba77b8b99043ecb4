/*
 * symbol_order.c - see export.h. An order of functions in memory for linkers: each after the one that calls it most, hot ones together, so
 * that they share pages and cache lines (call-chain clustering: Ottoni and Maher, "Optimizing Function Placement for Large-Scale Data-Center
 * Applications", CGO 2017, section 3).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/saturate.h"
#include "base/sort.h"
#include "base/text.h"
#include "base/vec.h"
#include "report/export/export.h"
#include "report/export/run_counts.h"
#include "report/text/printer.h"

#define CLUSTER_MOST (1u << 20) /* bytes of a joined cluster */
#define DENSITY_LOSS 8          /* a cluster may make its caller's at most this many times less dense */
#define NONE         UINT32_MAX

struct cluster {
    uint32_t first, last; /* functions */
    double weight, bytes;
};

struct placed {
    uint32_t cluster, next;
    uint32_t caller; /* the one that calls it most; NONE: unknown */
    double calls;    /* by that caller */
};

struct ordering {
    struct run_counts runs;
    struct placed *functions; /* in the order of `runs` */
    struct cluster *clusters; /* initially one for each function */
    uint32_t *order;
    size_t left_out; /* functions without a symbol that linkers can find */
};

/* false: out of memory. */
static bool find_callers(struct ordering *o, struct table *sums)
{
    for (uint32_t i = 0; i < o->runs.count; i++) {
        const struct counted_function *f = &o->runs.functions[i];
        for (uint32_t k = 0; k < f->blocks.call_count; k++) {
            const struct block_call *call = &f->blocks.calls[k];
            const struct counted_function *to = run_counts_at(&o->runs, f->image, call->target);
            if (!to || to == f)
                continue;
            const uint32_t callee = (uint32_t)(to - o->runs.functions);
            struct placed *placed = &o->functions[callee];
            uint64_t *sum = table_put(sums, (uint64_t)callee << 32 | i, NULL);
            if (!sum)
                return false;
            *sum = add_saturating(*sum, count_saturating(f->counts[f->blocks.blocks[call->insn]]));
            if ((double)*sum > placed->calls) {
                placed->caller = i;
                placed->calls = (double)*sum;
            }
        }
    }
    return true;
}

static double density(double weight, double bytes)
{
    return weight / (bytes > 1 ? bytes : 1);
}

/* Appends a function's cluster to that of its main caller. */
static void join_clusters(struct ordering *o, uint32_t function)
{
    const struct placed *f = &o->functions[function];
    if (f->caller == NONE)
        return;
    const uint32_t into = o->functions[f->caller].cluster;
    struct cluster *a = &o->clusters[into], *b = &o->clusters[f->cluster];
    if (a == b || a->bytes + b->bytes > CLUSTER_MOST ||
        density(a->weight + b->weight, a->bytes + b->bytes) < density(a->weight, a->bytes) / DENSITY_LOSS)
        return;
    o->functions[a->last].next = b->first;
    a->last = b->last;
    a->weight += b->weight;
    a->bytes += b->bytes;
    for (uint32_t i = b->first; i != NONE; i = o->functions[i].next)
        o->functions[i].cluster = into;
    b->weight = 0;
    b->first = NONE;
}

static int by_weight(const void *a, const void *b, void *ordering)
{
    const struct ordering *o = ordering;
    const uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    const double x = o->runs.functions[i].sampled, y = o->runs.functions[j].sampled;
    return order_of(y, x) ?: order_of(i, j);
}

static int by_density(const void *a, const void *b, void *ordering)
{
    const struct ordering *o = ordering;
    const uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    const double x = density(o->clusters[i].weight, o->clusters[i].bytes),
                 y = density(o->clusters[j].weight, o->clusters[j].bytes);
    return order_of(y, x) ?: order_of(i, j);
}

static int begin_ordering(struct ordering *o, struct fathom_error *err)
{
    const size_t count = o->runs.count;
    o->functions = calloc(count + 1, sizeof *o->functions);
    o->clusters = calloc(count + 1, sizeof *o->clusters);
    o->order = calloc(count + 1, sizeof *o->order);
    if (!o->functions || !o->clusters || !o->order)
        return error_memory(err);
    for (uint32_t i = 0; i < count; i++) {
        const struct counted_function *f = &o->runs.functions[i];
        o->order[i] = i;
        o->functions[i] = (struct placed){i, NONE, NONE, 0};
        o->clusters[i] =
            (struct cluster){i, i, f->sampled, (double)image_function(f->image, f->function)->size};
    }
    return 0;
}

static void write_cluster(struct printer *p, struct ordering *o, const struct cluster *c)
{
    for (uint32_t i = c->first; i != NONE; i = o->functions[i].next) {
        const struct counted_function *f = &o->runs.functions[i];
        const char *symbol = image_function(f->image, f->function)->name;
        if (image_function_is_stub(f->image, f->function))
            continue; /* made by the linker */
        /* To linkers, a line is a symbol, or a comment if it begins with '#'. */
        if (symbol && *symbol != '#' && text_is_word(symbol))
            printer_write(p, "%s\n", symbol);
        else
            o->left_out++;
    }
}

int symbol_order_write(const struct report *report, FILE *out, struct fathom_error *err)
{
    struct printer p = {.out = out};
    struct ordering o = {0};
    struct table *sums = table_new();
    int rc = sums ? run_counts_find(report, &o.runs, err) : error_memory(err);
    rc = rc == 0 ? begin_ordering(&o, err) : rc;
    if (rc == 0 && !find_callers(&o, sums))
        rc = error_memory(err);
    if (rc == 0) {
        qsort_r(o.order, o.runs.count, sizeof *o.order, by_weight, &o);
        for (size_t i = 0; i < o.runs.count; i++)
            join_clusters(&o, o.order[i]);
        qsort_r(o.order, o.runs.count, sizeof *o.order, by_density, &o);
        for (size_t i = 0; i < o.runs.count; i++)
            write_cluster(&p, &o, &o.clusters[o.order[i]]);
        if (o.left_out)
            log_write(report->log, LOG_NOTE,
                      "sampled functions without a symbol that a linker would find: %zu", o.left_out);
    }
    run_counts_clear(&o.runs);
    table_free(sums);
    free(o.functions);
    free(o.clusters);
    free(o.order);
    return rc == 0 ? printer_finish(&p, err) : rc;
}
