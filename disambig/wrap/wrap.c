/* wrap.c - see wrap.h. */
#include "disambig/wrap/wrap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/saturate.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/vec.h"
#include "disambig/search/worth.h"
#include "disambig/wrap/candidates.h"

/* Of lua5.4's contexts 74.9% are precise after one round, 75.3% after two, with copies 98.2 and 98.4%; a third is
 * useless, and so is a second for perl and libsqlite3. With 200 candidates instead of 2,000: 74.4 and 98.4% of
 * lua5.4's, 98.1% of perl's (97.9), 65.7% of libsqlite3's (65.9). */
#define ROUNDS          2u
#define MOST_CANDIDATES 2000u /* per round: they make the search slower, and take its memory */

struct trying {
    const struct wrap_edges_of *of;
    struct calls *calls;
    struct pad *pads; /* by address */
    size_t pad_count;
    bool *movable; /* by pad */
    struct wrap *wraps;
    size_t wrap_count, wrap_capacity;
};

static uint64_t address_of(const struct trying *t, uint32_t function)
{
    return image_function(t->of->of->image, wrap_edges_function(t->of, function))->address;
}

/* Lists every function with such calls, once, with the largest pad that any of its copies may get. */
static bool list_callers(struct trying *t, const struct wrap_edges *edges, const uint32_t *most)
{
    for (uint32_t e = 0; e < edges->count; e++) {
        struct wrap_edge edge = edges->items[e];
        t->pads[t->pad_count++] = (struct pad){address_of(t, edge.caller), most[edge.caller], 0};
        if (!wrap_edges_list(t->of, t->calls, &edge, WRAP_MOST, &t->wraps, &t->wrap_count, &t->wrap_capacity))
            return false;
    }
    sort_by(t->pads, t->pad_count, address);
    size_t kept = 0;
    for (size_t i = 0; i < t->pad_count; i++)
        if (kept && t->pads[kept - 1].address == t->pads[i].address)
            t->pads[kept - 1].bytes =
                t->pads[i].bytes > t->pads[kept - 1].bytes ? t->pads[i].bytes : t->pads[kept - 1].bytes;
        else
            t->pads[kept++] = t->pads[i];
    t->pad_count = kept;
    for (size_t i = 0; i < t->wrap_count; i++)
        t->wraps[i].copy = 0;
    wrap_edges_sort(t->wraps, t->wrap_count);
    kept = 0;
    for (size_t i = 0; i < t->wrap_count; i++)
        if (!kept || t->wraps[kept - 1].site != t->wraps[i].site)
            t->wraps[kept++] = t->wraps[i];
    t->wrap_count = kept;
    return true;
}

/* Fills callers, by function of the map: which ones can be emitted anew with their calls wrapped; tries it with one copy
 * of each. most: by function of the map, the largest pad that its frame may get at the same time. Errors as of
 * enlarge_movable(). */
static int find_callers(const struct wrap_edges_of *of, const struct wrap_edges *edges, const uint32_t *most,
                        bool *callers, struct fathom_error *err)
{
    struct trying t = {.of = of,
                       .pads = malloc((edges->count + 1ul) * sizeof *t.pads),
                       .movable = malloc(edges->count + 1ul)};
    int rc =
        t.pads && t.movable && calls_build(of->of->image, &t.calls, err) == 0 && list_callers(&t, edges, most)
            ? 0
            : error_memory(err);
    struct enlarge_plan plan = {
        .pads = t.pads, .count = t.pad_count, .wraps = t.wraps, .wrap_count = t.wrap_count};
    if (rc == 0 && t.pad_count)
        rc = enlarge_movable(of->of->image, of->of->growth, &plan, t.movable, err);
    for (uint32_t e = 0; rc == 0 && e < edges->count; e++) {
        uint32_t caller = edges->items[e].caller;
        uint64_t address = address_of(&t, caller);
        callers[caller] = t.movable[lower_bound(i, (size_t)0, t.pad_count, t.pads[i].address < address)];
    }
    calls_free(t.calls);
    free(t.pads);
    free(t.movable);
    free(t.wraps);
    return rc;
}

struct wrapping {
    const struct wrap_problem *problem;
    struct wrap_edges edges;
    bool *callers;   /* by function of the map: its calls can be wrapped */
    bool *costly;    /* by function of the map */
    double *worth;   /* by edge */
    uint32_t *most;  /* of the round's search */
    uint32_t *order; /* edges by worth */
    struct wrap_result best, latest;
    uint32_t *best_edges, *latest_edges; /* by wrap */
    uint32_t best_count, latest_count;   /* wraps */
};

static int by_worth(const void *a, const void *b, void *context)
{
    const struct wrapping *w = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return order_of(w->worth[y], w->worth[x]) ?: order_of(x, y);
}

/* Computes the maximal gain of each edge, less the price of its instructions (search/by_gain.c). */
static void price_edges(struct wrapping *w)
{
    double all = (double)w->best.all_calls;
    for (uint32_t e = 0; e < w->edges.count; e++) {
        const struct wrap_edge *edge = &w->edges.items[e];
        if (!w->callers[edge->caller])
            w->worth[e] = 0;
        else if (all > 0)
            w->worth[e] -= WORTH_CALLS * (double)WORTH_ALL * ((double)edge->calls / all);
    }
}

/* The edges, by wrap, of the next search's candidates: the last wraps, and new ones. NULL: out of memory. */
static uint32_t *choose_edges(struct wrapping *w, const struct search_result *last,
                              const uint32_t *last_edges, uint32_t last_count, uint32_t *count)
{
    uint32_t functions = pathmap_function_count(w->problem->of.map);
    uint32_t *chosen = malloc((w->edges.count + 1ul) * sizeof *chosen);
    if (!chosen)
        return NULL;
    *count = 0;
    for (uint32_t i = 0; i < last_count; i++)
        if (last->pads[functions + i]) {
            chosen[(*count)++] = last_edges[i];
            w->worth[last_edges[i]] = 0;
        }
    for (uint32_t e = 0; e < w->edges.count; e++)
        w->order[e] = e;
    qsort_r(w->order, w->edges.count, sizeof *w->order, by_worth, w);
    for (uint32_t i = 0; i < w->edges.count && i < MOST_CANDIDATES && w->worth[w->order[i]] > 0; i++)
        chosen[(*count)++] = w->order[i];
    return chosen;
}

/* By how much functions and wraps may grow. NULL: out of memory. */
static uint32_t *find_most(const struct wrapping *w, const uint32_t *edges, uint32_t count)
{
    const struct wrap_problem *p = w->problem;
    uint32_t functions = pathmap_function_count(p->of.map);
    uint32_t *most = malloc((functions + count + 1ul) * sizeof *most);
    if (!most)
        return NULL;
    memcpy(most, p->search->most, functions * sizeof *most);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t *caller = &most[w->edges.items[edges[i]].caller];
        *caller = *caller < WRAP_MOST ? *caller : WRAP_MOST;
        most[functions + i] = p->largest < WRAP_MOST ? p->largest : WRAP_MOST;
    }
    return most;
}

static int search_wraps(struct wrapping *w, struct wrap_result *r, const uint32_t *edges, uint32_t count,
                        uint64_t seed, struct fathom_error *err)
{
    struct search_problem problem = *w->problem->search;
    problem.seed += seed;
    uint32_t nodes = pathmap_node_count(problem.map);
    uint32_t *numbers = malloc((w->edges.count + 1ul) * sizeof *numbers);
    uint32_t *most = find_most(w, edges, count);
    r->wraps = malloc((nodes + 1ul) * sizeof *r->wraps);
    int rc = numbers && most && r->wraps ? 0 : error_memory(err);
    if (rc == 0) {
        memset(numbers, 0xff, w->edges.count * sizeof *numbers);
        for (uint32_t i = 0; i < count; i++)
            numbers[edges[i]] = pathmap_function_count(problem.map) + i;
        for (uint32_t i = 0; i < nodes; i++)
            r->wraps[i] = w->edges.by_node[i] == PATHMAP_NONE ? PATHMAP_NONE : numbers[w->edges.by_node[i]];
        problem.most = most;
        problem.costly = w->costly;
        problem.wraps = r->wraps;
        problem.wrap_count = count;
        rc = search_run(&problem, &r->found, err);
    }
    free(numbers);
    free(most);
    return rc;
}

/* What the search maximises: what is precise, less its cost. */
static double value_of(const struct wrapping *w, const struct wrap_result *r,
                       const struct search_result *found)
{
    double share = w->best.all_calls ? (double)r->calls / (double)w->best.all_calls : 0;
    return search_value(found) - WORTH_CALLS * share;
}

static void count_calls(const struct wrapping *w, struct wrap_result *r, const uint32_t *edges,
                        uint32_t count)
{
    uint32_t functions = pathmap_function_count(w->problem->of.map);
    for (uint32_t i = 0; i < count; i++)
        if (r->found.pads[functions + i]) {
            r->edges++;
            r->calls = add_saturating(r->calls, w->edges.items[edges[i]].calls);
        }
}

/* Runs a round, starting from the last result; `seed` is added to the search's own. *more: whether it helped, or
 * another seed may. */
static int run_round(struct wrapping *w, uint64_t seed, bool *more, struct fathom_error *err)
{
    bool better = false;
    const struct search_result *last = w->best.found.pads ? &w->best.found : w->problem->found;
    struct search_problem problem = *w->problem->search;
    struct wrap_result next = {.all_calls = w->best.all_calls};
    uint32_t count;
    problem.wraps = w->best.wraps;
    problem.wrap_count = w->best_count;
    *more = false;
    int rc = candidates_find(&problem, last->pads, &w->edges, w->worth, err);
    if (rc < 0)
        return rc;
    price_edges(w);
    uint32_t *edges = choose_edges(w, last, w->best_edges, w->best_count, &count);
    if (!edges)
        return error_memory(err);
    if (count)
        rc = search_wraps(w, &next, edges, count, seed, err);
    if (rc == 0 && count) {
        count_calls(w, &next, edges, count);
        better = next.edges && value_of(w, &next, &next.found) > value_of(w, &w->best, last);
        *more = better || !w->best.found.pads;
    }
    if (!better) {
        free(edges);
        wrap_clear(&next);
        return rc == -EFBIG ? 0 : rc; /* too many for the search: the result stays without wraps */
    }
    next.found.steps += last->steps;
    next.found.precise_before = w->problem->found->precise_before;
    next.found.paths_precise_before = w->problem->found->paths_precise_before;
    next.found.paths_before = w->problem->found->paths_before;
    wrap_clear(&w->best);
    free(w->best_edges);
    w->best = next;
    w->best_edges = edges;
    w->best_count = count;
    return 0;
}

static int list_calls(struct wrapping *w, struct fathom_error *err)
{
    struct calls *calls;
    size_t capacity = 0;
    uint32_t functions = pathmap_function_count(w->problem->of.map);
    if (calls_build(w->problem->of.of->image, &calls, err) < 0)
        return error_memory(err);
    bool good = true;
    for (uint32_t i = 0; i < w->best_count && good; i++) {
        uint32_t bytes = w->best.found.pads[functions + i];
        good = !bytes || wrap_edges_list(&w->problem->of, calls, &w->edges.items[w->best_edges[i]], bytes,
                                         &w->best.list, &w->best.count, &capacity);
    }
    wrap_edges_sort(w->best.list, w->best.count);
    calls_free(calls);
    return good ? 0 : error_memory(err);
}

/* Finds the functions whose pads cost instructions. */
static bool find_costly(struct wrapping *w)
{
    const struct wrap_problem *p = w->problem;
    uint32_t functions = pathmap_function_count(p->of.map);
    w->costly = calloc(functions + 1ul, sizeof *w->costly);
    for (uint32_t f = 0; w->costly && p->search->costly && f < functions; f++)
        w->costly[f] = p->search->costly[p->of.bodies ? bodies_function(p->of.bodies, f) : f];
    return w->costly;
}

static int prepare_wrapping(struct wrapping *w, struct fathom_error *err)
{
    const struct wrap_problem *p = w->problem;
    int rc = wrap_edges_find(&p->of, &w->edges, err);
    if (rc < 0)
        return rc;
    for (uint32_t i = 0; i < pathmap_node_count(p->of.map); i++)
        w->best.all_calls = add_saturating(w->best.all_calls, pathmap_node(p->of.map, i).passes);
    w->callers = calloc(pathmap_function_count(p->of.map) + 1ul, sizeof *w->callers);
    w->worth = malloc((w->edges.count + 1ul) * sizeof *w->worth);
    w->order = malloc((w->edges.count + 1ul) * sizeof *w->order);
    if (!w->callers || !w->worth || !w->order || !find_costly(w))
        return error_memory(err);
    rc = find_callers(&p->of, &w->edges, p->search->most, w->callers, err);
    for (uint32_t e = 0; e < w->edges.count; e++)
        if (!w->callers[w->edges.items[e].caller]) {
            w->edges.possible -= w->edges.items[e].sites;
            w->edges.refused[WRAP_CALLER] += w->edges.items[e].sites;
        }
    return rc;
}

int wrap_run(const struct wrap_problem *problem, struct wrap_result *out, struct fathom_error *err)
{
    struct wrapping w = {.problem = problem};
    bool more = true;
    int rc = prepare_wrapping(&w, err);
    for (unsigned round = 0; round < ROUNDS && more && rc == 0; round++)
        rc = run_round(&w, w.best.found.pads ? 0 : round, &more, err);
    if (rc == 0 && w.best.found.pads)
        rc = list_calls(&w, err);
    w.best.possible = w.edges.possible;
    memcpy(w.best.refused, w.edges.refused, sizeof w.best.refused);
    wrap_edges_clear(&w.edges);
    free(w.callers);
    free(w.costly);
    free(w.worth);
    free(w.order);
    free(w.best_edges);
    if (rc < 0)
        wrap_clear(&w.best);
    else
        *out = w.best;
    return rc;
}

void wrap_clear(struct wrap_result *r)
{
    free(r->found.pads);
    free(r->wraps);
    free(r->list);
    memset(r, 0, sizeof *r);
}
