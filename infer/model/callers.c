/* callers.c - see callers.h. */
#include "infer/model/callers.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/vec.h"

/* occurrences of (function, next) that weigh as much as all callers of the function */
#define BACK_OFF 2.0

struct making {
    struct callers *c;
    const struct graph *graph;
    struct table *columns; /* function << 32 | next -> its column */
    uint32_t caller_capacity, term_capacity;
};

/* Which kinds of callers a function has, and their shares. */
struct mixture {
    struct graph_edges seen, fixed, open;
    const uint32_t *classes;
    uint32_t class_count;
    double of_seen, of_fixed, of_resort;
    double resort; /* weight of open frames and classes together */
};

static struct mixture mixture_of(const struct graph *g, uint32_t function)
{
    struct mixture m = {.seen = graph_callers(g, function),
                        .fixed = graph_static_callers(g, function),
                        .open = graph_open_callers(g, function)};
    m.class_count = graph_classes(g, function, &m.classes);
    m.resort = m.open.weight;
    for (uint32_t k = 0; k < m.class_count; k++)
        m.resort += graph_class_callers(g, m.classes[k]).weight;
    double unseen = m.fixed.weight + m.resort;
    double share = unseen <= 0 ? 0 : m.seen.weight <= 0 ? 1 : m.seen.count / (m.seen.weight + m.seen.count);
    m.of_seen = 1 - share;
    m.of_fixed = unseen > 0 ? share * m.fixed.weight / unseen : 0;
    m.of_resort = unseen > 0 ? share * m.resort / unseen : 0;
    return m;
}

/* false: out of memory. */
static bool add_caller(struct making *m, struct caller caller)
{
    struct callers *c = m->c;
    if (!vec_reserve(c->callers, c->caller_count, m->caller_capacity, 1))
        return false;
    c->callers[c->caller_count++] = caller;
    return true;
}

static uint32_t column_of(const struct making *m, uint32_t function, uint32_t next)
{
    const uint64_t *column = table_find(m->columns, (uint64_t)function << 32 | next);
    return column ? (uint32_t)*column : 0;
}

/* Adds the callers of some edges; next: the function that they call; CALLERS_NONE: a class. false: out of memory. */
static bool add_edges(struct making *m, struct graph_edges edges, uint32_t next, double share)
{
    const struct callers *c = m->c;
    bool good = true;
    for (uint32_t i = 0; good && edges.weight > 0 && i < edges.count; i++) {
        const struct graph_edge *e = &edges.edges[i];
        struct caller caller = {.outer = CALLERS_ROOT,
                                .rise = e->rise / CALLERS_UNIT,
                                .edge = graph_edge_number(m->graph, e),
                                .probability = share * e->weight / edges.weight};
        if (caller.probability <= 0 || e->rise % CALLERS_UNIT || (e->rise == 0 && e->caller != GRAPH_ROOT))
            continue;
        if (e->caller != GRAPH_ROOT) {
            caller.outer = e->open ? c->of[e->caller].open : e->caller;
            caller.column = next == CALLERS_NONE || e->open ? 0 : column_of(m, e->caller, next);
        }
        good = add_caller(m, caller);
    }
    return good;
}

static bool edge_precedes(const struct graph_edge *a, const struct graph_edge *b)
{
    return a->caller != b->caller ? a->caller < b->caller : a->rise < b->rise;
}

/* Adds the terms of a pair: how much more probable it makes the function's callers. */
static bool add_terms(struct making *m, const struct callers_node *node, struct graph_edges pair,
                      double share, struct callers_pair *out)
{
    struct callers *c = m->c;
    double of_pair = pair.weight / (pair.weight + BACK_OFF);
    *out = (struct callers_pair){.first = c->term_count, .rest = 1 - of_pair};
    uint32_t i = 0;
    for (uint32_t k = 0; k < node->seen && i < pair.count; k++) { /* both are sorted */
        const struct graph_edge *of = graph_edge_at(m->graph, c->callers[node->first + k].edge);
        while (i < pair.count && edge_precedes(&pair.edges[i], of))
            i++;
        if (i == pair.count || edge_precedes(of, &pair.edges[i]))
            continue;
        double probability = share * of_pair * pair.edges[i].weight / pair.weight;
        if (!vec_reserve(c->terms, c->term_count, m->term_capacity, 1))
            return false;
        c->terms[c->term_count++] = (struct callers_term){k, probability};
    }
    out->count = c->term_count - out->first;
    return true;
}

/* Adds the classes and open frames that may have called the function. */
static bool add_resorts(struct making *m, const struct mixture *mix, uint32_t function)
{
    if (mix->of_resort <= 0)
        return true;
    bool good = add_edges(m, mix->open, function, mix->of_resort * mix->open.weight / mix->resort);
    for (uint32_t k = 0; good && k < mix->class_count; k++) {
        double weight = graph_class_callers(m->graph, mix->classes[k]).weight;
        struct caller caller = {.outer = m->c->functions + mix->classes[k],
                                .edge = CALLERS_NONE,
                                .probability = mix->of_resort * weight / mix->resort};
        good = weight <= 0 || add_caller(m, caller);
    }
    return good;
}

static bool add_function(struct making *m, uint32_t function)
{
    struct callers *c = m->c;
    struct callers_node *node = &c->of[function];
    struct mixture mix = mixture_of(m->graph, function);
    node->first = c->caller_count;
    bool good = add_edges(m, mix.seen, function, mix.of_seen);
    node->seen = c->caller_count - node->first;
    good = good && add_edges(m, mix.fixed, function, mix.of_fixed);
    node->fixed = c->caller_count - node->first - node->seen;
    good = good && add_resorts(m, &mix, function);
    node->resort = c->caller_count - node->first - node->seen - node->fixed;
    return good;
}

static bool add_class(struct making *m, uint32_t class_number)
{
    struct callers *c = m->c;
    struct callers_node *node = &c->of[c->functions + class_number];
    struct graph_edges edges = graph_class_callers(m->graph, class_number);
    node->first = c->caller_count;
    bool good = add_edges(m, edges, CALLERS_NONE, 1);
    node->fixed = c->caller_count - node->first;
    return good;
}

/* Calls `call` for each pair (caller, function) that training saw, with the pair's edges. */
static bool each_pair(struct making *m, bool (*call)(struct making *, uint32_t, uint32_t, struct graph_edges))
{
    bool good = true;
    for (uint32_t f = 0; f < m->c->functions && good; f++) {
        struct graph_edges edges = graph_callers(m->graph, f);
        for (uint32_t i = 0; i < edges.count && good; i++) {
            uint32_t caller = edges.edges[i].caller;
            if (caller == GRAPH_ROOT || (i > 0 && edges.edges[i - 1].caller == caller))
                continue;
            struct graph_edges pair = graph_callers_before(m->graph, caller, f);
            good = pair.weight <= 0 || call(m, caller, f, pair);
        }
    }
    return good;
}

static bool number_column(struct making *m, uint32_t function, uint32_t next, struct graph_edges pair)
{
    (void)pair;
    uint64_t *place = table_put(m->columns, (uint64_t)function << 32 | next, NULL);
    if (place)
        *place = ++m->c->of[function].pairs;
    return place;
}

static bool fill_column(struct making *m, uint32_t function, uint32_t next, struct graph_edges pair)
{
    const struct callers_node *node = &m->c->of[function];
    struct callers_pair *out = &m->c->pairs[node->first_pair + column_of(m, function, next) - 1];
    return add_terms(m, node, pair, mixture_of(m->graph, function).of_seen, out);
}

static bool fill_leaves(struct making *m)
{
    struct callers *c = m->c;
    bool good = true;
    for (uint32_t f = 0; f < c->functions && good; f++) {
        struct graph_edges pair = graph_callers_before(m->graph, f, GRAPH_LEAF);
        if (pair.weight > 0)
            good = add_terms(m, &c->of[f], pair, mixture_of(m->graph, f).of_seen, &c->pairs[c->of[f].leaf]);
        else
            c->of[f].leaf = CALLERS_NONE;
    }
    return good;
}

/* Assigns numbers to the pairs: each function's columns, then the leaves. */
static bool place_pairs(struct making *m)
{
    struct callers *c = m->c;
    uint32_t count = 0;
    for (uint32_t f = 0; f < c->functions; f++) {
        c->of[f].first_pair = count;
        count += c->of[f].pairs;
        c->of[f].leaf = count++;
    }
    c->pairs = calloc((size_t)count + 1, sizeof *c->pairs);
    return c->pairs;
}

/* Notes the functions with open frames that these edges come from. */
static void note_opens(struct callers *c, struct graph_edges edges)
{
    for (uint32_t i = 0; i < edges.count; i++)
        if (edges.edges[i].open && edges.edges[i].caller != GRAPH_ROOT)
            c->of[edges.edges[i].caller].open = 0;
}

/* The heights at which training saw the functions with open frames. */
static bool fill_opens(struct callers *c, const struct pathmap *map)
{
    size_t nodes = 0, count = 0;
    uint32_t first;
    for (uint32_t k = 0; k < c->opens; k++)
        nodes += pathmap_function_nodes(map, c->open[k].function, &first);
    c->units = malloc((nodes + 1) * sizeof *c->units);
    for (uint32_t k = 0; c->units && k < c->opens; k++) {
        uint32_t many = pathmap_function_nodes(map, c->open[k].function, &first);
        uint32_t *units = c->units + count, kept = 0;
        for (uint32_t i = first; i < first + many; i++) {
            uint32_t height = pathmap_node(map, i).height;
            if (height % CALLERS_UNIT == 0 && (kept == 0 || units[kept - 1] != height / CALLERS_UNIT))
                units[kept++] = height / CALLERS_UNIT;
        }
        c->open[k].units = units;
        c->open[k].count = kept;
        count += kept;
    }
    return c->units;
}

/* The nodes of functions with open frames. */
static bool number_opens(struct callers *c, const struct graph *g)
{
    for (uint32_t f = 0; f < c->functions; f++)
        note_opens(c, graph_open_callers(g, f));
    for (uint32_t k = 0; k < c->classes; k++)
        note_opens(c, graph_class_callers(g, k));
    for (uint32_t f = 0; f < c->functions; f++)
        if (c->of[f].open != CALLERS_NONE)
            c->of[f].open = c->functions + c->classes + c->opens++;
    c->nodes = c->functions + c->classes + c->opens;
    c->open = calloc((size_t)c->opens + 1, sizeof *c->open);
    for (uint32_t f = 0; c->open && f < c->functions; f++)
        if (c->of[f].open != CALLERS_NONE)
            c->open[c->of[f].open - c->functions - c->classes].function = f;
    return c->open && fill_opens(c, graph_map(g));
}

bool callers_turn_round(struct callers *c)
{
    for (uint32_t i = 0; i < c->caller_count; i++)
        if (c->callers[i].outer != CALLERS_ROOT)
            c->of[c->callers[i].outer].callees++;
    uint32_t sum = 0;
    for (uint32_t n = 0; n < c->nodes; n++) {
        c->of[n].first_callee = sum;
        sum += c->of[n].callees;
        c->of[n].callees = 0;
    }
    c->callees = malloc(((size_t)sum + 1) * sizeof *c->callees);
    for (uint32_t n = 0; c->callees && n < c->nodes; n++) {
        const struct callers_node *node = &c->of[n];
        for (uint32_t i = node->first; i < node->first + callers_count(node); i++) {
            const struct caller *caller = &c->callers[i];
            if (caller->outer == CALLERS_ROOT)
                continue;
            struct callers_node *outer = &c->of[caller->outer];
            c->callees[outer->first_callee + outer->callees++] = (struct callee){n, caller->rise};
        }
    }
    return c->callees;
}

static bool make_callers(struct making *m)
{
    struct callers *c = m->c;
    c->functions = pathmap_function_count(graph_map(m->graph));
    c->classes = graph_class_count(m->graph);
    c->of = calloc(2 * (size_t)c->functions + c->classes + 1, sizeof *c->of);
    m->columns = table_new();
    if (!c->of || !m->columns)
        return false;
    for (uint32_t f = 0; f < c->functions; f++)
        c->of[f].open = CALLERS_NONE;
    bool good = number_opens(c, m->graph) && each_pair(m, number_column) && place_pairs(m);
    for (uint32_t f = 0; f < c->functions && good; f++)
        good = add_function(m, f);
    for (uint32_t k = 0; k < c->classes && good; k++)
        good = add_class(m, k);
    return good && each_pair(m, fill_column) && fill_leaves(m) && callers_turn_round(c);
}

int callers_make(struct callers *callers, const struct graph *graph)
{
    *callers = (struct callers){0};
    struct making m = {.c = callers, .graph = graph};
    bool good = make_callers(&m);
    table_free(m.columns);
    return good ? 0 : -ENOMEM;
}

void callers_free(struct callers *c)
{
    free(c->function_of);
    free(c->node_of);
    free(c->of);
    free(c->callers);
    free(c->callees);
    free(c->pairs);
    free(c->terms);
    free(c->open);
    free(c->units);
    *c = (struct callers){0};
}
