/* near.c - see near.h. */
#include "infer/model/near.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "infer/model/visits.h"

#define EXPONENTS 64 /* of masses: nodes are visited roughly in their order */

struct walking {
    const struct callers *c;
    struct work *work;
    double least;
    float *mass; /* by node */
    struct visits waiting[EXPONENTS];
    bool failed; /* out of memory */
};

static void reach_node(struct walking *w, uint32_t node, double mass)
{
    int exponent;
    if (mass < w->least || (float)mass <= w->mass[node])
        return;
    w->mass[node] = (float)mass;
    frexp(mass, &exponent);
    exponent = exponent < 0 ? -exponent : 0;
    if (!visits_add(&w->waiting[exponent < EXPONENTS ? exponent : EXPONENTS - 1], node, mass))
        w->failed = true;
}

static void leave_node(struct walking *w, const struct visit *at)
{
    const struct callers *c = w->c;
    const struct callers_node *n = &c->of[at->node];
    const struct callers_open *open = callers_open_of(c, at->node);
    uint32_t count = callers_count(n);
    double mass = (double)at->mass;
    if (open)
        reach_node(w, open->function, mass / CALLERS_OPEN);
    for (uint32_t i = n->first; i < n->first + count; i++)
        if (c->callers[i].outer != CALLERS_ROOT)
            reach_node(w, c->callers[i].outer, mass * callers_likely(&c->callers[i]));
    work_take(w->work, 1 + count);
}

static void walk_outwards(struct walking *w, const struct reach_cid *cids, size_t count)
{
    for (size_t i = 0; i < count; i++)
        reach_node(w, cids[i].node, 1);
    for (int e = 0; e < EXPONENTS; e++)
        while (w->waiting[e].count && !w->failed && !work_is_done(w->work)) {
            struct visit at = w->waiting[e].items[--w->waiting[e].count];
            if (at.mass == w->mass[at.node])
                leave_node(w, &at);
        }
}

/* Compacts the callers. */
struct keeping {
    struct callers *c;
    struct callers_node *of; /* the remaining nodes */
    uint32_t *to;            /* by node: its new number, or CALLERS_NONE */
    /* by caller of the present node, relative to its first: the new one, or CALLERS_NONE */
    uint32_t *moved;
    uint32_t *column; /* by pair: its new number as a column; 0: no remaining node uses it */
    uint32_t callers; /* moved so far, */
    uint32_t pairs;   /* the same for pairs */
};

static bool begin_keeping(struct keeping *k, const bool *keep)
{
    struct callers *c = k->c;
    uint32_t most = 0, pairs = 0, nodes = 0;
    for (uint32_t n = 0; n < c->nodes; n++) {
        uint32_t count = c->of[n].seen + c->of[n].fixed + c->of[n].resort;
        most = count > most ? count : most;
        pairs += n < c->functions ? c->of[n].pairs + 1 : 0;
    }
    k->of = calloc((size_t)c->nodes + 1, sizeof *k->of);
    k->to = malloc(((size_t)c->nodes + 1) * sizeof *k->to);
    k->moved = malloc(((size_t)most + 1) * sizeof *k->moved);
    k->column = calloc((size_t)pairs + 1, sizeof *k->column);
    c->function_of = malloc(((size_t)c->functions + 1) * sizeof *c->function_of);
    c->node_of = malloc(((size_t)c->functions + 1) * sizeof *c->node_of);
    if (!k->of || !k->to || !k->moved || !k->column || !c->function_of || !c->node_of)
        return false;
    for (uint32_t n = 0; n < c->nodes; n++) {
        const struct callers_open *open = callers_open_of(c, n);
        bool kept = keep[n] && (!open || keep[open->function]);
        k->to[n] = kept ? nodes++ : CALLERS_NONE;
    }
    return true;
}

static bool is_kept(const struct keeping *k, const struct caller *caller)
{
    return caller->outer == CALLERS_ROOT || k->to[caller->outer] != CALLERS_NONE;
}

/* Numbers the columns that remaining callers use. */
static void keep_columns(struct keeping *k)
{
    const struct callers *c = k->c;
    for (uint32_t n = 0; n < c->nodes; n++) {
        const struct callers_node *of = &c->of[n];
        uint32_t end = k->to[n] == CALLERS_NONE ? of->first : of->first + callers_count(of);
        for (uint32_t i = of->first; i < end; i++)
            if (c->callers[i].column && is_kept(k, &c->callers[i]))
                k->column[c->of[c->callers[i].outer].first_pair + c->callers[i].column - 1] = 1;
    }
    for (uint32_t f = 0; f < c->functions; f++)
        for (uint32_t p = 0, count = 0; p < c->of[f].pairs; p++)
            if (k->column[c->of[f].first_pair + p])
                k->column[c->of[f].first_pair + p] = ++count;
}

/* Moves some of a node's callers, from `from` on, to the end of those moved before. Returns how many remain. */
static uint32_t keep_callers(struct keeping *k, uint32_t first, uint32_t from, uint32_t count, uint32_t to)
{
    struct callers *c = k->c;
    uint32_t left = 0;
    for (uint32_t i = from; i < from + count; i++) {
        struct caller caller = c->callers[i];
        k->moved[i - first] = CALLERS_NONE;
        if (!is_kept(k, &caller))
            continue;
        if (caller.column)
            caller.column = k->column[c->of[caller.outer].first_pair + caller.column - 1];
        if (caller.outer != CALLERS_ROOT)
            caller.outer = k->to[caller.outer];
        k->moved[i - first] = k->callers - to;
        c->callers[k->callers++] = caller;
        left++;
    }
    return left;
}

/* Moves a pair; its terms stay in place, without those whose callers were removed. */
static void keep_pair(struct keeping *k, const struct callers_pair *pair)
{
    struct callers_term *terms = pair->count ? k->c->terms + pair->first : NULL;
    struct callers_pair left = {pair->first, 0, pair->rest};
    for (uint32_t i = 0; i < pair->count; i++)
        if (k->moved[terms[i].caller] != CALLERS_NONE)
            terms[left.count++] = (struct callers_term){k->moved[terms[i].caller], terms[i].probability};
    k->c->pairs[k->pairs++] = left;
}

static void keep_pairs(struct keeping *k, const struct callers_node *old, struct callers_node *new)
{
    new->first_pair = k->pairs;
    for (uint32_t p = old->first_pair; p < old->first_pair + old->pairs; p++)
        if (k->column[p])
            keep_pair(k, &k->c->pairs[p]);
    new->pairs = k->pairs - new->first_pair;
    if (old->leaf == CALLERS_NONE)
        return;
    new->leaf = k->pairs;
    keep_pair(k, &k->c->pairs[old->leaf]);
}

static void keep_node(struct keeping *k, uint32_t node)
{
    struct callers *c = k->c;
    const struct callers_node old = c->of[node];
    struct callers_node new = {.first = k->callers, .leaf = CALLERS_NONE, .open = CALLERS_NONE};
    new.seen = keep_callers(k, old.first, old.first, old.seen, new.first);
    new.fixed = keep_callers(k, old.first, old.first + old.seen, old.fixed, new.first);
    new.resort = keep_callers(k, old.first, old.first + old.seen + old.fixed, old.resort, new.first);
    if (node < c->functions) {
        keep_pairs(k, &old, &new);
        new.open = old.open == CALLERS_NONE ? CALLERS_NONE : k->to[old.open];
    }
    k->of[k->to[node]] = new;
}

/* Renumbers all that remains. */
static void renumber_nodes(struct keeping *k)
{
    struct callers *c = k->c;
    uint32_t functions = 0, classes = 0, opens = 0;
    for (uint32_t f = 0; f < c->functions; f++) {
        c->node_of[f] = k->to[f];
        if (k->to[f] != CALLERS_NONE)
            c->function_of[functions++] = f;
    }
    for (uint32_t n = c->functions; n < c->functions + c->classes; n++)
        classes += k->to[n] != CALLERS_NONE;
    for (uint32_t i = 0; i < c->opens; i++) {
        struct callers_open open = c->open[i];
        if (k->to[c->functions + c->classes + i] == CALLERS_NONE)
            continue;
        open.function = k->to[open.function];
        c->open[opens++] = open;
    }
    c->functions = functions;
    c->classes = classes;
    c->opens = opens;
    c->nodes = functions + classes + opens;
    c->caller_count = k->callers;
}

/* Removes the other nodes. false: out of memory. */
static bool keep_nodes(struct callers *c, const bool *keep)
{
    struct keeping k = {.c = c};
    bool good = begin_keeping(&k, keep);
    if (good) {
        keep_columns(&k);
        for (uint32_t n = 0; n < c->nodes; n++)
            if (k.to[n] != CALLERS_NONE)
                keep_node(&k, n);
        renumber_nodes(&k);
        free(c->of);
        free(c->callees);
        c->of = k.of;
        c->callees = NULL;
        k.of = NULL;
        good = callers_turn_round(c);
    }
    free(k.of);
    free(k.to);
    free(k.moved);
    free(k.column);
    return good;
}

int near_keep(struct callers *c, struct reach_cid *cids, size_t count, double least, struct work *work)
{
    struct walking w = {.c = c, .work = work, .least = least};
    bool *keep = calloc((size_t)c->nodes + 1, sizeof *keep);
    w.mass = calloc((size_t)c->nodes + 1, sizeof *w.mass);
    bool good = keep && w.mass;
    if (good)
        walk_outwards(&w, cids, count);
    for (uint32_t n = 0; good && n < c->nodes; n++)
        keep[n] = w.mass[n] > 0;
    good = good && !w.failed && keep_nodes(c, keep);
    for (size_t i = 0; good && i < count; i++)
        cids[i].node = callers_node_of(c, cids[i].node);
    for (int e = 0; e < EXPONENTS; e++)
        free(w.waiting[e].items);
    free(w.mass);
    free(keep);
    return good ? 0 : -ENOMEM;
}
