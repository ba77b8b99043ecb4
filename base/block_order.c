/*
 * block_order.c - see block_order.h. Each block is a chain at first. The two chains whose merging adds most to the score become one, in the best of the ways
 * below, until none adds anything; what is left lies densest first.
 */
#include "base/block_order.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

/* Of the paper, section 3, and of LLVM's CodeLayout.cpp. */
#define SHORT_WEIGHT  0.1
#define FORWARD_MOST  1024.0 /* bytes */
#define BACKWARD_MOST 640.0
/* Chains with more blocks are split only where the other one follows, or is followed: likewise. */
#define SPLIT_MOST 128u

#define NONE  UINT32_MAX
#define LEAST 1e-9 /* of all counts, that a merge must add: less is rounding */

/* Of chains X and Y, X in two parts at a place. */
enum way { X1_Y_X2, Y_X2_X1, X2_X1_Y, WAYS };

struct jumps { /* a list of them, by `next_jump` */
    uint32_t first, last;
};

struct chain {
    uint32_t *blocks;
    uint32_t count, capacity;
    double score, weight, bytes;
    struct jumps own;
    uint32_t *pairs; /* that it is one of; those that are `gone`, too */
    uint32_t pair_count, pair_capacity;
};

struct merge {
    double gain;
    uint32_t x, y; /* chains */
    uint32_t at;   /* blocks of X's first part */
    enum way way;
};

struct pair { /* two chains with jumps between them */
    uint32_t chains[2];
    struct jumps between;
    struct merge best;
    bool gone, known;
};

struct ordering {
    const struct order_graph *graph;
    struct chain *chains; /* without blocks: merged into another */
    struct pair *pairs;
    uint32_t pair_count, pair_capacity;
    uint32_t *live; /* pairs */
    uint32_t live_count;
    uint32_t *chain_of, *next_jump;
    uint64_t *address; /* of each block in the order that is tried */
    uint32_t *tried;
    uint32_t *pair_with; /* of each chain, the pair with the one at hand; NONE */
    double least;
    uint64_t *work;
};

static double jump_score(const struct order_graph *g, const struct order_jump *j, const uint64_t *address)
{
    const uint64_t end = address[j->from] + g->blocks[j->from].size, to = address[j->to];
    if (end == to)
        return j->count;
    const double far = end < to ? (double)(to - end) / FORWARD_MOST : (double)(end - to) / BACKWARD_MOST;
    return far < 1 ? j->count * SHORT_WEIGHT * (1 - far) : 0;
}

static void place(const struct order_graph *g, const uint32_t *order, uint32_t count, uint64_t *address)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        address[order[i]] = at;
        at += g->blocks[order[i]].size;
    }
}

static void spend(struct ordering *o, uint64_t work)
{
    *o->work -= *o->work < work ? *o->work : work;
}

static double list_score(struct ordering *o, const struct jumps *list)
{
    double score = 0;
    uint64_t looked = 0;
    for (uint32_t i = list->first; i != NONE; i = o->next_jump[i], looked++)
        score += jump_score(o->graph, &o->graph->jumps[i], o->address);
    spend(o, looked);
    return score;
}

static uint32_t *append(uint32_t *to, const uint32_t *from, uint32_t count)
{
    memcpy(to, from, count * sizeof *to);
    return to + count;
}

/* Writes the merged order into `tried`. */
static void arrange(struct ordering *o, const struct merge *m)
{
    const struct chain *x = &o->chains[m->x], *y = &o->chains[m->y];
    const uint32_t *x2 = x->blocks + m->at, rest = x->count - m->at;
    uint32_t *to = o->tried;
    switch (m->way) {
    case X1_Y_X2:
        append(append(append(to, x->blocks, m->at), y->blocks, y->count), x2, rest);
        break;
    case Y_X2_X1:
        append(append(append(to, y->blocks, y->count), x2, rest), x->blocks, m->at);
        break;
    default:
        append(append(append(to, x2, rest), x->blocks, m->at), y->blocks, y->count);
    }
}

static void try_merge(struct ordering *o, struct pair *p, uint32_t x, uint32_t at, enum way way)
{
    struct merge m = {.x = x, .y = p->chains[0] == x ? p->chains[1] : p->chains[0], .at = at, .way = way};
    const struct chain *a = &o->chains[m.x], *b = &o->chains[m.y];
    arrange(o, &m);
    if ((m.x == o->chain_of[0] || m.y == o->chain_of[0]) && o->tried[0] != 0)
        return;
    place(o->graph, o->tried, a->count + b->count, o->address);
    spend(o, a->count + b->count);
    m.gain =
        list_score(o, &a->own) + list_score(o, &b->own) + list_score(o, &p->between) - a->score - b->score;
    if (m.gain > p->best.gain)
        p->best = m;
}

/* Y behind the block of X that leads to its first, and before that which its last leads to. */
static void try_next(struct ordering *o, struct pair *p, uint32_t x, const struct chain *y)
{
    const struct chain *chain = &o->chains[x];
    const uint32_t first = y->blocks[0], last = y->blocks[y->count - 1];
    for (uint32_t i = p->between.first; i != NONE && *o->work; i = o->next_jump[i]) {
        const struct order_jump *j = &o->graph->jumps[i];
        const bool enters = j->to == first && o->chain_of[j->from] == x,
                   leaves = j->from == last && o->chain_of[j->to] == x;
        const uint32_t block = enters ? j->from : j->to;
        if (!enters && !leaves)
            continue;
        uint32_t at = 0;
        while (chain->blocks[at] != block)
            at++;
        spend(o, at);
        try_merge(o, p, x, at + enters, X1_Y_X2);
    }
}

static void find_best(struct ordering *o, struct pair *p)
{
    p->best = (struct merge){.gain = o->least};
    p->known = true;
    for (unsigned i = 0; i < 2; i++) {
        const uint32_t x = p->chains[i], count = o->chains[x].count;
        try_merge(o, p, x, count, X1_Y_X2);
        if (count > SPLIT_MOST)
            try_next(o, p, x, &o->chains[p->chains[!i]]);
        for (uint32_t at = 1; count <= SPLIT_MOST && at < count; at++)
            for (unsigned way = 0; way < WAYS && *o->work; way++)
                try_merge(o, p, x, at, way);
    }
}

static void join(struct ordering *o, struct jumps *to, const struct jumps *more)
{
    if (more->first == NONE)
        return;
    if (to->first == NONE)
        to->first = more->first;
    else
        o->next_jump[to->last] = more->first;
    to->last = more->last;
}

/* The pairs of a chain that goes become those of the one that it is merged into. false: out of memory. */
static bool move_pairs(struct ordering *o, uint32_t into, uint32_t from)
{
    struct chain *a = &o->chains[into], *b = &o->chains[from];
    bool good = true;
    for (uint32_t i = 0; i < a->pair_count; i++) {
        struct pair *p = &o->pairs[a->pairs[i]];
        p->known = false;
        if (!p->gone)
            o->pair_with[p->chains[p->chains[0] == into]] = a->pairs[i];
    }
    for (uint32_t i = 0; good && i < b->pair_count; i++) {
        struct pair *p = &o->pairs[b->pairs[i]];
        const unsigned side = p->chains[1] == from;
        const uint32_t other = p->chains[!side];
        if (p->gone)
            continue;
        p->known = false;
        p->gone = other == into || o->pair_with[other] != NONE;
        if (p->gone && other != into)
            o->pairs[o->pair_with[other]].best.gain += p->best.gain;
        if (p->gone)
            join(o, other == into ? &a->own : &o->pairs[o->pair_with[other]].between, &p->between);
        else {
            p->chains[side] = into;
            good = vec_push(a->pairs, a->pair_count, a->pair_capacity, b->pairs[i]);
        }
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < a->pair_count; i++) {
        const struct pair *p = &o->pairs[a->pairs[i]];
        o->pair_with[p->chains[0]] = o->pair_with[p->chains[1]] = NONE;
        if (!p->gone)
            a->pairs[kept++] = a->pairs[i];
    }
    spend(o, (uint64_t)a->pair_count + b->pair_count);
    a->pair_count = kept;
    return good;
}

/* false: out of memory. */
static bool merge_chains(struct ordering *o, const struct merge m)
{
    struct chain *a = &o->chains[m.x], *b = &o->chains[m.y];
    arrange(o, &m);
    const uint32_t count = a->count + b->count;
    if (!vec_reserve(a->blocks, a->count, a->capacity, b->count))
        return false;
    for (uint32_t i = 0; i < b->count; i++)
        o->chain_of[b->blocks[i]] = m.x;
    memcpy(a->blocks, o->tried, count * sizeof *a->blocks);
    a->count = count;
    b->count = 0;
    join(o, &a->own, &b->own);
    a->score += b->score + m.gain;
    a->weight += b->weight;
    a->bytes += b->bytes;
    return move_pairs(o, m.x, m.y);
}

/* The pair that gains most, or did when last tried. NONE: none gains. */
static uint32_t find_most(struct ordering *o)
{
    uint32_t best = NONE, kept = 0;
    for (uint32_t i = 0; i < o->live_count; i++) {
        const struct pair *p = &o->pairs[o->live[i]];
        if (p->gone)
            continue;
        o->live[kept++] = o->live[i];
        if (p->best.gain > (best == NONE ? o->least : o->pairs[best].best.gain))
            best = o->live[i];
    }
    spend(o, o->live_count);
    o->live_count = kept;
    return best;
}

/* The pair to merge; NONE: none gains, or the work was used up. What was tried before its chains changed is tried again when it comes first: to try all again after each merge
 * takes a hundred times as long in functions with a large switch. */
static uint32_t choose(struct ordering *o)
{
    while (*o->work) {
        const uint32_t best = find_most(o);
        if (best != NONE && o->pairs[best].known)
            return best;
        if (best != NONE) {
            find_best(o, &o->pairs[best]);
            continue;
        }
        bool gains = false;
        for (uint32_t i = 0; i < o->live_count && *o->work; i++) {
            struct pair *p = &o->pairs[o->live[i]];
            if (!p->known)
                find_best(o, p);
            gains |= p->best.gain > o->least;
        }
        if (!gains)
            return NONE;
    }
    return NONE;
}

/* false: out of memory. */
static bool add_jump(struct ordering *o, uint32_t jump)
{
    const uint32_t from = o->graph->jumps[jump].from, to = o->graph->jumps[jump].to;
    const struct jumps one = {jump, jump};
    struct chain *a = &o->chains[from], *b = &o->chains[to];
    if (from == to)
        return true; /* it is as long in any order */
    return vec_push(o->pairs, o->pair_count, o->pair_capacity,
                    (struct pair){.chains = {from, to},
                                  .between = one,
                                  .best = {.gain = o->graph->jumps[jump].count}}) &&
           vec_push(a->pairs, a->pair_count, a->pair_capacity, o->pair_count - 1) &&
           vec_push(b->pairs, b->pair_count, b->pair_capacity, o->pair_count - 1);
}

/* Of jumps between the same blocks, one pair. */
static void join_pairs(struct ordering *o, uint32_t chain)
{
    const struct chain *c = &o->chains[chain];
    for (uint32_t i = 0; i < c->pair_count; i++) {
        struct pair *p = &o->pairs[c->pairs[i]];
        const uint32_t other = p->chains[p->chains[0] == chain];
        if (p->gone)
            continue;
        if (o->pair_with[other] == NONE)
            o->pair_with[other] = c->pairs[i];
        else {
            join(o, &o->pairs[o->pair_with[other]].between, &p->between);
            o->pairs[o->pair_with[other]].best.gain += p->best.gain;
            p->gone = true;
        }
    }
    for (uint32_t i = 0; i < c->pair_count; i++)
        o->pair_with[o->pairs[c->pairs[i]].chains[0]] = o->pair_with[o->pairs[c->pairs[i]].chains[1]] = NONE;
}

static int begin(struct ordering *o)
{
    const struct order_graph *g = o->graph;
    const size_t blocks = (size_t)g->block_count + 1;
    double sum = 0;
    o->chains = calloc(blocks, sizeof *o->chains);
    o->chain_of = calloc(blocks, sizeof *o->chain_of);
    o->address = calloc(blocks, sizeof *o->address);
    o->tried = calloc(blocks, sizeof *o->tried);
    o->pair_with = calloc(blocks, sizeof *o->pair_with);
    o->next_jump = calloc((size_t)g->jump_count + 1, sizeof *o->next_jump);
    o->live = calloc((size_t)g->jump_count + 1, sizeof *o->live);
    if (!o->chains || !o->chain_of || !o->address || !o->tried || !o->pair_with || !o->next_jump || !o->live)
        return -ENOMEM;
    for (uint32_t i = 0; i < g->block_count; i++) {
        struct chain *c = &o->chains[i];
        if (!vec_push(c->blocks, c->count, c->capacity, i))
            return -ENOMEM;
        c->weight = g->blocks[i].count;
        c->bytes = (double)g->blocks[i].size;
        c->own = (struct jumps){NONE, NONE};
        o->chain_of[i] = i;
        o->pair_with[i] = NONE;
    }
    for (uint32_t i = 0; i < g->jump_count; i++) {
        o->next_jump[i] = NONE;
        sum += g->jumps[i].count;
        if (!add_jump(o, i))
            return -ENOMEM;
    }
    for (uint32_t i = 0; i < g->block_count; i++)
        join_pairs(o, i);
    for (uint32_t i = 0; i < o->pair_count; i++)
        o->live[o->live_count++] = i;
    o->least = sum * LEAST;
    return 0;
}

/* The entry's chain, then the densest. */
static int compare_chains(const void *a, const void *b, void *ordering)
{
    const struct ordering *o = ordering;
    const uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b, entry = o->chain_of[0];
    if (i == entry || j == entry)
        return (j == entry) - (i == entry);
    const struct chain *first = &o->chains[i], *second = &o->chains[j];
    const double x = first->weight * (second->bytes + 1), y = second->weight * (first->bytes + 1);
    return x != y ? (x > y ? -1 : 1) : (i > j) - (i < j);
}

static void write_order(struct ordering *o, uint32_t *order)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < o->graph->block_count; i++)
        if (o->chains[i].count)
            o->tried[count++] = i;
    qsort_r(o->tried, count, sizeof *o->tried, compare_chains, o);
    for (uint32_t i = 0; i < count; i++)
        order = append(order, o->chains[o->tried[i]].blocks, o->chains[o->tried[i]].count);
}

int block_order_find(const struct order_graph *graph, uint32_t *order, uint64_t *work)
{
    struct ordering o = {.graph = graph, .work = work};
    int rc = graph->block_count ? begin(&o) : 0;
    for (uint32_t pair; rc == 0 && (pair = choose(&o)) != NONE;)
        rc = merge_chains(&o, o.pairs[pair].best) ? 0 : -ENOMEM;
    if (rc == 0 && graph->block_count)
        write_order(&o, order);
    for (uint32_t i = 0; o.chains && i < graph->block_count; i++) {
        free(o.chains[i].blocks);
        free(o.chains[i].pairs);
    }
    free(o.chains);
    free(o.pairs);
    free(o.live);
    free(o.chain_of);
    free(o.next_jump);
    free(o.address);
    free(o.tried);
    free(o.pair_with);
    return rc == 0 && graph->block_count && !*work ? 1 : rc;
}
