/* reach.c - see reach.h. */
#include "infer/model/reach.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/vec.h"

/* An unordered list of nodes that walks outwards reach, with the greatest probability of such a walk. */
struct visits {
    struct visit {
        uint32_t node;
        float mass; /* the probability */
    } * items;      /* malloc'ed */
    size_t count, capacity;
};

/* false: out of memory. */
static bool add_visit(struct visits *v, uint32_t node, double mass)
{
    return vec_push(v->items, v->count, v->capacity, (struct visit){node, (float)mass});
}

#define EXPONENTS 64 /* of masses: nodes are visited roughly in their order */

struct walking {
    const struct callers *c;
    struct work *work;
    double least;
    float *mass; /* by node */
    struct visits waiting[EXPONENTS];
    bool failed; /* out of memory */
};

static void walk_to(struct walking *w, uint32_t node, double mass)
{
    int exponent;
    if (mass < w->least || (float)mass <= w->mass[node])
        return;
    w->mass[node] = (float)mass;
    frexp(mass, &exponent);
    exponent = exponent < 0 ? -exponent : 0;
    w->failed |= !add_visit(&w->waiting[exponent < EXPONENTS ? exponent : EXPONENTS - 1], node, mass);
}

static void walk_on(struct walking *w, const struct visit *at)
{
    const struct callers *c = w->c;
    const struct callers_node *n = &c->of[at->node];
    const struct callers_open *open = callers_open_of(c, at->node);
    uint32_t count = callers_count(n);
    double mass = (double)at->mass;
    if (open)
        walk_to(w, open->function, mass / CALLERS_OPEN);
    for (uint32_t i = n->first; i < n->first + count; i++)
        if (c->callers[i].outer != CALLERS_ROOT)
            walk_to(w, c->callers[i].outer, mass * callers_likely(&c->callers[i]));
    work_take(w->work, 1 + count);
}

static void walk_outwards(struct walking *w, const struct reach_cid *cids, size_t count)
{
    for (size_t i = 0; i < count; i++)
        walk_to(w, cids[i].node, 1);
    for (int e = 0; e < EXPONENTS; e++)
        while (w->waiting[e].count && !w->failed && !work_is_done(w->work)) {
            struct visit at = w->waiting[e].items[--w->waiting[e].count];
            if (at.mass == w->mass[at.node])
                walk_on(w, &at);
        }
}

int reach_near(struct callers *c, const struct graph *graph, struct reach_cid *cids, size_t count,
               double least, struct work *work)
{
    struct walking w = {.c = c, .work = work, .least = least};
    bool *keep = calloc((size_t)c->nodes + 1, sizeof *keep);
    w.mass = calloc((size_t)c->nodes + 1, sizeof *w.mass);
    bool good = keep && w.mass;
    if (good)
        walk_outwards(&w, cids, count);
    for (uint32_t n = 0; good && n < c->nodes; n++)
        keep[n] = w.mass[n] > 0;
    good = good && !w.failed;
    if (good) {
        callers_free(c);
        good = callers_make(c, graph, keep) == 0;
    }
    for (size_t i = 0; good && i < count; i++)
        cids[i].node = c->node_of[cids[i].node];
    for (int e = 0; e < EXPONENTS; e++)
        free(w.waiting[e].items);
    free(w.mass);
    free(keep);
    return good ? 0 : -ENOMEM;
}

struct reaching {
    const struct callers *c;
    struct work *work;
    double least;
    uint32_t nodes, blocks;
    uint64_t *plain, *needed; /* bits by block, then node */
    uint32_t *waiting;        /* nodes whose bits in a block have to be propagated */
    uint32_t waiting_count;
    bool *waits;       /* by node */
    float *mass;       /* by node: at the present height */
    struct visits *at; /* by unit */
    bool failed;       /* out of memory */
};

/* Adds bits; false: they were set already. */
static bool add_bits(const struct reaching *x, uint64_t *bits, uint32_t block, uint32_t node, uint64_t more)
{
    uint64_t *word = &bits[(size_t)block * x->nodes + node];
    bool new = more & ~*word;
    *word |= more;
    return new;
}

static void wait_for(struct reaching *x, uint32_t node)
{
    if (!x->waits[node])
        x->waiting[x->waiting_count++] = node;
    x->waits[node] = true;
}

/* Moves a word of a block up by this many units; bits that stay in the block are propagated once more. */
static void move_up(struct reaching *x, uint32_t block, uint32_t node, uint64_t word, uint32_t by)
{
    uint64_t to = (uint64_t)block + by / REACH_BLOCK;
    uint32_t shift = by % REACH_BLOCK;
    if (to < x->blocks && add_bits(x, x->plain, (uint32_t)to, node, word << shift) && to == block)
        wait_for(x, node);
    if (to + 1 < x->blocks && shift)
        add_bits(x, x->plain, (uint32_t)to + 1, node, word >> (REACH_BLOCK - shift));
}

static void go_up(struct reaching *x, uint32_t block, uint32_t node)
{
    const struct callers_node *n = &x->c->of[node];
    uint64_t word = x->plain[(size_t)block * x->nodes + node];
    for (uint32_t i = n->first_callee; i < n->first_callee + n->callees; i++) {
        if (x->c->callees[i].node >= x->c->functions) /* these come last */
            break;
        move_up(x, block, x->c->callees[i].node, word, x->c->callees[i].rise);
    }
}

static bool is_plain(const struct reaching *x, uint32_t node, uint32_t unit)
{
    return x->plain[(size_t)(unit / REACH_BLOCK) * x->nodes + node] >> unit % REACH_BLOCK & 1;
}

/* A walk reaches a node at a height. */
static void reach_node(struct reaching *x, uint32_t node, uint32_t unit, double mass)
{
    if (mass >= x->least && mass > 0)
        x->failed |= !add_visit(&x->at[unit], node, mass);
}

/* Propagates from an open frame to its function's heights: known ones, or one of a fixed number of steps. */
static void leave_open(struct reaching *x, uint32_t node, uint32_t unit, double mass)
{
    const struct callers_open *open = callers_open_of(x->c, node);
    uint32_t sizes = open->count ? 1 : CALLERS_OPEN;
    for (uint32_t i = 0; i < sizes && i * CALLERS_STEP <= unit; i++)
        reach_node(x, open->function, unit - i * CALLERS_STEP, mass / CALLERS_OPEN);
    if (open->count && unit >= CALLERS_STEP)
        reach_node(x, node, unit - CALLERS_STEP, mass);
    work_take(x->work, 1 + sizes);
}

/* Propagates from a node: plain cells to plain ones; other functions' cells along the same calls to others of this kind, and by
 * last resorts to all. */
static void leave_node(struct reaching *x, uint32_t node, uint32_t unit, double mass)
{
    const struct callers *c = x->c;
    const struct callers_node *n = &c->of[node];
    bool function = node < c->functions, plain = function && is_plain(x, node, unit);
    uint32_t usual = n->first + n->seen + n->fixed, end = usual + (plain ? 0 : n->resort);
    for (uint32_t i = n->first; i < end; i++) {
        const struct caller *caller = &c->callers[i];
        if (caller->outer == CALLERS_ROOT || caller->rise > unit)
            continue;
        if (function && i < usual && is_plain(x, caller->outer, unit - caller->rise) != plain)
            continue;
        reach_node(x, caller->outer, unit - caller->rise, mass * callers_likely(caller));
    }
    work_take(x->work, 1 + end - n->first);
}

/* The order at one height: open frames lead to functions, and these to classes. */
enum turn { OPENS, FUNCTIONS, CLASSES, TURNS };

static enum turn turn_of(const struct callers *c, uint32_t node)
{
    return node < c->functions ? FUNCTIONS : node < c->functions + c->classes ? CLASSES : OPENS;
}

static void take_turn(struct reaching *x, uint32_t unit, enum turn turn)
{
    struct visits *v = &x->at[unit];
    size_t count = v->count; /* new ones have to wait for the next turn */
    for (size_t i = 0; i < count; i++)
        if (turn_of(x->c, v->items[i].node) == turn)
            x->mass[v->items[i].node] = fmaxf(x->mass[v->items[i].node], v->items[i].mass);
    for (size_t i = 0; i < count && !work_is_done(x->work) && !x->failed; i++) {
        uint32_t node = v->items[i].node;
        double mass = (double)x->mass[node];
        if (turn_of(x->c, node) != turn || mass <= 0)
            continue;
        x->mass[node] = 0;
        add_bits(x, x->needed, unit / REACH_BLOCK, node, UINT64_C(1) << unit % REACH_BLOCK);
        if (turn == OPENS)
            leave_open(x, node, unit, mass);
        else
            leave_node(x, node, unit, mass);
    }
}

static uint64_t steps_of(const struct reaching *x, uint32_t node)
{
    const struct callers_node *n = &x->c->of[node];
    return 1 + n->callees;
}

/* Propagates a block's bits until no new ones are set in it. */
static void settle_block(struct reaching *x, uint32_t block)
{
    for (uint32_t n = 0; n < x->c->functions; n++)
        if (x->plain[(size_t)block * x->nodes + n])
            wait_for(x, n);
    while (x->waiting_count) {
        uint32_t node = x->waiting[--x->waiting_count];
        x->waits[node] = false;
        if (work_take(x->work, steps_of(x, node)))
            go_up(x, block, node);
    }
}

static void begin_at_roots(struct reaching *x)
{
    const struct callers *c = x->c;
    for (uint32_t f = 0; f < c->functions; f++) {
        const struct callers_node *n = &c->of[f];
        for (uint32_t i = n->first; i < n->first + n->seen + n->fixed; i++) {
            uint32_t unit = c->callers[i].rise;
            if (c->callers[i].outer == CALLERS_ROOT && unit / REACH_BLOCK < x->blocks)
                add_bits(x, x->plain, unit / REACH_BLOCK, f, UINT64_C(1) << unit % REACH_BLOCK);
        }
    }
}

static void find_reached(struct reaching *x, const struct reach_cid *cids, size_t count)
{
    begin_at_roots(x);
    struct work up = work_part(x->work, x->work ? x->work->left / 2 : 0), *all = x->work;
    x->work = &up;
    for (uint32_t b = 0; b < x->blocks; b++) {
        settle_block(x, b);
        if (work_is_done(&up))
            x->blocks = b;
    }
    work_give_back(all, &up);
    x->work = all;
    for (size_t i = 0; i < count; i++)
        if (cids[i].unit / REACH_BLOCK < x->blocks && cids[i].node != CALLERS_NONE)
            reach_node(x, cids[i].node, cids[i].unit, 1);
    for (uint32_t unit = x->blocks * REACH_BLOCK; unit-- > 0;) {
        for (int turn = 0; turn < TURNS; turn++)
            take_turn(x, unit, (enum turn)turn);
        free(x->at[unit].items); /* the height is done: only visits that wait below are kept */
        x->at[unit] = (struct visits){0};
    }
    if (work_is_done(x->work))
        x->blocks = 0; /* incomplete marks must not be used */
}

int reach_make(struct reach *reach, const struct callers *callers, const struct reach_cid *cids, size_t count,
               double least, size_t bytes, struct work *work)
{
    struct reaching x = {.c = callers, .work = work, .least = least, .nodes = callers->nodes};
    size_t most = bytes / (2 * sizeof *x.plain * ((size_t)x.nodes + 1));
    for (size_t i = 0; i < count; i++)
        if (cids[i].unit / REACH_BLOCK >= x.blocks && cids[i].unit / REACH_BLOCK < most)
            x.blocks = cids[i].unit / REACH_BLOCK + 1;
    size_t words = (size_t)x.blocks * x.nodes + 1, units = (size_t)x.blocks * REACH_BLOCK;
    x.plain = calloc(words, sizeof *x.plain);
    x.needed = calloc(words, sizeof *x.needed);
    x.waiting = malloc(((size_t)x.nodes + 1) * sizeof *x.waiting);
    x.waits = calloc((size_t)x.nodes + 1, sizeof *x.waits);
    x.mass = calloc((size_t)x.nodes + 1, sizeof *x.mass);
    x.at = calloc(units + 1, sizeof *x.at);
    bool good = x.plain && x.needed && x.waiting && x.waits && x.mass && x.at;
    if (good)
        find_reached(&x, cids, count);
    good = good && !x.failed;
    for (size_t unit = 0; x.at && unit < units; unit++)
        free(x.at[unit].items);
    free(x.at);
    free(x.mass);
    free(x.plain);
    free(x.waiting);
    free(x.waits);
    *reach = (struct reach){x.nodes, x.blocks, x.needed};
    return good ? 0 : -ENOMEM;
}

void reach_free(struct reach *reach)
{
    free(reach->needed);
    *reach = (struct reach){0};
}
