/* candidates.c - see candidates.h. */
#include "disambig/wrap/candidates.h"

#include <stdlib.h>

#include "base/sort.h"
#include "base/vec.h"
#include "disambig/search/recount.h"
#include "disambig/search/worth.h"

#define MOST_PATHS 64u /* paths of one CID that are compared: the others mostly differ by the same calls */
#define MOST_WORK  ((size_t)1 << 28) /* steps outwards on paths: seconds */

struct tally {      /* of an edge, over the paths of the current CID */
    uint32_t paths; /* number of paths with it */
    uint32_t path;  /* 1 + the last one of these, */
    uint32_t times; /* and how often it is on that one */
    uint32_t first; /* how often it is on the first one */
    bool differs;
};

struct finding {
    const struct search_problem *problem;
    const struct wrap_edges *edges;
    struct worth worth;
    uint64_t *heights;
    uint32_t *nodes; /* by function, height, path */
    struct tally *tallies;
    uint32_t *touched; /* edges with a tally */
    uint32_t touched_count, touched_capacity;
    size_t work;
    double *out;
};

static int by_place(const void *a, const void *b, void *context)
{
    const struct finding *x = context;
    uint32_t m = *(const uint32_t *)a, n = *(const uint32_t *)b;
    struct pathmap_node v = pathmap_node(x->problem->map, m), w = pathmap_node(x->problem->map, n);
    return order_of(v.function, w.function) ?: order_of(x->heights[m], x->heights[n])
           ?: order_of(v.path, w.path) ?: order_of(m, n);
}

static void end_path(struct tally *t)
{
    t->differs |= t->paths && t->times != t->first;
    t->first = t->paths ? t->first : t->times;
    t->paths++;
}

static bool add_path(struct finding *x, uint32_t node, uint32_t path)
{
    for (struct pathmap_node at; node != PATHMAP_NONE; node = at.parent) {
        uint32_t edge = x->edges->by_node[node];
        at = pathmap_node(x->problem->map, node);
        x->work++;
        if (edge == PATHMAP_NONE)
            continue;
        struct tally *t = &x->tallies[edge];
        if (!t->path && !vec_push(x->touched, x->touched_count, x->touched_capacity, edge))
            return false;
        if (t->path && t->path != path + 1)
            end_path(t);
        t->times = t->path == path + 1 ? t->times + 1 : 1;
        t->path = path + 1;
    }
    return true;
}

/* Examines the nodes of one function and height. */
static bool add_cid(struct finding *x, const uint32_t *nodes, uint32_t count)
{
    const struct pathmap *map = x->problem->map;
    double worth = 0;
    uint32_t paths = 0, last = PATHMAP_NONE;
    if (pathmap_node(map, nodes[0]).path == pathmap_node(map, nodes[count - 1]).path)
        return true; /* precise */
    for (uint32_t i = 0; i < count; i++) {
        struct pathmap_node at = pathmap_node(map, nodes[i]);
        worth += (double)worth_of_node(&x->worth, &at, at.path != last);
        if (at.path != last && paths < MOST_PATHS && !add_path(x, nodes[i], paths++))
            return false;
        last = at.path;
    }
    for (uint32_t i = 0; i < x->touched_count; i++) {
        struct tally *t = &x->tallies[x->touched[i]];
        end_path(t);
        if (t->differs || t->paths < paths)
            x->out[x->touched[i]] += worth;
        *t = (struct tally){0};
    }
    x->touched_count = 0;
    return true;
}

static bool add_all(struct finding *x)
{
    const struct pathmap *map = x->problem->map;
    uint32_t count = pathmap_node_count(map);
    for (uint32_t i = 0; i < count; i++)
        x->nodes[i] = i;
    qsort_r(x->nodes, count, sizeof *x->nodes, by_place, x);
    for (uint32_t i = 0, end; i < count && x->work < MOST_WORK; i = end) {
        uint32_t function = pathmap_node(map, x->nodes[i]).function;
        for (end = i + 1; end < count && x->heights[x->nodes[end]] == x->heights[x->nodes[i]] &&
                          pathmap_node(map, x->nodes[end]).function == function;
             end++)
            ;
        if (!add_cid(x, x->nodes + i, end - i))
            return false;
    }
    return true;
}

int candidates_find(const struct search_problem *problem, const uint32_t *pads,
                    const struct wrap_edges *edges, double *worth, struct fathom_error *err)
{
    struct lineage_order order;
    size_t nodes = pathmap_node_count(problem->map) + 1ul;
    int rc = lineage_order(problem->map, &order, err);
    if (rc < 0)
        return rc;
    struct finding x = {.problem = problem,
                        .edges = edges,
                        .worth = worth_of_map(problem->map),
                        .heights = malloc(nodes * sizeof *x.heights),
                        .nodes = malloc(nodes * sizeof *x.nodes),
                        .tallies = calloc(edges->count + 1ul, sizeof *x.tallies),
                        .out = worth};
    bool good = x.heights && x.nodes && x.tallies;
    for (uint32_t i = 0; i < edges->count; i++)
        worth[i] = 0;
    if (good) {
        recount_heights(problem->map, &order, pads, problem->unshifted, problem->wraps, x.heights);
        good = add_all(&x);
    }
    lineage_order_clear(&order);
    free(x.heights);
    free(x.nodes);
    free(x.tallies);
    free(x.touched);
    return good ? 0 : error_memory(err);
}
