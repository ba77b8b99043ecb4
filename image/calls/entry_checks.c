/* entry_checks.c - see entry_checks.h. */
#include "image/calls/entry_checks.h"

#include <errno.h>
#include <stdlib.h>

#define FAR UINT32_MAX /* from the roots: not reached */

/* The graph of direct calls, by function number. */
struct graph {
    uint32_t count;
    uint32_t *first, *callees; /* callees of function f: callees[first[f] .. first[f + 1]) */
    uint32_t *distance;
    uint32_t *component;
    bool *called, *taken;
    uint32_t *queue, *order, *low; /* for the searches */
};

static void graph_free(struct graph *g)
{
    free(g->first);
    free(g->callees);
    free(g->distance);
    free(g->component);
    free(g->called);
    free(g->taken);
    free(g->queue);
    free(g->order);
    free(g->low);
}

static bool graph_new(struct graph *g, uint32_t count, size_t edges)
{
    *g = (struct graph){.count = count,
                        .first = calloc((size_t)count + 2, sizeof *g->first),
                        .callees = calloc(edges + 1, sizeof *g->callees),
                        .distance = calloc((size_t)count + 1, sizeof *g->distance),
                        .component = calloc((size_t)count + 1, sizeof *g->component),
                        .called = calloc((size_t)count + 1, sizeof *g->called),
                        .taken = calloc((size_t)count + 1, sizeof *g->taken),
                        .queue = calloc((size_t)count + 1, sizeof *g->queue),
                        .order = calloc((size_t)count + 1, sizeof *g->order),
                        .low = calloc((size_t)count + 1, sizeof *g->low)};
    return g->first && g->callees && g->distance && g->component && g->called && g->taken && g->queue &&
           g->order && g->low;
}

/* Sites are in the order of their functions. */
static void add_edges(struct graph *g, const struct image *image, const struct call_site *sites, size_t count)
{
    uint32_t edges = 0, function = 0;
    for (size_t i = 0; i < count; i++) {
        for (; function < sites[i].function; function++)
            g->first[function + 1] = edges;
        uint32_t target =
            sites[i].kind == CALL_DIRECT ? image_function_entry(image, sites[i].target) : IMAGE_NO_FUNCTION;
        if (target == IMAGE_NO_FUNCTION)
            continue;
        g->callees[edges++] = target;
        g->called[target] = true;
    }
    for (; function < g->count; function++)
        g->first[function + 1] = edges;
}

/* Breadth first, from all functions that may be entered from elsewhere. */
static void find_distances(struct graph *g)
{
    uint32_t head = 0, tail = 0;
    for (uint32_t f = 0; f < g->count; f++) {
        bool root = !g->called[f] || g->taken[f];
        g->distance[f] = root ? 0 : FAR;
        if (root)
            g->queue[tail++] = f;
    }
    while (head < tail) {
        uint32_t f = g->queue[head++];
        for (uint32_t e = g->first[f]; e < g->first[f + 1]; e++) {
            uint32_t to = g->callees[e];
            if (g->distance[to] != FAR)
                continue;
            g->distance[to] = g->distance[f] + 1;
            g->queue[tail++] = to;
        }
    }
}

/* Tarjan's algorithm (Depth-First Search and Linear Graph Algorithms, SIAM J. Comput. 1, 1972) with its own
 * stack: `path` has the functions being searched, `next` their next edge, `order` their numbers from 1, `queue`
 * the functions that are in no component yet. */
static void find_component(struct graph *g, uint32_t from, uint32_t *path, uint32_t *next, uint32_t *numbers,
                           uint32_t *stacked)
{
    uint32_t depth = 0;
    path[0] = from;
    next[from] = g->first[from];
    g->order[from] = g->low[from] = ++*numbers;
    g->queue[(*stacked)++] = from;
    for (;;) {
        uint32_t f = path[depth];
        if (next[f] < g->first[f + 1]) {
            uint32_t to = g->callees[next[f]++];
            if (!g->order[to]) {
                path[++depth] = to;
                next[to] = g->first[to];
                g->order[to] = g->low[to] = ++*numbers;
                g->queue[(*stacked)++] = to;
            } else if (!g->component[to] && g->order[to] < g->low[f]) {
                g->low[f] = g->order[to];
            }
            continue;
        }
        if (g->low[f] == g->order[f])
            while (!g->component[f])
                g->component[g->queue[--*stacked]] = g->order[f];
        if (!depth)
            return;
        uint32_t caller = path[--depth];
        g->low[caller] = g->low[f] < g->low[caller] ? g->low[f] : g->low[caller];
    }
}

static bool find_components(struct graph *g)
{
    uint32_t *path = calloc((size_t)g->count + 1, sizeof *path),
             *next = calloc((size_t)g->count + 1, sizeof *next);
    uint32_t numbers = 0, stacked = 0;
    bool ok = path && next;
    for (uint32_t f = 0; ok && f < g->count; f++)
        if (!g->order[f])
            find_component(g, f, path, next, &numbers, &stacked);
    free(path);
    free(next);
    return ok;
}

static void choose_checks(const struct graph *g, const struct calls *calls, bool *checks)
{
    for (uint32_t f = 0; f < g->count; f++)
        checks[f] = !g->called[f] || g->taken[f];
    for (uint32_t f = 0; f < g->count; f++)
        for (uint32_t e = g->first[f]; e < g->first[f + 1]; e++) {
            uint32_t to = g->callees[e];
            checks[to] |= g->component[to] == g->component[f] && g->distance[f] >= g->distance[to];
        }
    for (uint32_t f = 0; f < g->count; f++) {
        const struct call_site *sites;
        checks[f] = checks[f] && calls_of(calls, f, &sites) > 0;
    }
}

int calls_entry_checks(const struct image *image, const struct calls *calls, bool **out)
{
    const struct call_site *sites;
    const uint32_t *taken;
    size_t count = calls_all(calls, &sites), taken_count = calls_taken(calls, &taken);
    struct graph g;
    bool *checks = calloc((size_t)image_function_count(image) + 1, sizeof *checks);
    bool ok = graph_new(&g, image_function_count(image), count) && checks;
    if (ok) {
        for (size_t i = 0; i < taken_count; i++)
            g.taken[taken[i]] = true;
        add_edges(&g, image, sites, count);
        find_distances(&g);
        ok = find_components(&g);
    }
    if (ok)
        choose_checks(&g, calls, checks);
    else
        free(checks);
    graph_free(&g);
    *out = ok ? checks : NULL;
    return ok ? 0 : -ENOMEM;
}
