/* graph.c - edges sorted by function, and by (function, next); see graph.h. */
#include "infer/graph.h"

#include <stdlib.h>

#include "base/hash.h"

/* One sight of an edge. Sorted by (next, function, caller, rise, site), equal ones become one. */
struct sight {
    uint32_t next, function;
    struct graph_edge edge;
};

struct span {
    uint32_t first, count;
    double weight;
};

struct graph {
    const struct pathmap *map; /* borrowed */
    struct graph_edge *edges;  /* those of `all` and of `pairs`, span by span */
    uint32_t edge_count;
    struct span *all; /* by function */
    uint32_t functions;
    struct span *fixed; /* by function: static callers */
    struct span *pairs;
    uint32_t pair_count;
    struct table *pair_of; /* function << 32 | next -> index in pairs */
};

#define ANY   UINT32_MAX       /* as `next`: whatever it was */
#define FIXED (UINT32_MAX - 3) /* as `next`: the binary shows it */

static int compare_sights(const void *a, const void *b)
{
    const struct sight *x = a, *y = b;
    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    if (x->next != y->next)
        return x->next < y->next ? -1 : 1;
    if (x->edge.caller != y->edge.caller)
        return x->edge.caller < y->edge.caller ? -1 : 1;
    if (x->edge.rise != y->edge.rise)
        return x->edge.rise < y->edge.rise ? -1 : 1;
    return x->edge.weight > y->edge.weight ? -1 : x->edge.weight < y->edge.weight;
}

static int compare_weights(const void *a, const void *b)
{
    const struct graph_edge *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    if (x->caller != y->caller)
        return x->caller < y->caller ? -1 : 1;
    return x->rise < y->rise ? -1 : x->rise > y->rise;
}

/* What the map saw: for every node its call, once for any next and once for each next. Returns their number.
 */
static size_t collect(const struct pathmap *map, struct sight *sights)
{
    size_t count = 0;
    uint32_t nodes = pathmap_node_count(map);
    for (uint32_t i = 0; i < nodes; i++) {
        struct pathmap_node node = pathmap_node(map, i);
        if (!pathmap_node_sound(map, i))
            continue;
        struct graph_edge edge = {GRAPH_ROOT, node.height, node.site, (double)node.passes};
        if (node.parent != PATHMAP_NONE) {
            struct pathmap_node parent = pathmap_node(map, node.parent);
            edge.caller = parent.function;
            edge.rise = node.height - parent.height;
            struct graph_edge outer = {GRAPH_ROOT, parent.height, parent.site, (double)node.passes};
            if (parent.parent != PATHMAP_NONE) {
                struct pathmap_node grand = pathmap_node(map, parent.parent);
                outer.caller = grand.function;
                outer.rise = parent.height - grand.height;
            }
            sights[count++] = (struct sight){node.function, parent.function, outer};
        }
        sights[count++] = (struct sight){ANY, node.function, edge};
        if (node.self) {
            edge.weight = (double)node.self;
            sights[count++] = (struct sight){GRAPH_LEAF, node.function, edge};
        }
    }
    return count;
}

/* Makes equal edges one (the site of the heaviest stays, as they are sorted), in place. */
static size_t unite(struct sight *sights, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        struct sight *last = kept ? &sights[kept - 1] : NULL;
        if (last && last->function == sights[i].function && last->next == sights[i].next &&
            last->edge.caller == sights[i].edge.caller && last->edge.rise == sights[i].edge.rise)
            last->edge.weight += sights[i].edge.weight;
        else
            sights[kept++] = sights[i];
    }
    return kept;
}

static bool function_hooked(const struct pathmap *map, uint32_t function)
{
    return pathmap_image(map, pathmap_function(map, function).image).hooked;
}

static int compare_callers(const void *a, const void *b)
{
    const struct graph_edge *x = a, *y = b;
    if (x->caller != y->caller)
        return x->caller < y->caller ? -1 : 1;
    return x->rise < y->rise ? -1 : x->rise > y->rise;
}

/* How often training saw the caller of an edge. */
static double caller_weight(const struct graph *g, const struct graph_edge *edge)
{
    return edge->caller == GRAPH_ROOT ? 0 : g->all[edge->caller].weight;
}

/* Static callers that training saw too go out of the static ones, as do those that it never saw beside some
 * that it saw; all of them where training saw every call of the function. */
static void drop_seen(struct graph *g)
{
    for (uint32_t f = 0; f < g->functions; f++) {
        struct span *all = &g->all[f], *fixed = &g->fixed[f];
        struct graph_edge *edges = g->edges + fixed->first;
        qsort(g->edges + all->first, all->count, sizeof *g->edges, compare_callers);
        bool any_seen = false;
        for (uint32_t i = 0; i < fixed->count; i++)
            any_seen |= caller_weight(g, &edges[i]) > 0;
        uint32_t kept = 0;
        fixed->weight = 0;
        for (uint32_t i = 0; i < fixed->count; i++) {
            double weight = caller_weight(g, &edges[i]);
            if ((all->count && function_hooked(g->map, f)) || (any_seen && weight <= 0) ||
                bsearch(&edges[i], g->edges + all->first, all->count, sizeof *edges, compare_callers))
                continue;
            edges[kept] = edges[i];
            edges[kept].weight = weight > 0 ? weight : 1;
            fixed->weight += edges[kept++].weight;
        }
        fixed->count = kept;
    }
}

static bool lay_out(struct graph *g, const struct sight *sights, size_t count)
{
    g->edges = malloc((count + 1) * sizeof *g->edges);
    g->pairs = malloc((count + 1) * sizeof *g->pairs);
    if (!g->edges || !g->pairs)
        return false;
    struct span *span = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct sight *s = &sights[i];
        if (i == 0 || s->function != sights[i - 1].function || s->next != sights[i - 1].next) {
            if (s->next == ANY || s->next == FIXED) {
                span = s->next == ANY ? &g->all[s->function] : &g->fixed[s->function];
            } else {
                uint64_t *place = table_put(g->pair_of, (uint64_t)s->function << 32 | s->next, NULL);
                if (!place)
                    return false;
                *place = g->pair_count;
                span = &g->pairs[g->pair_count++];
            }
            *span = (struct span){g->edge_count, 0, 0};
        }
        g->edges[g->edge_count++] = s->edge;
        span->count++;
        span->weight += s->edge.weight;
    }
    drop_seen(g);
    for (uint32_t f = 0; f < g->functions; f++)
        qsort(g->edges + g->all[f].first, g->all[f].count, sizeof *g->edges, compare_weights);
    for (uint32_t p = 0; p < g->pair_count; p++)
        qsort(g->edges + g->pairs[p].first, g->pairs[p].count, sizeof *g->edges, compare_weights);
    return true;
}

/* Adds the calls that the binary shows. Returns the new number of sights. */
static size_t collect_calls(struct sight *sights, size_t seen, const struct graph_call *calls, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sights[seen++] = (struct sight){FIXED, calls[i].callee, calls[i].edge};
    return seen;
}

struct graph *graph_new(const struct pathmap *map, const struct graph_call *calls, size_t count)
{
    struct graph *g = calloc(1, sizeof *g);
    size_t most = 3 * (size_t)pathmap_node_count(map) + count;
    struct sight *sights = malloc((most + 1) * sizeof *sights);
    if (!g || !sights) {
        free(g);
        free(sights);
        return NULL;
    }
    g->map = map;
    g->functions = pathmap_function_count(map);
    g->all = calloc((size_t)g->functions + 1, sizeof *g->all);
    g->fixed = calloc((size_t)g->functions + 1, sizeof *g->fixed);
    g->pair_of = table_new();
    size_t total = collect_calls(sights, collect(map, sights), calls, count);
    qsort(sights, total, sizeof *sights, compare_sights);
    total = unite(sights, total);
    if (!g->all || !g->fixed || !g->pair_of || total > UINT32_MAX || !lay_out(g, sights, total)) {
        graph_free(g);
        g = NULL;
    }
    free(sights);
    return g;
}

void graph_free(struct graph *g)
{
    if (!g)
        return;
    free(g->edges);
    free(g->all);
    free(g->fixed);
    free(g->pairs);
    table_free(g->pair_of);
    free(g);
}

static struct graph_edges edges_of(const struct graph *g, const struct span *span)
{
    return (struct graph_edges){g->edges + span->first, span->count, span->weight};
}

struct graph_edges graph_callers(const struct graph *g, uint32_t function)
{
    return edges_of(g, &g->all[function]);
}

struct graph_edges graph_static_callers(const struct graph *g, uint32_t function)
{
    return edges_of(g, &g->fixed[function]);
}

uint32_t graph_exact(const struct graph *g, uint32_t function, uint32_t height, uint32_t *first)
{
    return function_hooked(g->map, function) ? pathmap_find(g->map, function, height, first) : 0;
}

const struct pathmap *graph_map(const struct graph *g)
{
    return g->map;
}

bool graph_possible(const struct graph *g, uint32_t function, uint32_t height)
{
    uint32_t first;
    return !function_hooked(g->map, function) || graph_exact(g, function, height, &first) > 0;
}

struct graph_edges graph_callers_before(const struct graph *g, uint32_t function, uint32_t next)
{
    const uint64_t *pair = table_find(g->pair_of, (uint64_t)function << 32 | next);
    return pair ? edges_of(g, &g->pairs[*pair]) : (struct graph_edges){0};
}
