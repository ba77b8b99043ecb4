/* graph_statics.c - see graph_statics.h. */
#include "infer/model/graph_statics.h"

#include <errno.h>
#include <stdlib.h>

#include "base/sort.h"

/* Weight of what the loader runs before the program, relative to the program itself, which runs longer. */
#define LOADER 0.01

static struct graph_edge edge_of(const struct static_edge *e, double weight)
{
    uint32_t caller = e->caller == STATIC_ROOT ? GRAPH_ROOT : e->caller;
    return (struct graph_edge){caller, e->rise, e->site, weight, e->open, e->through};
}

/* How often a call is made per run of its caller. */
static double weight_of(const struct statics *statics, const struct static_edge *edge)
{
    for (size_t i = 0; edge->caller == STATIC_ROOT && i < statics->start_count; i++)
        if (statics->starts[i].function == edge->callee && !statics->starts[i].only)
            return LOADER;
    return 1;
}

static bool make_calls(const struct statics *statics, struct graph_calls *out)
{
    out->calls = malloc((statics->count + 1) * sizeof *out->calls);
    if (!out->calls)
        return false;
    for (size_t i = 0; i < statics->count; i++) {
        const struct static_edge *edge = &statics->edges[i];
        out->calls[out->count++] = (struct graph_call){edge->callee, edge_of(edge, weight_of(statics, edge))};
    }
    return true;
}

static bool make_class(const struct static_class *class, struct graph_class *out)
{
    *out = (struct graph_class){.callers = malloc((class->count + 1) * sizeof *out->callers),
                                .targets = malloc((class->target_count + 1) * sizeof *out->targets)};
    if (!out->callers || !out->targets)
        return false;
    for (size_t i = 0; i < class->count; i++)
        out->callers[out->caller_count++] = edge_of(&class->edges[i], class->share);
    for (size_t i = 0; i < class->target_count; i++)
        out->targets[out->target_count++] = class->targets[i];
    return true;
}

static int in_order(const void *a, const void *b)
{
    const struct graph_edge *x = a, *y = b;
    return graph_compare_edges(x, y) ?: order_of(x->through, y->through) ?: order_of(x->site, y->site);
}

/* Sort keys: the callee, with calls from frames of open size after the others; the caller. */
static size_t by_callee(const struct graph_call *call)
{
    return 2 * (size_t)call->callee + call->edge.open;
}

static size_t by_caller(const struct graph_call *call)
{
    return call->edge.caller == GRAPH_ROOT ? 0 : (size_t)call->edge.caller + 1;
}

/* Copies calls in the order of the keys, stably. false: out of memory. */
static bool distribute_calls(const struct graph_call *calls, size_t count,
                             size_t (*key)(const struct graph_call *), struct graph_call *out)
{
    size_t most = 0;
    for (size_t i = 0; i < count; i++)
        most = key(&calls[i]) > most ? key(&calls[i]) : most;
    size_t *next = calloc(most + 2, sizeof *next);
    if (!next)
        return false;
    for (size_t i = 0; i < count; i++)
        next[key(&calls[i]) + 1]++;
    for (size_t k = 1; k <= most; k++)
        next[k] += next[k - 1];
    for (size_t i = 0; i < count; i++)
        out[next[key(&calls[i])]++] = calls[i];
    free(next);
    return true;
}

static int compare_calls(const void *a, const void *b)
{
    const struct graph_call *x = a, *y = b;
    return in_order(&x->edge, &y->edge);
}

/* Sorts the calls of each callee by one caller, which are consecutive and mostly sorted. */
static void sort_each(struct graph_call *calls, size_t count)
{
    bool sorted = true;
    for (size_t from = 0, i = 1; i <= count; i++) {
        bool same = i < count && by_callee(&calls[i]) == by_callee(&calls[from]) &&
                    calls[i].edge.caller == calls[from].edge.caller;
        sorted = sorted && (!same || compare_calls(&calls[i - 1], &calls[i]) <= 0);
        if (same)
            continue;
        if (!sorted)
            qsort(calls + from, i - from, sizeof *calls, compare_calls);
        from = i;
        sorted = true;
    }
}

int graph_calls_sort(struct graph_calls *calls)
{
    struct graph_call *other = malloc((calls->count + 1) * sizeof *other);
    bool good = other && distribute_calls(calls->calls, calls->count, by_caller, other) &&
                distribute_calls(other, calls->count, by_callee, calls->calls);
    free(other);
    if (good)
        sort_each(calls->calls, calls->count);
    for (size_t i = 0; i < calls->class_count; i++)
        qsort(calls->classes[i].callers, calls->classes[i].caller_count, sizeof *calls->classes[i].callers,
              in_order);
    return good ? 0 : -ENOMEM;
}

int graph_calls_of(const struct statics *statics, struct graph_calls *out)
{
    struct graph_calls calls = {.classes = calloc(statics->class_count + 1, sizeof *calls.classes)};
    bool good = calls.classes && make_calls(statics, &calls);
    for (size_t i = 0; good && i < statics->class_count; i++)
        good = make_class(&statics->classes[i], &calls.classes[calls.class_count++]);
    calls.ends = malloc((statics->end_count + 1) * sizeof *calls.ends);
    good &= calls.ends != NULL;
    for (size_t i = 0; good && i < statics->end_count; i++)
        calls.ends[calls.end_count++] = statics->ends[i];
    if (!good || graph_calls_sort(&calls) < 0) {
        graph_calls_free(&calls);
        return -ENOMEM;
    }
    *out = calls;
    return 0;
}

void graph_calls_free(struct graph_calls *calls)
{
    for (size_t i = 0; i < calls->class_count; i++) {
        free(calls->classes[i].callers);
        free(calls->classes[i].targets);
    }
    free(calls->calls);
    free(calls->classes);
    free(calls->ends);
    *calls = (struct graph_calls){0};
}
