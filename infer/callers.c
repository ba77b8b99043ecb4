/* callers.c - see callers.h. */
#include "infer/callers.h"

#include <errno.h>
#include <stdlib.h>

#define BACK_OFF   2.0 /* sights of (function, next) that weigh as much as all callers of the function */
#define STEP       16u /* bytes: CFAs are multiples of it (x86-64 psABI, section 3.2.2) */
#define OPEN_BYTES (1u << 16) /* an open frame is smaller */

/* What a function's callers are, kind by kind, and the shares of the kinds. */
struct mixture {
    struct graph_edges pair, all, fixed, open;
    const uint32_t *classes;
    uint32_t class_count;
    double of_pair, of_all, of_fixed, of_rest;
    double rest; /* weight of open frames and classes together */
};

static struct mixture mixture_of(const struct graph *g, const struct callers_question *q)
{
    struct mixture m = {.all = graph_callers(g, q->function),
                        .fixed = graph_static_callers(g, q->function),
                        .open = graph_open_callers(g, q->function)};
    if (q->next != CALLERS_ANY_NEXT)
        m.pair = graph_callers_before(g, q->function, q->next);
    m.class_count = graph_classes(g, q->function, &m.classes);
    m.rest = m.open.weight;
    for (uint32_t c = 0; c < m.class_count; c++)
        m.rest += graph_class_callers(g, m.classes[c]).weight;
    double unseen = m.fixed.weight + m.rest;
    double share = unseen <= 0 ? 0 : m.all.weight <= 0 ? 1 : m.all.count / (m.all.weight + m.all.count);
    double of_pair = m.pair.weight / (m.pair.weight + BACK_OFF);
    m.of_pair = (1 - share) * of_pair;
    m.of_all = (1 - share) * (1 - of_pair);
    m.of_fixed = unseen > 0 ? share * m.fixed.weight / unseen : 0;
    m.of_rest = unseen > 0 ? share * m.rest / unseen : 0;
    return m;
}

struct asking {
    struct callers *callers;
    const struct graph *graph;
    const struct callers_question *question;
};

static int add(const struct asking *a, const struct graph_edge *edge, uint32_t height, double probability)
{
    struct callers *c = a->callers;
    if (probability <= 0)
        return 0;
    if (c->count == c->room) {
        uint32_t room = c->room ? c->room * 2 : 256;
        struct caller *items = realloc(c->items, room * sizeof *items);
        if (!items)
            return -ENOMEM;
        c->items = items;
        c->room = room;
    }
    c->items[c->count++] =
        (struct caller){edge->caller, height, graph_edge_number(a->graph, edge), probability};
    return 0;
}

/* A call with a known rise, when it leads out. `seen`: training saw it. */
static int add_fixed(const struct asking *a, const struct graph_edge *edge, double probability, bool seen)
{
    uint32_t height = a->question->height;
    if (edge->caller == GRAPH_ROOT)
        return edge->rise == height ? add(a, edge, 0, probability) : 0;
    if (edge->rise < 8 || edge->rise > height ||
        (!seen && !graph_possible(a->graph, edge->caller, height - edge->rise)))
        return 0;
    return add(a, edge, height - edge->rise, probability);
}

/* A call from an open frame: at each height that the caller can have. */
static int add_open(const struct asking *a, const struct graph_edge *edge, double probability)
{
    const struct pathmap *map = graph_map(a->graph);
    uint32_t height = a->question->height, first, last = UINT32_MAX;
    if (edge->caller == GRAPH_ROOT || edge->rise < 8 || edge->rise > height)
        return 0;
    uint32_t highest = height - edge->rise, nodes = pathmap_function_nodes(map, edge->caller, &first);
    int rc = 0;
    for (uint32_t i = first; rc == 0 && i < first + nodes; i++) {
        uint32_t outer = pathmap_node(map, i).height;
        if (outer > highest)
            break;
        if (outer != last && highest - outer < OPEN_BYTES)
            rc = add(a, edge, outer, probability / CALLERS_OPEN);
        last = outer;
    }
    for (uint32_t i = 0; rc == 0 && nodes == 0 && i < CALLERS_OPEN && i * STEP <= highest; i++) {
        if (graph_possible(a->graph, edge->caller, highest - i * STEP))
            rc = add(a, edge, highest - i * STEP, probability / CALLERS_OPEN);
    }
    return rc;
}

/* Those that training saw: both of its sets are in order, and `pair` is a part of `all`. */
static int add_seen(const struct asking *a, const struct mixture *m)
{
    double of_all = m->all.weight > 0 ? m->of_all / m->all.weight : 0;
    double of_pair = m->pair.weight > 0 ? m->of_pair / m->pair.weight : 0;
    uint32_t p = 0;
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < m->all.count; i++) {
        const struct graph_edge *edge = &m->all.edges[i];
        double probability = of_all * edge->weight;
        if (p < m->pair.count && m->pair.edges[p].caller == edge->caller &&
            m->pair.edges[p].rise == edge->rise)
            probability += of_pair * m->pair.edges[p++].weight;
        rc = add_fixed(a, edge, probability, true);
    }
    return rc;
}

/* Those that only the binary shows, but the least likely ones: there can be thousands. */
static int add_unseen(const struct asking *a, const struct graph_edges *edges, double per_weight)
{
    bool seen = graph_callers(a->graph, a->question->function).count > 0;
    double little = edges->count ? CALLERS_UNEVEN * edges->weight / edges->count : 0;
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < edges->count; i++) {
        const struct graph_edge *edge = &edges->edges[i];
        double probability = per_weight * edge->weight;
        if (probability < CALLERS_LEAST && (seen || edge->weight < little))
            continue;
        rc = edge->open ? add_open(a, edge, probability) : add_fixed(a, edge, probability, false);
    }
    return rc;
}

static int by_place(const void *a, const void *b)
{
    const struct caller *x = a, *y = b;
    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    if (x->height != y->height)
        return x->height < y->height ? -1 : 1;
    return x->probability > y->probability ? -1 : x->probability < y->probability;
}

/* Those of one place become one. */
static void unite(struct callers *c)
{
    uint32_t kept = 0;
    if (c->count)
        qsort(c->items, c->count, sizeof *c->items, by_place);
    for (uint32_t i = 0; i < c->count; i++) {
        struct caller *last = kept ? &c->items[kept - 1] : NULL;
        if (last && last->function == c->items[i].function && last->height == c->items[i].height)
            last->probability += c->items[i].probability;
        else
            c->items[kept++] = c->items[i];
    }
    c->count = kept;
}

int callers_find(struct callers *c, const struct graph *graph, const struct callers_question *q)
{
    const struct asking a = {c, graph, q};
    struct mixture m = mixture_of(graph, q);
    c->count = 0;
    if (!q->last_resort) {
        int rc = add_seen(&a, &m);
        return rc < 0 || m.of_fixed <= 0 ? rc : add_unseen(&a, &m.fixed, m.of_fixed / m.fixed.weight);
    }
    if (m.of_rest <= 0)
        return 0;
    int rc = add_unseen(&a, &m.open, m.of_rest / m.rest);
    for (uint32_t i = 0; rc == 0 && i < m.class_count; i++) {
        struct graph_edges edges = graph_class_callers(graph, m.classes[i]);
        rc = add_unseen(&a, &edges, m.of_rest / m.rest);
    }
    unite(c);
    return rc;
}

void callers_reduce(struct callers *c, const struct reach *reach)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        const struct caller *caller = &c->items[i];
        if (caller->function == GRAPH_ROOT || reach_possible(reach, caller->function, caller->height))
            c->items[kept++] = *caller;
    }
    c->count = kept;
}

static int by_probability(const void *a, const void *b)
{
    const struct caller *x = a, *y = b;
    if (x->probability != y->probability)
        return x->probability > y->probability ? -1 : 1;
    return by_place(a, b);
}

void callers_narrow(struct callers *c, uint32_t most)
{
    if (c->count <= most)
        return;
    qsort(c->items, c->count, sizeof *c->items, by_probability);
    c->count = most;
}

void callers_free(struct callers *c)
{
    free(c->items);
    *c = (struct callers){0};
}
