/*
 * circulation.c - see circulation.h. The tree that spans all nodes has its root in a node of its own, to which each node has an arc at first that no circulation of
 * least cost uses. Arcs outside of the tree are empty or full. A tree is strongly feasible if something can be sent from each node to the root, which the
 * choice of the arc that leaves it keeps so: else the method could cycle.
 */
#include "base/circulation.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#define NONE        UINT32_MAX
#define COST_ROOT   (INT64_C(1) << 40) /* more than that of a way through all nodes */
#define BLOCK_LEAST 64u                /* arcs that are priced at a time */

struct node {
    uint32_t parent, arc; /* arc: between them, either way */
    uint32_t depth;
    uint32_t child, next, previous; /* the first child; siblings */
    int64_t potential;
};

struct simplex {
    struct circulation_arc *arcs; /* those of the caller */
    size_t count;
    struct circulation_arc *roots; /* from each node to the root */
    struct node *nodes;            /* the root last */
    uint32_t root;
    uint64_t seen; /* nodes and arcs that were looked at */
};

/* How an arc lies on the cycle that a new one closes. */
struct blocking {
    uint32_t node;    /* its arc to its parent; NONE: the new arc itself */
    int64_t residual; /* that can be sent along it */
    bool on_from;     /* on the side of the new arc's start */
};

static struct circulation_arc *arc_at(const struct simplex *s, uint32_t arc)
{
    return arc < s->count ? &s->arcs[arc] : &s->roots[arc - s->count];
}

static int64_t reduced_cost(const struct simplex *s, const struct circulation_arc *a)
{
    return a->cost + s->nodes[a->from].potential - s->nodes[a->to].potential;
}

static void unlink_child(struct simplex *s, uint32_t i)
{
    struct node *n = &s->nodes[i];
    if (n->previous == NONE)
        s->nodes[n->parent].child = n->next;
    else
        s->nodes[n->previous].next = n->next;
    if (n->next != NONE)
        s->nodes[n->next].previous = n->previous;
}

static void link_child(struct simplex *s, uint32_t i, uint32_t parent, uint32_t arc)
{
    struct node *n = &s->nodes[i], *p = &s->nodes[parent];
    n->parent = parent;
    n->arc = arc;
    n->previous = NONE;
    n->next = p->child;
    if (p->child != NONE)
        s->nodes[p->child].previous = i;
    p->child = i;
}

/* Sets depths and potentials of a subtree by its root's parent. */
static void renew_subtree(struct simplex *s, uint32_t top)
{
    for (uint32_t i = top;;) {
        struct node *n = &s->nodes[i];
        const struct circulation_arc *a = arc_at(s, n->arc);
        s->seen++;
        const struct node *p = &s->nodes[n->parent];
        n->depth = p->depth + 1;
        n->potential = a->from == i ? p->potential - a->cost : p->potential + a->cost;
        if (n->child != NONE) {
            i = n->child;
            continue;
        }
        while (i != top && s->nodes[i].next == NONE)
            i = s->nodes[i].parent;
        if (i == top)
            return;
        i = s->nodes[i].next;
    }
}

/* What can be sent from a node to its parent, or the other way. */
static int64_t residual_of(const struct simplex *s, uint32_t i, bool up)
{
    const struct circulation_arc *a = arc_at(s, s->nodes[i].arc);
    if ((a->from == i) != up)
        return a->flow;
    return a->capacity == CIRCULATION_UNBOUNDED ? CIRCULATION_UNBOUNDED : a->capacity - a->flow;
}

static void send(struct simplex *s, uint32_t i, bool up, int64_t amount)
{
    struct circulation_arc *a = arc_at(s, s->nodes[i].arc);
    a->flow += (a->from == i) == up ? amount : -amount;
}

/* Cuts the tree at a node, hangs the part that falls off on `from` by the arc to `to`, which is in it. */
static void hang(struct simplex *s, uint32_t cut, uint32_t from, uint32_t to, uint32_t arc)
{
    uint32_t i = to, parent = from;
    for (;;) {
        const uint32_t above = s->nodes[i].parent, above_arc = s->nodes[i].arc;
        unlink_child(s, i);
        link_child(s, i, parent, arc);
        if (i == cut)
            break;
        parent = i;
        i = above;
        arc = above_arc;
    }
    renew_subtree(s, to);
}

/* The last blocking arc of the cycle, from its apex on in the direction of the flow. */
static struct blocking find_blocking(struct simplex *s, uint32_t from, uint32_t to, int64_t residual,
                                     uint32_t *apex)
{
    struct blocking first = {NONE, residual, true}, second = first;
    bool found = false;
    uint32_t i = from, j = to;
    while (i != j) {
        const bool on_from = s->nodes[i].depth >= s->nodes[j].depth;
        uint32_t *at = on_from ? &i : &j;
        const int64_t left = residual_of(s, *at, !on_from);
        /* That order is down to `from`, whose last arc is met first here; the new arc; then up from `to`, whose last is met last. */
        if (on_from ? left < first.residual : left <= second.residual) {
            *(on_from ? &first : &second) = (struct blocking){*at, left, on_from};
            found |= !on_from;
        }
        *at = s->nodes[*at].parent;
        s->seen++;
    }
    *apex = i;
    return found && second.residual <= first.residual ? second : first;
}

static void send_around(struct simplex *s, uint32_t from, uint32_t to, uint32_t apex, int64_t amount)
{
    for (uint32_t i = from; amount && i != apex; i = s->nodes[i].parent)
        send(s, i, false, amount);
    for (uint32_t i = to; amount && i != apex; i = s->nodes[i].parent)
        send(s, i, true, amount);
}

/* Lets an arc enter the tree. false: nothing bounds the flow. */
static bool pivot(struct simplex *s, uint32_t number)
{
    struct circulation_arc *a = arc_at(s, number);
    const bool fill = a->flow == 0;
    const uint32_t from = fill ? a->from : a->to, to = fill ? a->to : a->from;
    uint32_t apex;
    const struct blocking b = find_blocking(s, from, to, a->capacity, &apex);
    if (b.residual == CIRCULATION_UNBOUNDED)
        return false;
    send_around(s, from, to, apex, b.residual);
    a->flow += fill ? b.residual : -b.residual;
    if (b.node != NONE)
        hang(s, b.node, b.on_from ? to : from, b.on_from ? from : to, number);
    return true;
}

/* The arc of a block of arcs, from *next on, that lowers the cost most; NONE: none of all does. */
static uint32_t find_entering(struct simplex *s, size_t *next, size_t block)
{
    uint32_t best = NONE;
    int64_t gain = 0;
    for (size_t seen = 0; seen < s->count; seen++) {
        const size_t i = *next;
        const struct circulation_arc *a = &s->arcs[i];
        const int64_t cost = a->from == a->to || !a->capacity ? 0 : reduced_cost(s, a);
        const int64_t gains = a->flow == 0 ? -cost : a->flow == a->capacity ? cost : 0;
        *next = i + 1 < s->count ? i + 1 : 0;
        s->seen++;
        if (gains > gain) {
            gain = gains;
            best = (uint32_t)i;
        }
        if (best != NONE && seen % block == block - 1)
            break;
    }
    return best;
}

static bool begin(struct simplex *s, uint32_t nodes)
{
    s->root = nodes;
    s->nodes = calloc((size_t)nodes + 1, sizeof *s->nodes);
    s->roots = calloc((size_t)nodes + 1, sizeof *s->roots);
    if (!s->nodes || !s->roots)
        return false;
    s->nodes[s->root] =
        (struct node){.parent = NONE, .arc = NONE, .child = NONE, .next = NONE, .previous = NONE};
    for (uint32_t i = 0; i < nodes; i++) {
        s->roots[i] = (struct circulation_arc){
            .from = i, .to = s->root, .cost = COST_ROOT, .capacity = CIRCULATION_UNBOUNDED};
        s->nodes[i].child = NONE;
        link_child(s, i, s->root, (uint32_t)s->count + i);
        s->nodes[i].depth = 1;
        s->nodes[i].potential = -COST_ROOT;
    }
    for (size_t i = 0; i < s->count; i++) {
        struct circulation_arc *a = &s->arcs[i];
        a->flow = a->from == a->to && a->cost < 0 ? a->capacity : 0;
    }
    return true;
}

int circulation_solve(struct circulation_arc *arcs, size_t count, uint32_t nodes, uint64_t *work)
{
    struct simplex s = {.arcs = arcs, .count = count};
    size_t next = 0, block = BLOCK_LEAST;
    while (block * block < count)
        block *= 2;
    int rc = begin(&s, nodes) ? 0 : -ENOMEM;
    uint32_t entering = NONE;
    while (rc == 0 && (entering = find_entering(&s, &next, block)) != NONE)
        if (s.seen > *work || !pivot(&s, entering))
            rc = -E2BIG;
    *work -= s.seen < *work ? s.seen : *work;
    free(s.nodes);
    free(s.roots);
    return rc;
}
