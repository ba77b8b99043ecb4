/* conflicts.c - see conflicts.h. */
#include "disambig/clone/conflicts.h"

#include <stdlib.h>

#include "base/sort.h"
#include "base/vec.h"
#include "disambig/search/recount.h"
#include "disambig/search/worth.h"

/* How likely a copy is to separate what it should: there may be no free size for its frame, or no stack left. */
#define BY_PAD   0.7
#define BY_CHAIN 0.3 /* by copies of its callees, which are made in later rounds */

#define MOST_WORK  ((size_t)1 << 28) /* steps outwards on paths: seconds */
#define MOST_ROWS  64u               /* callers compared with each other at one place */
#define MOST_DEPTH 256u              /* nodes searched for what separates paths further out */
#define MANY_PATHS 0.5               /* share of the worth if several paths come from behind a caller */

/* A path of an ambiguous CID, followed outwards. */
struct trail {
    uint32_t at;     /* node of the original map, like */
    uint32_t below;  /* the node before; PATHMAP_NONE: none */
    uint32_t beyond; /* and the next; PATHMAP_NONE: none */
    uint32_t path;   /* of the original map */
    uint32_t from;   /* body that leads to it, or CONFLICT_OTHERS */
    uint32_t caller; /* the body of the next node */
    double worth;
};

struct segment {
    uint32_t first, count;
};

struct cid {
    uint32_t first, count; /* in `nodes` */
    double worth;
};

struct finding {
    const struct conflicts_of *of;
    struct worth worth;
    uint64_t *heights;
    uint32_t *nodes; /* by body, height */
    struct cid *cids;
    uint32_t cid_count, cid_capacity;
    struct trail *trails;
    uint32_t trail_capacity;
    uint32_t *marks, *ways; /* by body: for note_outer() */
    uint32_t mark;
    struct segment *segments;
    uint32_t segment_count, segment_capacity;
    struct conflicts *found;
    size_t count, capacity, work;
};

static uint32_t body_of(const struct finding *x, uint32_t node)
{
    return node == PATHMAP_NONE ? PATHMAP_NONE : x->of->cloned->bodies[node];
}

static uint32_t function_of(const struct finding *x, uint32_t node)
{
    return pathmap_node(x->of->map, node).function;
}

/* Whether the callee's height grows with the caller's pad. */
static bool is_shifted(const struct finding *x, uint32_t caller, uint32_t callee)
{
    return pathmap_node(x->of->map, callee).parent == caller &&
           !x->of->unshifted[x->of->cloned->numbers[callee]];
}

/* The share of the worth that a copy of the trail's body may bring; 0: none. */
static double share_of_worth(const struct finding *x, const struct trail *t)
{
    const struct conflicts_of *of = x->of;
    uint32_t function = function_of(x, t->at);
    if (!of->clonable[function])
        return 0;
    if (t->below == PATHMAP_NONE)
        return 1;
    if (of->growing[function] && is_shifted(x, t->at, t->below))
        return BY_PAD;
    return of->redirectors[t->below] == t->at && of->clonable[function_of(x, t->below)] ? BY_CHAIN : 0;
}

static int by_from(const void *a, const void *b)
{
    const struct trail *x = a, *y = b;
    return order_of(x->from, y->from) ?: order_of(x->caller, y->caller) ?: order_of(x->path, y->path);
}

/* The next node outwards. */
static uint32_t outwards(const struct finding *x, uint32_t node, uint32_t *from)
{
    uint32_t redirector = x->of->redirectors[node];
    uint32_t next = redirector != PATHMAP_NONE ? redirector : pathmap_node(x->of->map, node).parent;
    *from = redirector != PATHMAP_NONE ? body_of(x, redirector) : CONFLICT_OTHERS;
    return next;
}

/* Finds what leads to the trails' nodes. */
static void look_out(struct finding *x, struct segment s)
{
    for (uint32_t i = s.first; i < s.first + s.count; i++) {
        struct trail *t = &x->trails[i];
        t->beyond = outwards(x, t->at, &t->from);
        t->caller = body_of(x, t->beyond);
    }
    qsort(x->trails + s.first, s.count, sizeof *x->trails, by_from);
}

/* The worth of the trails from `first` on that come from the same caller; *end: behind them. */
static double worth_from(const struct finding *x, uint32_t first, uint32_t most, uint32_t *end)
{
    double worth = 0;
    bool many = false;
    uint32_t i = first;
    for (; i < most && x->trails[i].from == x->trails[first].from; i++) {
        worth += x->trails[i].worth * share_of_worth(x, &x->trails[i]);
        many |= x->trails[i].path != x->trails[first].path;
    }
    *end = i;
    return many ? worth * MANY_PATHS : worth;
}

static bool add_conflict(struct finding *x, uint32_t body, uint32_t from, uint32_t other, double worth)
{
    struct conflicts conflicts = {body, from < other ? from : other, from < other ? other : from, worth};
    return vec_push(x->found, x->count, x->capacity, conflicts);
}

/* Records a conflict for each pair of bodies that leads to the trails' body. *noted: whether a copy of it may
 * separate any. */
static bool note_pairs(struct finding *x, struct segment s, bool *noted)
{
    uint32_t from[MOST_ROWS], count = 0, body = body_of(x, x->trails[s.first].at);
    double worths[MOST_ROWS];
    for (uint32_t i = s.first, end; i < s.first + s.count && count < MOST_ROWS; i = end) {
        from[count] = x->trails[i].from;
        worths[count++] = worth_from(x, i, s.first + s.count, &end);
    }
    for (uint32_t a = 0; a < count; a++)
        for (uint32_t b = a + 1; b < count; b++) {
            double worth = (worths[a] + worths[b]) / (count - 1);
            *noted |= worth > 0;
            if (worth > 0 && !add_conflict(x, body, from[a], from[b], worth))
                return false;
        }
    return true;
}

/* For two trails that nothing separates where they diverge: further out they may reach one body on different
 * ways, whose copy grows by another pad. */
static bool note_outer(struct finding *x, const struct trail *one, const struct trail *other)
{
    uint32_t from, mark = ++x->mark, below = one->below, node = one->at, depth = 0;
    for (uint32_t next; node != PATHMAP_NONE && depth < MOST_DEPTH; below = node, node = next, depth++) {
        uint32_t body = body_of(x, node);
        next = outwards(x, node, &from);
        if (x->marks[body] != mark && below != PATHMAP_NONE && is_shifted(x, node, below)) {
            x->marks[body] = mark;
            x->ways[body] = from;
        }
    }
    below = other->below;
    node = other->at;
    for (uint32_t next; node != PATHMAP_NONE && depth < 2 * MOST_DEPTH; below = node, node = next, depth++) {
        uint32_t body = body_of(x, node), function = function_of(x, node);
        next = outwards(x, node, &from);
        x->work++;
        if (x->marks[body] == mark && x->ways[body] != from && x->of->clonable[function] &&
            x->of->growing[function] && below != PATHMAP_NONE && is_shifted(x, node, below))
            return add_conflict(x, body, from, x->ways[body], (one->worth + other->worth) * BY_PAD);
    }
    return true;
}

static bool comes_apart(const struct trail *a, const struct trail *b)
{
    return a->from != b->from || a->caller != b->caller;
}

/* Records what may separate the trails, if they diverge here. */
static bool note_all(struct finding *x, struct segment s)
{
    const struct trail *trails = x->trails + s.first;
    bool noted = false;
    if (trails[0].from != trails[s.count - 1].from && !note_pairs(x, s, &noted))
        return false;
    for (uint32_t i = 1; !noted && i < s.count; i++)
        if (comes_apart(&trails[i - 1], &trails[i]) && !note_outer(x, &trails[i - 1], &trails[i]))
            return false;
    return true;
}

/* Continues outwards with the trails that come from one caller, if they have several paths. */
static bool follow_outwards(struct finding *x, struct segment s)
{
    for (uint32_t i = s.first, end; i < s.first + s.count; i = end) {
        bool several = false;
        for (end = i; end < s.first + s.count && x->trails[end].from == x->trails[i].from &&
                      x->trails[end].caller == x->trails[i].caller;
             end++) {
            several |= x->trails[end].path != x->trails[i].path;
        }
        if (!several || x->trails[i].caller == PATHMAP_NONE)
            continue;
        for (uint32_t k = i; k < end; k++) {
            x->trails[k].below = x->trails[k].at;
            x->trails[k].at = x->trails[k].beyond;
        }
        if (!vec_push(x->segments, x->segment_count, x->segment_capacity, (struct segment){i, end - i}))
            return false;
    }
    return true;
}

static bool follow_paths(struct finding *x, const struct cid *cid)
{
    if (!vec_reserve(x->trails, 0, x->trail_capacity, cid->count))
        return false;
    for (uint32_t i = 0; i < cid->count; i++) {
        uint32_t node = x->of->cloned->origins[x->nodes[cid->first + i]];
        struct pathmap_node at = pathmap_node(x->of->map, node);
        x->trails[i] = (struct trail){.at = node,
                                      .below = PATHMAP_NONE,
                                      .path = at.path,
                                      .worth = (double)worth_of_node(&x->worth, &at, true)};
    }
    x->segment_count = 0;
    if (!vec_push(x->segments, x->segment_count, x->segment_capacity, (struct segment){0, cid->count}))
        return false;
    while (x->segment_count) {
        struct segment s = x->segments[--x->segment_count];
        x->work += s.count;
        look_out(x, s);
        if (!note_all(x, s) || !follow_outwards(x, s))
            return false;
    }
    return true;
}

static int by_worth(const void *a, const void *b)
{
    const struct cid *x = a, *y = b;
    return order_of(y->worth, x->worth) ?: order_of(x->first, y->first);
}

static int by_place(const void *a, const void *b, void *context)
{
    const struct finding *x = context;
    uint32_t m = *(const uint32_t *)a, n = *(const uint32_t *)b;
    uint32_t f = pathmap_node(x->of->cloned->map, m).function,
             g = pathmap_node(x->of->cloned->map, n).function;
    return order_of(f, g) ?: order_of(x->heights[m], x->heights[n]) ?: order_of(m, n);
}

/* Finds the ambiguous CIDs, sorted by worth. */
static bool find_cids(struct finding *x, uint32_t nodes)
{
    const struct pathmap *map = x->of->cloned->map;
    for (uint32_t i = 0; i < nodes; i++)
        x->nodes[i] = i;
    qsort_r(x->nodes, nodes, sizeof *x->nodes, by_place, x);
    for (uint32_t i = 0, end; i < nodes; i = end) {
        struct cid cid = {.first = i};
        bool several = false;
        for (end = i; end < nodes && x->heights[x->nodes[end]] == x->heights[x->nodes[i]] &&
                      pathmap_node(map, x->nodes[end]).function == pathmap_node(map, x->nodes[i]).function;
             end++) {
            struct pathmap_node at = pathmap_node(x->of->map, x->of->cloned->origins[x->nodes[end]]);
            cid.worth += (double)worth_of_node(&x->worth, &at, true);
            several |= at.path != pathmap_node(x->of->map, x->of->cloned->origins[x->nodes[i]]).path;
        }
        cid.count = end - i;
        if (several && !vec_push(x->cids, x->cid_count, x->cid_capacity, cid))
            return false;
    }
    sort_with(x->cids, x->cid_count, by_worth);
    return true;
}

static int by_callers(const void *a, const void *b)
{
    const struct conflicts *x = a, *y = b;
    return order_of(x->body, y->body) ?: order_of(x->a, y->a) ?: order_of(x->b, y->b);
}

/* Adds up conflicts of the same callers. */
static void merge_conflicts(struct finding *x)
{
    size_t out = 0;
    sort_with(x->found, x->count, by_callers);
    for (size_t i = 0; i < x->count; i++)
        if (out && by_callers(&x->found[out - 1], &x->found[i]) == 0)
            x->found[out - 1].worth += x->found[i].worth;
        else
            x->found[out++] = x->found[i];
    x->count = out;
}

static int find_conflicts(struct finding *x, uint32_t nodes, struct fathom_error *err)
{
    struct lineage_order order;
    int rc = lineage_order(x->of->cloned->map, &order, err);
    if (rc < 0)
        return rc;
    recount_heights(x->of->cloned->map, &order, x->of->pads, x->of->unshifted, NULL, x->heights);
    lineage_order_clear(&order);
    if (!find_cids(x, nodes))
        return error_memory(err);
    for (uint32_t i = 0; i < x->cid_count && x->work < MOST_WORK; i++)
        if (!follow_paths(x, &x->cids[i]))
            return error_memory(err);
    merge_conflicts(x);
    return 0;
}

int conflicts_find(const struct conflicts_of *of, struct conflicts **out, size_t *count,
                   struct fathom_error *err)
{
    uint32_t nodes = pathmap_node_count(of->cloned->map);
    struct finding x = {.of = of,
                        .worth = worth_of_map(of->map),
                        .heights = malloc((nodes + 1ul) * sizeof *x.heights),
                        .nodes = malloc((nodes + 1ul) * sizeof *x.nodes),
                        .marks = calloc(bodies_count(of->bodies) + 1ul, sizeof *x.marks),
                        .ways = malloc((bodies_count(of->bodies) + 1ul) * sizeof *x.ways)};
    int rc = x.heights && x.nodes && x.marks && x.ways ? find_conflicts(&x, nodes, err) : error_memory(err);
    free(x.heights);
    free(x.nodes);
    free(x.marks);
    free(x.ways);
    free(x.cids);
    free(x.trails);
    free(x.segments);
    if (rc < 0) {
        free(x.found);
        return rc;
    }
    *out = x.found;
    *count = x.count;
    return 0;
}
