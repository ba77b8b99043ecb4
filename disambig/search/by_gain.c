/*
 * by_gain.c - the search for pads: simulated annealing, one function at a time, on the worth of precise cells.
 *
 * A step takes one function and computes the gain of each of its pads, with all others unchanged: only units that
 * hold the function more or less often than others of their group are moved (cells.h). Then it chooses one of the
 * pads with a probability that increases with its gain ("heat bath"): at first nearly any, at the end only the
 * best. Two sweeps over all functions come first, so that a target which is easy to reach is reached soon, and
 * two last, which also remove useless pads. Functions are chosen more often the more ambiguous weight they move,
 * and the less they cost.
 *
 * Stack within the limit is not part of the gain, but pads on tall stacks have a price of a fraction of a path,
 * so that among equal pads those are chosen that leave stack for others. Pads that cost instructions have an
 * additional price, at any size.
 *
 * First only groups with weight are considered: of gnugo's 1.6 million paths 135 have samples, of sqlite3's
 * 42,000 there are 284. With the same number of units moved, that made 99.98% of sqlite3's weight precise at 48
 * bytes instead of 99.63%, and, with 400 million, 82.5% of gnugo's at 112 bytes instead of 79%; 120 million make
 * it 80.9%.
 *
 * The numbers below were chosen by runs on maps of lua5.4, sqlite3 and perl, with largest pads of 112 and 48
 * bytes and three seeds, before weight came first. Of sqlite3 at 48 bytes, 99.6% of the weight was precise when
 * heat went from 1e-3 to 1e-6, 99.35% when it began at 1e-5; of its paths, 54.5% and 52.5% at 112 bytes.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/search.h"
#include "disambig/search/state.h"

#define OPTIONS       16u  /* pads tried in one step */
#define HOT           1e-3 /* initial heat, in shares of all value */
#define COLD          5e-7 /* final heat */
#define WORK_PER_MOVE 60u  /* units moved in a search, per move; */
#define LEAST_WORK    2000000u
#define STEP_WORK     16u        /* additional cost of a step, in units moved */
#define MOST_WORK     120000000u /* 5 to 15 s */
#define CHANCES       50u        /* how often functions' chances are recomputed */
#define FIRST_SWEEPS  2u
#define WEIGHT_FIRST  2u /* the part of the work that is for groups with weight alone */
#define LAST_SWEEPS   2u
#define PRICE         0.1  /* of a pad of 16 bytes that is not on a tall stack, in values of a path */
#define COSTLY_PATHS  1.0  /* of a pad with instructions, besides these (WORTH_CALLS), in values of a path */
#define EVEN          1e-6 /* minimal share of ambiguous value that a function is assumed to move */

struct annealing {
    struct state *s;
    int64_t *prices; /* by function: price of 16 bytes of its pad, */
    int64_t *costly; /* and of having one */
    int64_t cost;    /* of all pads */
    double *chances; /* by function: cumulative */
    uint32_t *best;  /* pads */
    int64_t best_value;
    double heat; /* in value; 0: none */
};

/* A random number from 0 to below 1. */
static double draw_random(struct annealing *a)
{
    return (double)(hash_random(&a->s->random) >> 11) * 0x1p-53;
}

/* Lists other pads that the function may have: all, or a random choice with more of the small ones. */
static uint32_t list_options(struct annealing *a, uint32_t function, uint32_t options[OPTIONS])
{
    struct state *s = a->s;
    uint32_t pad = s->pads[function], count = 0;
    uint32_t most = deep_paths_most(&s->deep_paths, function, pad, s->problem->most[function]) / PAD_UNIT;
    if (most <= OPTIONS) {
        for (uint32_t i = 0; i <= most; i++)
            if (i * PAD_UNIT != pad)
                options[count++] = i * PAD_UNIT;
        return count;
    }
    uint32_t few = most < 2 * OPTIONS ? most : 2 * OPTIONS;
    if (pad)
        options[count++] = 0;
    while (count < OPTIONS) {
        uint32_t range = count % 4 ? few : most;
        uint32_t option = (uint32_t)(hash_random(&s->random) % (range + 1ul)) * PAD_UNIT;
        if (option != pad)
            options[count++] = option;
    }
    return count;
}

static uint32_t choose_option(struct annealing *a, const int64_t *gains, uint32_t count)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < count; i++)
        best = gains[i] > gains[best] ? i : best;
    if (a->heat <= 0)
        return best;
    double odds[OPTIONS + 1], sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += odds[i] = exp((double)(gains[i] - gains[best]) / a->heat);
    double at = draw_random(a) * sum;
    for (uint32_t i = 0; i < count; i++) {
        if (at < odds[i])
            return i;
        at -= odds[i];
    }
    return best;
}

static int64_t price_of(const struct annealing *a, uint32_t function, uint32_t pad)
{
    return a->prices[function] * (pad / PAD_UNIT) + (pad ? a->costly[function] : 0);
}

/* Runs one step. */
static void settle_function(struct annealing *a, uint32_t function)
{
    struct state *s = a->s;
    uint32_t options[OPTIONS + 1] = {s->pads[function]}, pad = s->pads[function];
    int64_t gains[OPTIONS + 1] = {0};
    uint32_t count = list_options(a, function, options + 1);
    s->cells.work += STEP_WORK + (s->deep_paths.first[function + 1] - s->deep_paths.first[function]) / 4;
    if (!count)
        return;
    cells_try(&s->cells, function, pad, options + 1, count, gains + 1);
    s->steps += count;
    for (uint32_t i = 0; i <= count; i++)
        gains[i] -= price_of(a, function, options[i]) - price_of(a, function, pad);
    uint32_t chosen = options[choose_option(a, gains, count + 1)];
    if (chosen == pad)
        return;
    a->cost += price_of(a, function, chosen) - price_of(a, function, pad);
    state_change(s, function, chosen);
    if (s->cells.value - a->cost > a->best_value) {
        a->best_value = s->cells.value - a->cost;
        memcpy(a->best, s->pads, s->units.functions * sizeof *a->best);
    }
}

static bool can_help(const struct state *s, uint32_t function)
{
    return s->problem->most[function] && s->units.first_block[function + 1] > s->units.first_block[function];
}

/* costly: include functions whose pads cost instructions. */
static void sweep_functions(struct annealing *a, bool costly)
{
    struct state *s = a->s;
    for (uint32_t f = 0; f < s->units.functions && !state_over(s); f++)
        if (can_help(s, f) && (costly || !a->costly[f]))
            settle_function(a, f);
}

/* O(moves). Returns the sum: 0 if no function can help. */
static double compute_chances(struct annealing *a)
{
    const struct units *u = &a->s->units;
    double sum = 0;
    for (uint32_t f = 0; f < u->functions; f++) {
        double ambiguous = 0, moves = 0;
        for (size_t i = u->first_block[f]; i < u->first_block[f + 1]; i++) {
            if (a->s->cells.weighted_only && !u->groups[u->blocks[i].group].weighted)
                continue;
            const struct move *first = u->moves + u->blocks[i].first;
            moves += u->blocks[i].count;
            for (uint32_t m = 0; m < u->blocks[i].count; m++)
                if (!cells_unit_precise(&a->s->cells, first[m].unit))
                    ambiguous += (double)u->units[first[m].unit].value;
        }
        if (can_help(a->s, f) && moves > 0)
            sum += sqrt((ambiguous / (double)WORTH_ALL + EVEN) / moves);
        a->chances[f] = sum;
    }
    return sum;
}

static bool is_best_possible(const struct annealing *a)
{
    return a->s->cells.value == a->s->units.reachable;
}

/* Anneals until the work is used up. Returns whether the target is reached. */
static bool anneal_pads(struct annealing *a)
{
    struct state *s = a->s;
    uint64_t all = WORK_PER_MOVE * (uint64_t)s->units.move_count;
    all = all < LEAST_WORK ? LEAST_WORK : all > MOST_WORK ? MOST_WORK : all;
    double sum = 0;
    for (uint64_t next = s->cells.work; s->cells.work < all && !state_over(s) && !is_best_possible(a);) {
        if (s->cells.work >= next) {
            next = s->cells.work + all / CHANCES;
            s->cells.weighted_only = s->cells.work < all / WEIGHT_FIRST;
            sum = compute_chances(a);
            if (state_reached(s))
                return true;
            a->heat = (double)WORTH_ALL * HOT * pow(COLD / HOT, (double)s->cells.work / (double)all);
        }
        if (!(sum > 0))
            return false;
        double at = draw_random(a) * sum;
        uint32_t chosen = lower_bound(i, 0, s->units.functions, a->chances[i] <= at);
        if (chosen < s->units.functions)
            settle_function(a, chosen);
    }
    return false;
}

/* Adds the cost of a pad's instructions, by how often its function, or its wrap, executes them. */
static void price_instructions(struct annealing *a, double path)
{
    const struct search_problem *p = a->s->problem;
    uint32_t functions = pathmap_function_count(p->map);
    double all = 0;
    for (uint32_t i = 0; (p->costly || p->wraps) && i < pathmap_node_count(p->map); i++)
        all += (double)pathmap_node(p->map, i).passes;
    for (uint32_t i = 0; all > 0 && i < pathmap_node_count(p->map); i++) {
        struct pathmap_node node = pathmap_node(p->map, i);
        int64_t cost = (int64_t)(WORTH_CALLS * (double)WORTH_ALL * ((double)node.passes / all));
        uint32_t wrap = search_wrap(p, i);
        if (p->costly && p->costly[node.function])
            a->costly[node.function] += cost;
        if (wrap != PATHMAP_NONE)
            a->costly[wrap] += cost;
    }
    for (uint32_t f = 0; f < a->s->units.functions; f++)
        if (f >= functions || (p->costly && p->costly[f]))
            a->costly[f] += (int64_t)(COSTLY_PATHS * path);
}

static void try_gains(struct annealing *a)
{
    struct state *s = a->s;
    uint32_t nodes = pathmap_node_count(s->problem->map);
    double path = (double)WORTH_ALL * WORTH_SHARE_PATHS / (nodes ? nodes : 1);
    price_instructions(a, path);
    for (uint32_t f = 0; f < s->units.functions; f++)
        a->prices[f] = 1 + (int64_t)fmin(PRICE * path * (1 + deep_paths_price(&s->deep_paths, f)), 1e15);
    a->best_value = s->cells.value;
    s->cells.weighted_only = true;
    for (unsigned i = 0; i < FIRST_SWEEPS; i++) {
        sweep_functions(a, i > 0);
        if (state_reached(s) || s->cells.work > MOST_WORK / 4)
            break;
    }
    if (state_reached(s) || anneal_pads(a))
        return;
    state_restore(s, a->best);
    a->cost = 0;
    for (uint32_t f = 0; f < s->units.functions; f++)
        a->cost += price_of(a, f, s->pads[f]);
    a->heat = 0;
    s->cells.weighted_only = false;
    for (unsigned i = 0; i < LAST_SWEEPS && s->cells.work < MOST_WORK + MOST_WORK / 4; i++)
        sweep_functions(a, true);
}

int search_by_gain(struct state *s, struct fathom_error *err)
{
    struct annealing a = {.s = s};
    a.prices = calloc(s->units.functions + 1ul, sizeof *a.prices);
    a.costly = calloc(s->units.functions + 1ul, sizeof *a.costly);
    a.chances = calloc(s->units.functions + 1ul, sizeof *a.chances);
    a.best = calloc(s->units.functions + 1ul, sizeof *a.best);
    bool good = a.prices && a.costly && a.chances && a.best;
    if (good)
        try_gains(&a);
    free(a.prices);
    free(a.costly);
    free(a.chances);
    free(a.best);
    return good ? 0 : error_memory(err);
}
