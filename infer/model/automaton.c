/* automaton.c - look-ups of CIDs in the lattices and their rankings; see automaton.h. */
#include "infer/model/automaton.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "infer/model/ranking.h"

#define OF_RANKINGS 8 /* the share of the memory that paths may take: 1 in so many */

/* One that follows last resorts or not. */
struct chart {
    struct lattice *lattice;
    struct ranking *ranking;
};

struct automaton {
    const struct graph *graph;
    struct automaton_options options;
    struct callers callers;
    bool *needed;           /* by node of the callers; NULL: all are */
    struct chart charts[2]; /* without and with last resorts */
    struct chart *chart;    /* that the last CID was found in; NULL: none was */
    uint32_t state;         /* of it, there */
};

/* false: out of memory. */
static bool make_charts(struct automaton *a)
{
    const struct automaton_options *o = &a->options;
    size_t bytes = (o->bytes - o->bytes / OF_RANKINGS) / 2;
    if (callers_make(&a->callers, a->graph) < 0)
        return false;
    if (o->functions)
        a->needed = callers_towards(&a->callers, o->functions, o->function_count);
    bool good = a->needed || !o->functions;
    for (int resorts = 0; good && resorts < 2; resorts++) {
        struct chart *chart = &a->charts[resorts];
        chart->lattice = lattice_new(a->graph, &a->callers, a->needed, resorts, bytes);
        good = chart->lattice && (chart->ranking = ranking_new(chart->lattice, &a->callers, o->best));
    }
    return good;
}

struct automaton *automaton_new(const struct graph *graph, const struct automaton_options *options)
{
    struct automaton *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    a->graph = graph;
    if (options)
        a->options = *options;
    if (!a->options.best)
        a->options.best = AUTOMATON_BEST;
    if (a->options.best > AUTOMATON_BEST_MAX)
        a->options.best = AUTOMATON_BEST_MAX;
    if (!a->options.bytes)
        a->options.bytes = AUTOMATON_BYTES;
    if (!make_charts(a)) {
        automaton_free(a);
        a = NULL;
    }
    return a;
}

void automaton_free(struct automaton *a)
{
    if (!a)
        return;
    for (int resorts = 0; resorts < 2; resorts++) {
        ranking_free(a->charts[resorts].ranking);
        lattice_free(a->charts[resorts].lattice);
    }
    free(a->needed);
    callers_free(&a->callers);
    free(a);
}

/* The cell of a CID, and the chart that has it: 0; -ENOENT: none; -ENOSPC; -ENOMEM. */
static int choose_chart(struct automaton *a, const struct lattice_state *state, struct lattice_cell *cell)
{
    int rc = -ENOENT;
    for (int resorts = 0; rc == -ENOENT && resorts < 2; resorts++) {
        a->chart = &a->charts[resorts];
        rc = lattice_extend(a->chart->lattice, state->unit);
        if (rc == 0 && !lattice_find(a->chart->lattice, state->node, state->unit, cell))
            rc = -ENOENT;
    }
    return rc;
}

/* The sum over all paths of a state. 0 or -ENOMEM. */
static int sum_up(struct automaton *a, struct lattice_state state, struct scaled *out)
{
    const struct lattice_way *ways;
    struct scaled_sum sum = {0, 0};
    int64_t count = lattice_ways(a->chart->lattice, state, &ways);
    for (int64_t i = 0; i < count; i++)
        scaled_add(&sum, ways[i].value.sum, ways[i].probability);
    *out = scaled_total(sum);
    return count < 0 ? -ENOMEM : 0;
}

/* Forgets paths when there are too many. false: out of memory. */
static bool make_room(struct automaton *a)
{
    return ranking_bytes(a->chart->ranking) <= a->options.bytes / OF_RANKINGS ||
           ranking_clear(a->chart->ranking);
}

/* The best paths of the state that was found. 0 or -ENOMEM. */
static int rank(const struct automaton *a, struct scaled sum, struct automaton_answer *out)
{
    uint32_t path;
    int rc = ranking_first(a->chart->ranking, a->state, &path);
    for (out->best = 0; rc > 0; rc = ranking_next(a->chart->ranking, &path)) {
        double p = scaled_ratio(ranking_probability(a->chart->ranking, path), sum);
        out->path[out->best] = path;
        out->probability[out->best++] = p < 1 ? p : 1;
    }
    return rc;
}

int automaton_find(struct automaton *a, uint32_t function, uint32_t height, struct automaton_answer *out)
{
    struct lattice_state state = {function, CALLERS_LEAF, height / CALLERS_UNIT};
    struct lattice_cell cell;
    struct scaled sum = {0, 0};
    int rc = height % CALLERS_UNIT ? -ENOENT : choose_chart(a, &state, &cell);
    if (rc == 0)
        rc = make_room(a) ? sum_up(a, state, &sum) : -ENOMEM;
    if (rc < 0)
        return rc;
    a->state = ranking_state(a->chart->ranking, state);
    out->paths = cell.paths;
    out->chance = scaled_ratio(sum, scaled_of(1, 0));
    return a->state == RANKING_NONE ? -ENOMEM : rank(a, sum, out);
}

int automaton_step(struct automaton *a, uint32_t path, struct automaton_step *step, uint32_t *outer)
{
    struct ranking *ranking = a->chart->ranking;
    struct ranking_step at, between;
    int rc = ranking_step(ranking, path, &at);
    if (rc < 0)
        return rc;
    uint32_t edge = at.edge;
    *outer = at.outer;
    /* Classes and open frames are no steps of their own. */
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
    *step = (struct automaton_step){at.node, at.unit * CALLERS_UNIT, by ? by->site : 0, by && by->open};
    *outer = *outer == RANKING_END ? AUTOMATON_END : *outer;
    return 0;
}

uint32_t *automaton_note(struct automaton *a, uint32_t path)
{
    return ranking_note(a->chart->ranking, path);
}

int automaton_prepare(struct automaton *a, uint32_t height)
{
    int plain = lattice_extend(a->charts[0].lattice, height / CALLERS_UNIT);
    int all = plain == -ENOMEM ? 0 : lattice_extend(a->charts[1].lattice, height / CALLERS_UNIT);
    return plain < 0 ? plain : all;
}

size_t automaton_states(const struct automaton *a)
{
    return lattice_cells(a->charts[0].lattice) + lattice_cells(a->charts[1].lattice);
}

size_t automaton_bytes(const struct automaton *a)
{
    size_t bytes = 0;
    for (int resorts = 0; resorts < 2; resorts++)
        bytes += lattice_bytes(a->charts[resorts].lattice) + ranking_bytes(a->charts[resorts].ranking);
    return bytes;
}
