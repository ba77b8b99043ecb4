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
    const bool *keep;      /* as in callers_make() */
    uint32_t *classes;     /* by class: its node, or CALLERS_NONE */
    struct table *columns; /* node << 32 | node that it called next -> its column */
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

/* How a function was called when it called the next one. */
static struct graph_edges pair_of(const struct making *m, uint32_t node, uint32_t next)
{
    return graph_callers_before(m->graph, m->c->function_of[node], m->c->function_of[next]);
}

/* Sets *column to the function's one for the next function. false: out of memory. */
static bool find_column(struct making *m, uint32_t node, uint32_t next, uint32_t *column)
{
    if (pair_of(m, node, next).weight <= 0)
        return true;
    uint64_t *place = table_put(m->columns, (uint64_t)node << 32 | next, NULL);
    if (place && !*place)
        *place = ++m->c->of[node].pairs;
    *column = place ? (uint32_t)*place : 0;
    return place;
}

static bool is_followed(const struct graph_edge *e)
{
    return e->rise % CALLERS_UNIT == 0 && (e->rise || e->caller == GRAPH_ROOT);
}

/* Adds the callers of some edges; next: the node that they call; CALLERS_NONE: a class. false: out of memory. */
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
        if (caller.probability <= 0 || !is_followed(e))
            continue;
        if (e->caller != GRAPH_ROOT) {
            caller.outer = c->node_of[e->caller];
            if (caller.outer != CALLERS_NONE && e->open)
                caller.outer = c->of[caller.outer].open;
            if (caller.outer == CALLERS_NONE)
                continue;
            if (next != CALLERS_NONE && !e->open)
                good = find_column(m, caller.outer, next, &caller.column);
        }
        good = good && add_caller(m, caller);
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
static bool add_resorts(struct making *m, const struct mixture *mix, uint32_t node)
{
    if (mix->of_resort <= 0)
        return true;
    bool good = add_edges(m, mix->open, node, mix->of_resort * mix->open.weight / mix->resort);
    for (uint32_t k = 0; good && k < mix->class_count; k++) {
        double weight = graph_class_callers(m->graph, mix->classes[k]).weight;
        struct caller caller = {.outer = m->classes[mix->classes[k]],
                                .edge = CALLERS_NONE,
                                .probability = mix->of_resort * weight / mix->resort};
        good = weight <= 0 || caller.outer == CALLERS_NONE || add_caller(m, caller);
    }
    return good;
}

static bool add_function(struct making *m, uint32_t number)
{
    struct callers *c = m->c;
    struct callers_node *node = &c->of[number];
    struct mixture mix = mixture_of(m->graph, c->function_of[number]);
    node->first = c->caller_count;
    bool good = add_edges(m, mix.seen, number, mix.of_seen);
    node->seen = c->caller_count - node->first;
    good = good && add_edges(m, mix.fixed, number, mix.of_fixed);
    node->fixed = c->caller_count - node->first - node->seen;
    good = good && add_resorts(m, &mix, number);
    node->resort = c->caller_count - node->first - node->seen - node->fixed;
    return good;
}

static bool add_class(struct making *m, uint32_t class_number)
{
    struct callers *c = m->c;
    struct callers_node *node = &c->of[m->classes[class_number]];
    struct graph_edges edges = graph_class_callers(m->graph, class_number);
    node->first = c->caller_count;
    bool good = add_edges(m, edges, CALLERS_NONE, 1);
    node->fixed = c->caller_count - node->first;
    return good;
}

/* How much of a function's callers training saw. */
static double seen_share(const struct making *m, uint32_t node)
{
    return mixture_of(m->graph, m->c->function_of[node]).of_seen;
}

/* Fills the pairs of all columns. */
static bool fill_columns(struct making *m)
{
    const struct callers *c = m->c;
    bool good = true;
    for (uint32_t f = 0; f < c->functions; f++)
        for (uint32_t i = c->of[f].first; i < c->of[f].first + callers_count(&c->of[f]) && good; i++) {
            const uint32_t outer = c->callers[i].outer;
            const struct callers_node *node = c->callers[i].column ? &c->of[outer] : NULL;
            struct callers_pair *out = node ? &c->pairs[node->first_pair + c->callers[i].column - 1] : NULL;
            if (out && out->rest <= 0) /* not filled yet */
                good = add_terms(m, node, pair_of(m, outer, f), seen_share(m, outer), out);
        }
    return good;
}

static bool fill_leaves(struct making *m)
{
    struct callers *c = m->c;
    bool good = true;
    for (uint32_t f = 0; f < c->functions && good; f++) {
        struct graph_edges pair = graph_callers_before(m->graph, c->function_of[f], GRAPH_LEAF);
        if (pair.weight > 0)
            good = add_terms(m, &c->of[f], pair, seen_share(m, f), &c->pairs[c->of[f].leaf]);
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
static void note_opens(bool *open, struct graph_edges edges)
{
    for (uint32_t i = 0; i < edges.count; i++)
        if (edges.edges[i].open && edges.edges[i].caller != GRAPH_ROOT)
            open[edges.edges[i].caller] = true;
}

/* The heights at which training saw the functions with open frames. */
static bool fill_opens(struct callers *c, const struct pathmap *map)
{
    size_t nodes = 0, count = 0;
    uint32_t first;
    for (uint32_t k = 0; k < c->opens; k++)
        nodes += pathmap_function_nodes(map, c->function_of[c->open[k].function], &first);
    c->units = malloc((nodes + 1) * sizeof *c->units);
    for (uint32_t k = 0; c->units && k < c->opens; k++) {
        uint32_t many = pathmap_function_nodes(map, c->function_of[c->open[k].function], &first);
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

static bool is_kept(const struct making *m, uint32_t number)
{
    return !m->keep || m->keep[number];
}

/* The nodes of functions with open frames. */
static bool number_opens(struct making *m, uint32_t functions, uint32_t classes)
{
    struct callers *c = m->c;
    bool *open = calloc((size_t)functions + 1, sizeof *open);
    uint32_t number = functions + classes;
    c->open = calloc((size_t)c->functions + 1, sizeof *c->open);
    for (uint32_t f = 0; open && f < functions; f++)
        note_opens(open, graph_open_callers(m->graph, f));
    for (uint32_t k = 0; open && k < classes; k++)
        note_opens(open, graph_class_callers(m->graph, k));
    for (uint32_t f = 0; open && c->open && f < functions; f++) {
        if (!open[f] || !is_kept(m, number++) || c->node_of[f] == CALLERS_NONE)
            continue;
        c->of[c->node_of[f]].open = c->functions + c->classes + c->opens;
        c->open[c->opens++].function = c->node_of[f];
    }
    c->nodes = c->functions + c->classes + c->opens;
    free(open);
    return open && c->open && fill_opens(c, graph_map(m->graph));
}

static bool number_nodes(struct making *m)
{
    struct callers *c = m->c;
    const uint32_t functions = pathmap_function_count(graph_map(m->graph)),
                   classes = graph_class_count(m->graph);
    c->node_of = malloc(((size_t)functions + 1) * sizeof *c->node_of);
    c->function_of = malloc(((size_t)functions + 1) * sizeof *c->function_of);
    m->classes = malloc(((size_t)classes + 1) * sizeof *m->classes);
    if (!c->node_of || !c->function_of || !m->classes)
        return false;
    for (uint32_t f = 0; f < functions; f++) {
        c->node_of[f] = is_kept(m, f) ? c->functions++ : CALLERS_NONE;
        if (c->node_of[f] != CALLERS_NONE)
            c->function_of[c->node_of[f]] = f;
    }
    for (uint32_t k = 0; k < classes; k++)
        m->classes[k] = is_kept(m, functions + k) ? c->functions + c->classes++ : CALLERS_NONE;
    c->of = calloc(2 * (size_t)c->functions + c->classes + 1, sizeof *c->of);
    for (uint32_t f = 0; c->of && f < c->functions; f++)
        c->of[f].open = CALLERS_NONE;
    return c->of && number_opens(m, functions, classes);
}

/* Makes callees from callers. false: out of memory. */
static bool turn_round(struct callers *c)
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
    m->columns = table_new();
    bool good = m->columns && number_nodes(m);
    for (uint32_t f = 0; f < c->functions && good; f++)
        good = add_function(m, f);
    for (uint32_t k = 0; k < graph_class_count(m->graph) && good; k++)
        good = m->classes[k] == CALLERS_NONE || add_class(m, k);
    return good && place_pairs(m) && fill_columns(m) && fill_leaves(m) && turn_round(c);
}

int callers_make(struct callers *callers, const struct graph *graph, const bool *keep)
{
    *callers = (struct callers){0};
    struct making m = {.c = callers, .graph = graph, .keep = keep};
    bool good = make_callers(&m);
    table_free(m.columns);
    free(m.classes);
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
