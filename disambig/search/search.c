/* search.c - see search.h: checks the problem, runs a search, and recounts its result. */
#include "disambig/search/search.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "disambig/search/recount.h"
#include "disambig/search/state.h"

void state_change(struct state *s, uint32_t function, uint32_t pad)
{
    deep_paths_change(&s->deep_paths, function, s->pads[function], pad);
    cells_change(&s->cells, function, s->pads[function], pad);
    s->pads[function] = pad;
}

double state_precise(const struct state *s)
{
    uint64_t precise = s->units.fixed_weight;
    for (uint32_t i = 0; i < s->units.count; i++)
        if (s->units.origins[i].weight && cells_unit_precise(&s->cells, i))
            precise += s->units.origins[i].weight;
    return s->units.weight ? (double)precise / (double)s->units.weight : 1;
}

bool state_over(const struct state *s)
{
    return (s->problem->steps && s->steps >= s->problem->steps) || (s->deadline && clock_ns() >= s->deadline);
}

bool state_reached(const struct state *s)
{
    double precise = state_precise(s);
    const struct search_problem *p = s->problem;
    if (p->progress)
        p->progress(p->context, s->steps, precise,
                    s->deep_paths.deepest ? (double)deep_paths_deepest(&s->deep_paths) / s->deep_paths.deepest
                                          : 1);
    return precise >= p->target && p->target < 1;
}

void state_restore(struct state *s, const uint32_t *pads)
{
    /* Shrinks pads first, so that the stack is never too long. */
    for (uint32_t f = 0; f < s->units.functions; f++)
        if (pads[f] < s->pads[f])
            state_change(s, f, pads[f]);
    for (uint32_t f = 0; f < s->units.functions; f++)
        if (pads[f] > s->pads[f])
            state_change(s, f, pads[f]);
}

uint32_t search_mover_count(const struct search_problem *p)
{
    return pathmap_function_count(p->map) + (p->wraps ? p->wrap_count : 0);
}

uint32_t search_wrap(const struct search_problem *p, uint32_t node)
{
    return p->wraps ? p->wraps[node] : PATHMAP_NONE;
}

struct lineage_movers search_movers(const struct search_problem *p)
{
    return (struct lineage_movers){p->most, p->unshifted, p->wraps, p->wraps ? p->wrap_count : 0};
}

double search_value(const struct search_result *r)
{
    double weight = r->weight ? (double)r->precise_after / (double)r->weight : 1;
    double paths = r->paths ? (double)r->paths_precise_after / (double)r->paths : 1;
    return WORTH_SHARE_WEIGHT * weight + (1 - WORTH_SHARE_WEIGHT) * paths;
}

static int problem_check(const struct search_problem *p, struct fathom_error *err)
{
    if (!(p->stack >= 1))
        return error_set(err, EINVAL, "the stack may grow to %g times its length: give 1 or more", p->stack);
    if (!(p->target >= 0 && p->target <= 1))
        return error_set(err, EINVAL, "%g is no share of the weight: give a target from 0 to 1", p->target);
    if (!(p->seconds >= 0))
        return error_set(err, EINVAL, "the search cannot take %g seconds", p->seconds);
    for (uint32_t f = 0; f < search_mover_count(p); f++)
        if (p->most[f] % PAD_UNIT)
            return error_set(err, EINVAL, "the largest pad of function %u is %u bytes, no multiple of %u", f,
                             p->most[f], PAD_UNIT);
    return 0;
}

static int run_search(struct state *s, const struct lineage_order *order, struct fathom_error *err)
{
    int rc = units_make(&s->units, s->problem, order, err);
    if (rc == 0)
        rc = deep_paths_make(&s->deep_paths, s->problem, order, err);
    if (rc == 0)
        rc = cells_make(&s->cells, &s->units, s->deep_paths.limit, err);
    if (rc == 0 && !state_reached(s))
        rc = s->problem->random ? search_by_chance(s, err) : search_by_gain(s, err);
    cells_clear(&s->cells);
    deep_paths_clear(&s->deep_paths);
    units_clear(&s->units);
    return rc;
}

static int count_result(const struct state *s, const struct lineage_order *order, struct search_result *out,
                        struct fathom_error *err)
{
    const struct search_problem *p = s->problem;
    struct recount before, after;
    int rc = recount_map(p->map, order, NULL, NULL, NULL, &before, err);
    if (rc == 0)
        rc = recount_map(p->map, order, s->pads, p->unshifted, p->wraps, &after, err);
    if (rc < 0)
        return rc;
    *out = (struct search_result){
        .steps = s->steps,
        .weight = before.weight,
        .weight_before = before.weight,
        .precise_before = before.precise_weight,
        .precise_after = after.precise_weight,
        .paths = after.paths,
        .paths_before = before.paths,
        .paths_precise_before = before.precise_paths,
        .paths_precise_after = after.precise_paths,
        .stack_before = (uint32_t)before.deepest,
        .stack_after = (uint32_t)after.deepest,
    };
    return 0;
}

int search_run(const struct search_problem *problem, struct search_result *result, struct fathom_error *err)
{
    int rc = problem_check(problem, err);
    if (rc < 0)
        return rc;
    struct lineage_order order;
    rc = lineage_order(problem->map, &order, err);
    if (rc < 0)
        return rc;
    struct state s = {.problem = problem, .random = problem->seed};
    s.deadline = problem->seconds > 0 ? clock_ns() + (uint64_t)(problem->seconds * 1e9) : 0;
    s.pads = calloc(search_mover_count(problem) + 1ul, sizeof *s.pads);
    rc = s.pads ? run_search(&s, &order, err) : error_memory(err);
    if (rc == 0)
        rc = count_result(&s, &order, result, err);
    lineage_order_clear(&order);
    if (rc == 0)
        result->pads = s.pads;
    else
        free(s.pads);
    return rc;
}
