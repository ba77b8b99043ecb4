/* graph.c - edges sorted by function, and by (function, next); see graph.h. */
#include "infer/model/graph.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/sort.h"
#include "base/vec.h"
#include "pathmap/map/partial.h"
#include "process/partial.h"

/* weight of what the loader runs before the program, relative to the program itself, which runs longer */
#define LOADER 0.01
#define ROUNDS 8 /* calls beyond what training saw through which expected runs are propagated */
/* upper bound of the expected runs of a function that never returns: while others are counted it has not run */
#define ONCE  1e-3
#define CARRY 0.5 /* share of a caller's runs that reach one of its call sites that training never saw */

struct span {
    uint32_t first, count;
    double weight;
};

struct graph {
    const struct pathmap *map; /* borrowed */
    struct graph_edge *edges;  /* of all spans, one after the other */
    uint32_t edge_count;
    uint32_t functions;
    struct span *all;          /* by function */
    struct span *fixed, *open; /* by function: known from the binary */
    double *runs;              /* by function: how often it ran, as seen or expected */
    bool any_seen;             /* training saw something */
    uint32_t *callees;         /* by function: how many functions it was seen to call */
    bool *ends;                /* by function: it never returns */
    struct graph_scope scope;
    bool *allowed; /* by node of the map: the scope allows its path; NULL: all are allowed */
    struct span *pairs;
    uint32_t pair_count;
    struct table *pair_of; /* function << 32 | next -> index in pairs */
    struct span *classes;
    uint32_t class_count;
    uint32_t *members;      /* numbers of classes, by function */
    uint32_t *first_member; /* index by function, plus one for the end */
};

#define ANY UINT32_MAX /* as `next`: any */

int graph_compare_edges(const void *a, const void *b)
{
    const struct graph_edge *x = a, *y = b;
    return order_of(x->caller, y->caller) ?: order_of(x->rise, y->rise) ?: x->open - y->open;
}

/* An edge out of `function`, seen while that called `next`. */
struct edge_count {
    uint32_t next, function;
    struct graph_edge edge; /* its weight is the sum of those added, its site the heaviest one's */
    double heaviest;
};

/* How often each edge was seen. A map has millions of nodes and some ten thousand edges, so only the distinct ones take memory
 * and are sorted. */
struct edge_counts {
    struct edge_count *all;
    uint32_t count, capacity;
    struct table *index; /* hash of an edge -> index in `all` + 1 */
};

/* false: out of memory. */
static bool count_edge(struct edge_counts *s, uint32_t next, uint32_t function, const struct graph_edge *edge)
{
    const uint64_t key =
        hash_u64((uint64_t)function << 32 | next) ^ ((uint64_t)edge->caller << 32 | edge->rise);
    const uint32_t before = s->count;
    const size_t index = table_index(s->index, hash_u64(key) + edge->open, s->all, s->count, s->capacity,
                                     (struct edge_count){next, function, *edge, edge->weight});
    if (index >= before)
        return index == before;
    struct edge_count *known = &s->all[index];
    known->edge.weight += edge->weight;
    if (edge->weight > known->heaviest) {
        known->heaviest = edge->weight;
        known->edge.site = edge->site;
    }
    return true;
}

static int compare_counts(const void *a, const void *b)
{
    const struct edge_count *x = a, *y = b;
    return order_of(x->function, y->function) ?: order_of(x->next, y->next)
                                              ?: graph_compare_edges(&x->edge, &y->edge);
}

/* Whether a call that was seen in one setting is possible in the graph's: the caller's other calls show that, too. */
static bool is_in_scope(const struct graph *g, uint32_t node, const struct pathmap_node *n)
{
    if (!g->allowed || g->allowed[node])
        return true;
    if (n->parent == PATHMAP_NONE)
        return false;
    uint32_t caller = pathmap_node(g->map, n->parent).function;
    return admission_has(g->scope.admission, g->scope.setting, n->function) &&
           admission_has(g->scope.admission, g->scope.setting, caller) &&
           admission_calls(g->scope.admission, g->scope.setting, caller);
}

/* Makes a handler on an alternate stack an outermost function: its root has no height that the automaton's paths can have. */
static struct pathmap_node without_signal(struct pathmap_node node, uint32_t signal)
{
    if (signal != PATHMAP_NONE && node.parent == signal)
        node.parent = PATHMAP_NONE;
    return node;
}

/* Collects what the map (or the weights) saw: the call of every node, once for any next and once for its own. false: out of
 * memory. */
static bool collect_edges(const struct graph *g, const struct graph_weights *weights,
                          struct edge_counts *counts)
{
    const struct pathmap *map = g->map;
    bool fine = true;
    const uint32_t nodes = pathmap_node_count(map), signal = partial_find(map, PARTIAL_SIGNAL);
    for (uint32_t i = 0; i < nodes && fine; i++) {
        const struct pathmap_node node = without_signal(pathmap_node(map, i), signal);
        if (i == signal || !pathmap_node_sound(map, i) || (weights && weights->passes[i] <= 0) ||
            !is_in_scope(g, i, &node))
            continue;
        double passes = weights ? weights->passes[i] : (double)node.passes;
        double self = weights ? weights->self[i] : (double)node.self;
        struct graph_edge edge = {GRAPH_ROOT, node.height, node.site, passes, false, 0};
        if (node.parent != PATHMAP_NONE) {
            const struct pathmap_node parent = without_signal(pathmap_node(map, node.parent), signal);
            edge.caller = parent.function;
            edge.rise = node.height - parent.height;
            struct graph_edge outer = {GRAPH_ROOT, parent.height, parent.site, passes, false, 0};
            if (parent.parent != PATHMAP_NONE) {
                struct pathmap_node grand = pathmap_node(map, parent.parent);
                outer.caller = grand.function;
                outer.rise = parent.height - grand.height;
            }
            fine = !is_in_scope(g, node.parent, &parent) ||
                   count_edge(counts, node.function, parent.function, &outer);
        }
        fine = fine && count_edge(counts, ANY, node.function, &edge);
        edge.weight = self;
        fine = fine && (self <= 0 || count_edge(counts, GRAPH_LEAF, node.function, &edge));
    }
    return fine;
}

static bool is_function_in_scope(const struct graph *g, uint32_t function)
{
    return !g->scope.admission || admission_has(g->scope.admission, g->scope.setting, function);
}

/* Whether the graph's setting allows a call known from the binary, whose callee it has. */
static bool is_call_in_scope(const struct graph *g, uint32_t callee, const struct static_edge *edge)
{
    const struct graph_scope *s = &g->scope;
    if (!s->admission || (edge->through && !is_function_in_scope(g, edge->through - 1)))
        return !s->admission;
    return edge->caller == GRAPH_ROOT
               ? callee == PATHMAP_NONE || admission_begins(s->admission, s->setting, callee, edge->rise)
               : admission_has(s->admission, s->setting, edge->caller);
}

/* Whether the map's passes count all runs of the function that training saw. */
static bool is_counted(const struct graph *g, uint32_t function)
{
    return g->all[function].weight > 0 && pathmap_covers(g->map, pathmap_function(g->map, function).image);
}

static double runs_of(const struct graph *g, uint32_t caller)
{
    return caller == GRAPH_ROOT ? 1 : g->runs[caller];
}

/* The number of runs of a function that its callers' runs imply. */
static double expected_runs(const struct graph *g, uint32_t function)
{
    const struct span *spans[] = {&g->fixed[function], &g->open[function]};
    double sum = 0;
    for (int k = 0; k < 2; k++)
        for (uint32_t i = spans[k]->first; i < spans[k]->first + spans[k]->count; i++)
            sum += g->edges[i].weight * runs_of(g, g->edges[i].caller);
    return CARRY * sum;
}

/* Estimates how often each function runs. If training saw a function's calls only by chance (from samples, beside hooked
 * images), its passes are not comparable to those of hooked functions, so the expected number is used as well. */
static void estimate_runs(struct graph *g)
{
    double most = 0;
    for (uint32_t f = 0; f < g->functions; f++) {
        g->runs[f] = g->all[f].weight;
        if (g->runs[f] > most)
            most = g->runs[f];
    }
    g->any_seen = most > 0;
    if (!g->any_seen)
        most = 1; /* nothing was seen: only relative numbers matter */
    bool changed = true;
    for (int round = 0; round < ROUNDS && changed; round++) {
        changed = false;
        for (uint32_t f = 0; f < g->functions; f++) {
            double runs = is_counted(g, f) ? 0 : expected_runs(g, f), limit = g->ends[f] ? ONCE : most;
            if (runs > limit)
                runs = limit;
            if (runs <= g->runs[f])
                continue;
            g->runs[f] = runs;
            changed = true;
        }
    }
}

static void count_callees(struct graph *g)
{
    for (uint32_t f = 0; f < g->functions; f++) {
        const struct span *span = &g->all[f];
        for (uint32_t i = span->first; i < span->first + span->count; i++)
            if (g->edges[i].caller != GRAPH_ROOT)
                g->callees[g->edges[i].caller]++;
    }
}

/* In how many of its runs the caller calls something that it was not seen to call: if it called t functions in n runs, it calls
 * another one in t / (n + t) of them (Witten and Bell, 1991), however often it ran. */
static double new_calls(const struct graph *g, uint32_t caller)
{
    double runs = runs_of(g, caller);
    if (caller == GRAPH_ROOT || !g->any_seen)
        return runs;
    double callees = g->callees[caller] > 1 ? g->callees[caller] : 1;
    return runs * callees / (runs + callees);
}

/* Weights the edges by their callers' new calls. Drops callers that never run, unless all are such, and the edges in `but`
 * (NULL: none). */
static void weigh_callers(struct graph *g, struct span *span, const struct span *but)
{
    struct graph_edge *edges = g->edges + span->first;
    bool any_runs = false;
    for (uint32_t i = 0; i < span->count; i++)
        any_runs |= runs_of(g, edges[i].caller) > 0;
    uint32_t kept = 0;
    span->weight = 0;
    for (uint32_t i = 0; i < span->count; i++) {
        double runs = any_runs ? new_calls(g, edges[i].caller) : 1;
        if (runs <= 0 || (but && bsearch(&edges[i], g->edges + but->first, but->count, sizeof *edges,
                                         graph_compare_edges)))
            continue;
        edges[kept] = edges[i];
        edges[kept].weight *= runs;
        span->weight += edges[kept++].weight;
    }
    span->count = kept;
}

static void weigh_statics(struct graph *g)
{
    for (uint32_t f = 0; f < g->functions; f++) {
        weigh_callers(g, &g->fixed[f], &g->all[f]);
        weigh_callers(g, &g->open[f], NULL);
    }
}

static struct span *place_span(struct graph *g, uint32_t function, uint32_t next)
{
    if (next == ANY)
        return &g->all[function];
    if (!table_set(g->pair_of, (uint64_t)function << 32 | next, g->pair_count))
        return NULL;
    return &g->pairs[g->pair_count++];
}

static bool lay_out(struct graph *g, const struct edge_counts *counts)
{
    struct span *span = NULL;
    for (size_t i = 0; i < counts->count; i++) {
        const struct edge_count *s = &counts->all[i];
        if (i == 0 || s->function != s[-1].function || s->next != s[-1].next) {
            span = place_span(g, s->function, s->next);
            if (!span)
                return false;
            *span = (struct span){g->edge_count, 0, 0};
        }
        g->edges[g->edge_count++] = s->edge;
        span->count++;
        span->weight += s->edge.weight;
    }
    return true;
}

/* Appends a call to the last span, or adds it to the span's last edge if that is the same; the site is the heaviest one's. */
static void lay_call(struct graph *g, struct span *span, const struct static_edge *call, double weight,
                     double *heaviest)
{
    const struct graph_edge edge = {call->caller, call->rise, call->site, weight, call->open, call->through};
    struct graph_edge *last = span->count ? &g->edges[g->edge_count - 1] : NULL;
    span->weight += weight;
    if (!last || graph_compare_edges(last, &edge) != 0) {
        g->edges[g->edge_count++] = edge;
        span->count++;
        *heaviest = weight;
        return;
    }
    last->weight += weight;
    if (weight > *heaviest) {
        *heaviest = weight;
        last->site = edge.site;
    }
}

/* How often a direct call is made per run of its caller. */
static double weight_of(const struct statics *statics, const struct static_edge *call)
{
    for (size_t i = 0; call->caller == STATIC_ROOT && i < statics->start_count; i++)
        if (statics->starts[i].function == call->callee && !statics->starts[i].only)
            return LOADER;
    return 1;
}

/* Lays out the calls known from the binary, which are sorted. */
static void lay_out_calls(struct graph *g, const struct statics *statics)
{
    double heaviest = 0;
    for (size_t i = 0; statics && i < statics->count; i++) {
        const struct static_edge *call = &statics->edges[i];
        if (!is_function_in_scope(g, call->callee) || !is_call_in_scope(g, call->callee, call))
            continue;
        struct span *span = call->open ? &g->open[call->callee] : &g->fixed[call->callee];
        if (!span->count)
            span->first = g->edge_count;
        lay_call(g, span, call, weight_of(statics, call), &heaviest);
    }
}

/* Like weigh_callers(), for a class of whose calls only `share` reach a certain target. If training saw some of its callers,
 * the others are dropped: there can be thousands. */
static void weigh_class(struct graph *g, struct span *span, double share)
{
    struct graph_edge *edges = g->edges + span->first;
    uint32_t seen = 0;
    for (uint32_t i = 0; i < span->count; i++) {
        edges[i].weight *= share;
        if (edges[i].caller == GRAPH_ROOT || g->all[edges[i].caller].count)
            edges[seen++] = edges[i];
    }
    if (seen)
        span->count = seen;
    weigh_callers(g, span, NULL);
}

/* Like is_call_in_scope(), for a call through a pointer: the function that a thread was started with may be known. */
static bool is_pointer_call_in_scope(const struct graph *g, const struct static_edge *edge)
{
    return is_call_in_scope(g, PATHMAP_NONE, edge) &&
           (!g->scope.admission || edge->caller == GRAPH_ROOT ||
            admission_calls(g->scope.admission, g->scope.setting, edge->caller));
}

/* Lays out the class's edges, equal ones once. */
static void lay_out_class(struct graph *g, const struct static_class *class, struct span *span)
{
    size_t targets = 0;
    double heaviest = 0;
    *span = (struct span){g->edge_count, 0, 0};
    for (size_t i = 0; i < class->count; i++)
        if (is_pointer_call_in_scope(g, &class->edges[i]))
            lay_call(g, span, &class->edges[i], class->share, &heaviest);
    for (size_t i = 0; i < class->target_count; i++)
        targets += is_function_in_scope(g, class->targets[i]);
    weigh_class(g, span, 1 / (double)(targets ? targets : 1));
}

static bool lay_out_classes(struct graph *g, const struct statics *statics)
{
    size_t members = 0;
    for (size_t c = 0; statics && c < statics->class_count; c++)
        members += statics->classes[c].target_count;
    g->classes = calloc(statics ? statics->class_count + 1 : 1, sizeof *g->classes);
    g->members = malloc((members + 1) * sizeof *g->members);
    g->first_member = calloc((size_t)g->functions + 2, sizeof *g->first_member);
    if (!g->classes || !g->members || !g->first_member)
        return false;
    g->class_count = statics ? (uint32_t)statics->class_count : 0;
    uint32_t *first = g->first_member + 1;
    for (size_t c = 0; statics && c < statics->class_count; c++) {
        lay_out_class(g, &statics->classes[c], &g->classes[c]);
        for (size_t i = 0; i < statics->classes[c].target_count; i++)
            first[statics->classes[c].targets[i]] += is_function_in_scope(g, statics->classes[c].targets[i]);
    }
    uint32_t sum = 0; /* turns counts into the beginnings of each function's members, then into their ends */
    for (uint32_t f = 0; f < g->functions; f++) {
        uint32_t count = first[f];
        first[f] = sum;
        sum += count;
    }
    for (uint32_t c = 0; statics && c < statics->class_count; c++)
        for (size_t i = 0; i < statics->classes[c].target_count; i++)
            if (is_function_in_scope(g, statics->classes[c].targets[i]))
                g->members[first[statics->classes[c].targets[i]]++] = c;
    return true;
}

/* Builds all spans. */
static bool build_spans(struct graph *g, struct edge_counts *counted, const struct statics *statics,
                        const struct graph_weights *weights)
{
    if (g->scope.admission && !(g->allowed = admission_nodes(g->scope.admission, g->scope.setting)))
        return false;
    if (!collect_edges(g, weights, counted))
        return false;
    sort_with(counted->all, counted->count, compare_counts);
    size_t count = counted->count, capacity = count + (statics ? statics->count : 0);
    for (size_t c = 0; statics && c < statics->class_count; c++)
        capacity += statics->classes[c].count;
    g->functions = pathmap_function_count(g->map);
    g->edges = malloc((capacity + 1) * sizeof *g->edges);
    g->pairs = malloc((count + 1) * sizeof *g->pairs);
    g->all = calloc((size_t)g->functions + 1, sizeof *g->all);
    g->fixed = calloc((size_t)g->functions + 1, sizeof *g->fixed);
    g->open = calloc((size_t)g->functions + 1, sizeof *g->open);
    g->runs = calloc((size_t)g->functions + 1, sizeof *g->runs);
    g->callees = calloc((size_t)g->functions + 1, sizeof *g->callees);
    g->ends = calloc((size_t)g->functions + 1, sizeof *g->ends);
    g->pair_of = table_new();
    if (!g->edges || !g->pairs || !g->all || !g->fixed || !g->open || !g->runs || !g->callees || !g->ends ||
        !g->pair_of || capacity > UINT32_MAX)
        return false;
    if (!lay_out(g, counted))
        return false;
    lay_out_calls(g, statics);
    for (size_t i = 0; statics && i < statics->end_count; i++)
        g->ends[statics->ends[i]] = true;
    estimate_runs(g);
    count_callees(g);
    weigh_statics(g);
    return lay_out_classes(g, statics);
}

struct graph *graph_new(const struct pathmap *map, const struct statics *statics,
                        const struct graph_weights *weights, struct graph_scope scope)
{
    struct graph *g = calloc(1, sizeof *g);
    struct edge_counts counted = {.index = table_new()};
    if (g) {
        g->map = map;
        g->scope = scope;
        if (scope.setting == SETTING_ANY)
            g->scope.admission = NULL;
    }
    if (!g || !counted.index || !build_spans(g, &counted, statics, weights)) {
        graph_free(g);
        g = NULL;
    }
    table_free(counted.index);
    free(counted.all);
    return g;
}

void graph_free(struct graph *g)
{
    if (!g)
        return;
    free(g->edges);
    free(g->all);
    free(g->fixed);
    free(g->open);
    free(g->runs);
    free(g->callees);
    free(g->ends);
    free(g->allowed);
    free(g->pairs);
    table_free(g->pair_of);
    free(g->classes);
    free(g->members);
    free(g->first_member);
    free(g);
}

const struct pathmap *graph_map(const struct graph *g)
{
    return g->map;
}

static struct graph_edges edges_of(const struct graph *g, const struct span *span)
{
    return (struct graph_edges){g->edges + span->first, span->count, span->weight};
}

struct graph_edges graph_callers(const struct graph *g, uint32_t function)
{
    return edges_of(g, &g->all[function]);
}

struct graph_edges graph_callers_before(const struct graph *g, uint32_t function, uint32_t next)
{
    const uint64_t *pair = table_find(g->pair_of, (uint64_t)function << 32 | next);
    return pair ? edges_of(g, &g->pairs[*pair]) : (struct graph_edges){0};
}

struct graph_edges graph_static_callers(const struct graph *g, uint32_t function)
{
    return edges_of(g, &g->fixed[function]);
}

struct graph_edges graph_open_callers(const struct graph *g, uint32_t function)
{
    return edges_of(g, &g->open[function]);
}

uint32_t graph_classes(const struct graph *g, uint32_t function, const uint32_t **classes)
{
    *classes = g->members + g->first_member[function];
    return g->first_member[function + 1] - g->first_member[function];
}

struct graph_edges graph_class_callers(const struct graph *g, uint32_t class_number)
{
    return edges_of(g, &g->classes[class_number]);
}

uint32_t graph_class_count(const struct graph *g)
{
    return g->class_count;
}

uint32_t graph_edge_number(const struct graph *g, const struct graph_edge *edge)
{
    return (uint32_t)(edge - g->edges);
}

const struct graph_edge *graph_edge_at(const struct graph *g, uint32_t number)
{
    return &g->edges[number];
}
