/* reach.c - see reach.h. */
#include "infer/model/reach.h"

#include <errno.h>
#include <stdlib.h>

struct reaching {
    const struct callers *c;
    struct work *work;
    uint32_t nodes, blocks;
    uint64_t *plain, *needed; /* block by block, by node */
    uint32_t *waiting;        /* nodes whose bits in a block are to be passed on */
    uint32_t waiting_count;
    bool *waits; /* by node */
};

/* Adds bits; false: they were there. */
static bool add(const struct reaching *x, uint64_t *bits, uint32_t block, uint32_t node, uint64_t more)
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

/* Moves a word of a block up by so many units: what stays in the block is passed on once more. */
static void move_up(struct reaching *x, uint32_t block, uint32_t node, uint64_t word, uint32_t by)
{
    uint64_t to = (uint64_t)block + by / REACH_BLOCK;
    uint32_t shift = by % REACH_BLOCK;
    if (to < x->blocks && add(x, x->plain, (uint32_t)to, node, word << shift) && to == block)
        wait_for(x, node);
    if (to + 1 < x->blocks && shift)
        add(x, x->plain, (uint32_t)to + 1, node, word >> (REACH_BLOCK - shift));
}

/* Which cells bits go to. */
enum which { ANY, PLAIN, OTHER };

static uint64_t choose(const struct reaching *x, enum which which, size_t block, uint32_t node, uint64_t word)
{
    uint64_t plain = which == ANY ? 0 : x->plain[block * x->nodes + node];
    return which == PLAIN ? word & plain : word & ~plain;
}

/* The same downwards. */
static void move_down(struct reaching *x, uint32_t block, uint32_t node, uint64_t word, uint32_t by,
                      enum which which)
{
    uint32_t blocks = by / REACH_BLOCK, shift = by % REACH_BLOCK;
    if (!word || blocks > block)
        return;
    size_t to = block - blocks;
    if (add(x, x->needed, (uint32_t)to, node, choose(x, which, to, node, word >> shift)) && to == block)
        wait_for(x, node);
    if (shift && to)
        add(x, x->needed, (uint32_t)to - 1, node,
            choose(x, which, to - 1, node, word << (REACH_BLOCK - shift)));
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

/* An open frame goes on at its function's heights, which are known or one of so many steps away. */
static void go_down_open(struct reaching *x, uint32_t block, uint32_t node, uint64_t word)
{
    const struct callers_open *open = &x->c->open[node - x->c->functions - x->c->classes];
    move_down(x, block, open->function, word, 0, ANY);
    if (open->count)
        move_down(x, block, node, word, CALLERS_STEP, ANY);
    for (uint32_t i = 1; !open->count && i < CALLERS_OPEN; i++)
        move_down(x, block, open->function, word, i * CALLERS_STEP, ANY);
}

static void go_down(struct reaching *x, uint32_t block, uint32_t node)
{
    const struct callers *c = x->c;
    const struct callers_node *n = &c->of[node];
    uint64_t word = x->needed[(size_t)block * x->nodes + node],
             plain = word & x->plain[(size_t)block * x->nodes + node], other = word & ~plain;
    if (node >= c->functions + c->classes) {
        go_down_open(x, block, node, word);
        return;
    }
    uint32_t usual = n->first + n->seen + n->fixed;
    for (uint32_t i = n->first; i < usual + (other ? n->resort : 0); i++) {
        const struct caller *caller = &c->callers[i];
        if (caller->outer == CALLERS_ROOT)
            continue;
        if (i < usual)
            move_down(x, block, caller->outer, plain, caller->rise, PLAIN);
        move_down(x, block, caller->outer, other, caller->rise,
                  node < c->functions && i < usual ? OTHER : ANY);
    }
}

static uint64_t steps_of(const struct reaching *x, uint32_t node)
{
    const struct callers_node *n = &x->c->of[node];
    return 1 + n->callees + n->seen + n->fixed + n->resort;
}

/* Passes on a block's bits until there are no new ones in it. */
static void settle(struct reaching *x, uint32_t block, const uint64_t *bits,
                   void (*go)(struct reaching *, uint32_t, uint32_t))
{
    for (uint32_t n = 0; n < x->nodes; n++)
        if (bits[(size_t)block * x->nodes + n])
            wait_for(x, n);
    while (x->waiting_count) {
        uint32_t node = x->waiting[--x->waiting_count];
        x->waits[node] = false;
        if (work_take(x->work, steps_of(x, node)))
            go(x, block, node);
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
                add(x, x->plain, unit / REACH_BLOCK, f, UINT64_C(1) << unit % REACH_BLOCK);
        }
    }
}

static void find(struct reaching *x, const struct reach_cid *cids, size_t count)
{
    begin_at_roots(x);
    struct work up = work_part(x->work, x->work ? x->work->left / 2 : 0), *all = x->work;
    x->work = &up;
    for (uint32_t b = 0; b < x->blocks; b++) {
        settle(x, b, x->plain, go_up);
        if (work_is_done(&up))
            x->blocks = b;
    }
    work_give_back(all, &up);
    x->work = all;
    for (size_t i = 0; i < count; i++)
        if (cids[i].unit / REACH_BLOCK < x->blocks)
            add(x, x->needed, cids[i].unit / REACH_BLOCK, cids[i].node,
                UINT64_C(1) << cids[i].unit % REACH_BLOCK);
    for (uint32_t b = x->blocks; b-- > 0;)
        settle(x, b, x->needed, go_down);
    if (work_is_done(x->work))
        x->blocks = 0; /* some that are needed are not marked */
}

int reach_make(struct reach *reach, const struct callers *callers, const struct reach_cid *cids, size_t count,
               size_t bytes, struct work *work)
{
    struct reaching x = {.c = callers, .work = work, .nodes = callers->nodes};
    size_t most = bytes / (2 * sizeof *x.plain * ((size_t)x.nodes + 1));
    for (size_t i = 0; i < count; i++)
        if (cids[i].unit / REACH_BLOCK >= x.blocks && cids[i].unit / REACH_BLOCK < most)
            x.blocks = cids[i].unit / REACH_BLOCK + 1;
    size_t words = (size_t)x.blocks * x.nodes + 1;
    x.plain = calloc(words, sizeof *x.plain);
    x.needed = calloc(words, sizeof *x.needed);
    x.waiting = malloc(((size_t)x.nodes + 1) * sizeof *x.waiting);
    x.waits = calloc((size_t)x.nodes + 1, sizeof *x.waits);
    bool good = x.plain && x.needed && x.waiting && x.waits;
    if (good)
        find(&x, cids, count);
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
