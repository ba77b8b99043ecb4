/* automaton.c - look-ups of CIDs in the lattices and their rankings; see automaton.h. */
#include "infer/model/automaton.h"

#include <errno.h>
#include <stdlib.h>

#include "base/allocate.h"
#include "infer/model/ranking.h"

#define OF_RANKINGS 8 /* shares of the memory limit, as divisors: for paths, */
#define OF_REACH    4 /* for the reach of CIDs */

struct automaton {
    const struct graph *graph;
    struct automaton_options options;
    struct callers callers;
    struct reach reach; /* of the CIDs that will be asked for */
    struct lattice *lattice;
    struct ranking *ranking;
};

/* false: out of memory. */
static bool make_reach(struct automaton *a)
{
    const struct automaton_options *o = &a->options;
    struct reach_cid *cids = malloc((o->cid_count + 1) * sizeof *cids);
    for (size_t i = 0; cids && i < o->cid_count; i++)
        cids[i] = (struct reach_cid){o->cids[i].function, o->cids[i].height / CALLERS_UNIT};
    bool good =
        cids && reach_near(&a->callers, a->graph, cids, o->cid_count, o->least, o->work) == 0 &&
        reach_make(&a->reach, &a->callers, cids, o->cid_count, o->least, o->bytes / OF_REACH, o->work) == 0;
    free(cids);
    return good;
}

static bool make_lattice(struct automaton *a)
{
    const struct automaton_options *o = &a->options;
    if (callers_make(&a->callers, a->graph, NULL) < 0 || (o->cids && !make_reach(a)))
        return false;
    a->lattice = lattice_new(&a->callers, o->cids ? &a->reach : NULL,
                             o->bytes - o->bytes / OF_RANKINGS - o->bytes / OF_REACH, o->work);
    a->ranking = a->lattice ? ranking_new(a->lattice, &a->callers, o->best, o->work) : NULL;
    return a->ranking;
}

struct automaton *automaton_new(const struct graph *graph, const struct automaton_options *options)
{
    struct automaton *a = allocate(struct automaton, .graph = graph);
    if (!a)
        return NULL;
    if (options)
        a->options = *options;
    if (!a->options.best)
        a->options.best = AUTOMATON_BEST;
    if (a->options.best > AUTOMATON_BEST_MAX)
        a->options.best = AUTOMATON_BEST_MAX;
    if (!a->options.bytes)
        a->options.bytes = AUTOMATON_BYTES;
    return whole_or_free(a, make_lattice(a), automaton_free);
}

void automaton_free(struct automaton *a)
{
    if (!a)
        return;
    ranking_free(a->ranking);
    lattice_free(a->lattice);
    reach_free(&a->reach);
    callers_free(&a->callers);
    free(a);
}

/* Extends the lattice to a CID's state: 0; -ENOENT: no path leads there; -ENOSPC; -ENOMEM. */
static int extend_to(struct automaton *a, const struct lattice_state *state)
{
    bool beyond =
        work_is_done(a->options.work) || (a->options.cids && state->unit / REACH_BLOCK >= a->reach.blocks);
    int rc = beyond ? -ENOSPC : 0;
    for (int layer = 0; rc == 0 && layer < LATTICE_LAYERS; layer++) {
        rc = lattice_extend(a->lattice, (enum lattice_layer)layer, state->unit);
        if (rc == 0 && lattice_has(a->lattice, state->node, state->unit))
            return 0;
    }
    return rc < 0 ? rc : -ENOENT;
}

/* The sum over all paths of a state. 0 or -ENOMEM. */
static int sum_paths(struct automaton *a, struct lattice_state state, struct scaled *out)
{
    const struct lattice_way *ways;
    struct scaled_sum sum = {0, 0};
    int64_t count = lattice_ways(a->lattice, state, &ways);
    for (int64_t i = 0; i < count; i++)
        scaled_add(&sum, ways[i].value.sum, ways[i].probability);
    *out = scaled_total(sum);
    return count < 0 ? -ENOMEM : 0;
}

/* Drops all paths if they take too much memory. false: out of memory. */
static bool make_room(struct automaton *a)
{
    return ranking_bytes(a->ranking) <= a->options.bytes / OF_RANKINGS || ranking_clear(a->ranking);
}

/* The best paths of a state. 0 or -ENOMEM. */
static int rank_paths(const struct automaton *a, uint32_t state, struct scaled sum,
                      struct automaton_answer *out)
{
    uint32_t path;
    int rc = ranking_first(a->ranking, state, &path);
    for (out->best = 0; rc > 0; rc = ranking_next(a->ranking, &path)) {
        double p = scaled_ratio(ranking_probability(a->ranking, path), sum);
        out->path[out->best] = path;
        out->probability[out->best++] = p < 1 ? p : 1;
        if (work_is_done(a->options.work))
            break;
    }
    return rc < 0 ? rc : 0;
}

int automaton_find(struct automaton *a, uint32_t function, uint32_t height, struct automaton_answer *out)
{
    struct lattice_state state = {a->callers.node_of[function], CALLERS_LEAF, height / CALLERS_UNIT};
    struct scaled sum = {0, 0};
    int rc = height % CALLERS_UNIT || state.node == CALLERS_NONE ? -ENOENT : extend_to(a, &state);
    if (rc == 0)
        rc = make_room(a) ? sum_paths(a, state, &sum) : -ENOMEM;
    if (rc < 0)
        return rc;
    out->chance = scaled_ratio(sum, scaled_of(1, 0));
    uint32_t number = ranking_state(a->ranking, state);
    rc = number == RANKING_NONE ? -ENOMEM : rank_paths(a, number, sum, out);
    /* every path is less probable than a number can represent */
    return rc == 0 && out->best == 0 ? -ENOENT : rc;
}

int automaton_step(struct automaton *a, uint32_t path, struct automaton_step *step, uint32_t *outer)
{
    struct ranking *ranking = a->ranking;
    struct ranking_step at, between;
    int rc = ranking_step(ranking, path, &at);
    if (rc < 0)
        return rc;
    uint32_t edge = at.edge;
    *outer = at.outer;
    /* Skips the steps into classes and open frames: they are not frames of their own. */
    while (*outer != RANKING_END) {
        rc = ranking_step(ranking, *outer, &between);
        if (rc < 0)
            return rc;
        if (between.node < a->callers.functions)
            break;
        edge = edge == CALLERS_NONE ? between.edge : edge;
        *outer = between.outer;
    }
    const struct graph_edge *by = edge == CALLERS_NONE ? NULL : graph_edge_at(a->graph, edge);
    *step = (struct automaton_step){a->callers.function_of[at.node], at.unit * CALLERS_UNIT,
                                    by ? by->site : 0, by && by->open};
    *outer = *outer == RANKING_END ? AUTOMATON_END : *outer;
    return 0;
}

uint32_t *automaton_note(struct automaton *a, uint32_t path)
{
    return ranking_note(a->ranking, path);
}

int automaton_prepare(struct automaton *a, uint32_t height)
{
    return lattice_extend(a->lattice, LATTICE_RESORTS, height / CALLERS_UNIT);
}

size_t automaton_states(const struct automaton *a)
{
    return lattice_cells(a->lattice);
}

size_t automaton_bytes(const struct automaton *a)
{
    return lattice_bytes(a->lattice) + ranking_bytes(a->ranking);
}
