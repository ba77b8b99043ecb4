/* deep_paths.c - see deep_paths.h. */
#include "disambig/search/deep_paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"

#define MOST_PARTS ((size_t)1 << 28) /* 2 GiB of them */

/* By node: the greatest height of the nodes below it, and its own. */
struct crowns {
    uint32_t *tops;
    uint32_t *best; /* the child that moves with the node's frame and reaches highest; PATHMAP_NONE: none */
};

static bool is_shifted(const struct search_problem *p, uint32_t node)
{
    return !p->unshifted || !p->unshifted[node];
}

/* From the leaves inwards: in reverse preorder. */
static void find_crowns(struct crowns *c, const struct search_problem *p, const struct lineage_order *order)
{
    memset(c->best, 0xff, order->count * sizeof *c->best);
    memset(c->tops, 0, order->count * sizeof *c->tops);
    for (uint32_t i = order->count; i-- > 0;) {
        uint32_t node = order->nodes[i];
        struct pathmap_node at = pathmap_node(p->map, node);
        if (at.height > c->tops[node])
            c->tops[node] = at.height;
        if (at.parent == PATHMAP_NONE)
            continue;
        uint32_t *best = &c->best[at.parent];
        if (is_shifted(p, node) && (*best == PATHMAP_NONE || c->tops[node] >= c->tops[*best]))
            *best = node;
        if (c->tops[node] > c->tops[at.parent])
            c->tops[at.parent] = c->tops[node];
    }
}

static uint64_t hash_held(const struct lineage *walk)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < walk->count; i++) {
        uint32_t f = walk->held[i];
        sum += hash_u64(f + 0x9e3779b97f4a7c15u) * walk->times[f];
    }
    return sum;
}

/* Whether the largest pads could make the current node too high. */
static bool may_exceed(const struct lineage *walk, uint64_t limit)
{
    uint64_t height = walk->at.height;
    for (uint32_t i = 0; i < walk->count && height <= limit; i++) {
        uint32_t f = walk->held[i];
        height += (uint64_t)walk->times[f] * walk->movers.most[f];
    }
    return height > limit;
}

/* State while deep paths are collected. */
struct growing {
    struct deep_paths *deep_paths;
    const struct search_problem *problem;
    const struct lineage_order *order;
    struct crowns crowns;
    struct table *known; /* hash of a deep path's contents -> its number */
    uint32_t *nodes;     /* by deep path */
    uint32_t capacity;
};

static bool is_leaf_to_keep(const struct growing *g, const struct lineage *walk)
{
    uint32_t node = walk->node;
    if (g->crowns.tops[node] != walk->at.height)
        return false;
    if (walk->at.parent == PATHMAP_NONE || search_wrap(g->problem, node) != PATHMAP_NONE)
        return true;
    uint32_t best = g->crowns.best[walk->at.parent];
    return best == PATHMAP_NONE || best == node || g->crowns.tops[best] < walk->at.height;
}

static int choose_deep_paths(struct growing *g, struct fathom_error *err)
{
    const struct search_problem *p = g->problem;
    struct lineage walk;
    struct lineage_movers movers = search_movers(p);
    int rc = lineage_start(&walk, p->map, g->order, &movers, err);
    if (rc < 0)
        return rc;
    while (rc == 0 && lineage_next(&walk)) {
        if (!is_leaf_to_keep(g, &walk) || !may_exceed(&walk, g->deep_paths->limit))
            continue;
        bool added;
        uint64_t *number = table_put(g->known, hash_held(&walk), &added);
        uint32_t count = g->deep_paths->count;
        if (!number)
            rc = error_memory(err);
        else if (!added && pathmap_node(p->map, g->nodes[*number]).height < walk.at.height)
            g->nodes[*number] = walk.node;
        else if (added) {
            *number = count;
            if (!vec_push(g->nodes, count, g->capacity, walk.node))
                rc = error_memory(err);
            g->deep_paths->count = count;
        }
    }
    lineage_end(&walk);
    return rc;
}

static int walk_parts(struct growing *g, const uint32_t *deep_path_of, bool fill, struct fathom_error *err)
{
    const struct search_problem *p = g->problem;
    struct deep_paths *l = g->deep_paths;
    struct lineage walk;
    struct lineage_movers movers = search_movers(p);
    int rc = lineage_start(&walk, p->map, g->order, &movers, err);
    if (rc < 0)
        return rc;
    while (lineage_next(&walk)) {
        uint32_t deep_path = deep_path_of[walk.node];
        for (uint32_t i = 0; deep_path != PATHMAP_NONE && i < walk.count; i++) {
            uint32_t f = walk.held[i];
            if (fill)
                l->parts[l->first[f + 1]++] = (struct deep_path_part){deep_path, walk.times[f]};
            else
                l->first[f + 2]++;
        }
        if (deep_path != PATHMAP_NONE)
            l->heights[deep_path] = walk.at.height;
    }
    lineage_end(&walk);
    return 0;
}

static int find_parts(struct growing *g, uint32_t functions, struct fathom_error *err)
{
    struct deep_paths *l = g->deep_paths;
    uint32_t *deep_path_of = malloc((g->order->count + 1ul) * sizeof *deep_path_of);
    l->first = calloc(functions + 2ul, sizeof *l->first);
    l->heights = malloc((l->count + 1ul) * sizeof *l->heights);
    int rc = deep_path_of && l->first && l->heights ? 0 : error_memory(err);
    if (rc == 0) {
        memset(deep_path_of, 0xff, g->order->count * sizeof *deep_path_of);
        for (uint32_t i = 0; i < l->count; i++)
            deep_path_of[g->nodes[i]] = i;
        rc = walk_parts(g, deep_path_of, false, err);
    }
    for (uint32_t f = 0; rc == 0 && f < functions; f++)
        l->first[f + 2] += l->first[f + 1];
    if (rc == 0 && l->first[functions + 1] > MOST_PARTS)
        rc = error_set(err, EFBIG, "the map has too many long stacks to search");
    if (rc == 0) {
        l->parts = malloc((l->first[functions + 1] + 1) * sizeof *l->parts);
        rc = l->parts ? walk_parts(g, deep_path_of, true, err) : error_memory(err);
    }
    free(deep_path_of);
    return rc;
}

int deep_paths_make(struct deep_paths *deep_paths, const struct search_problem *problem,
                    const struct lineage_order *order, struct fathom_error *err)
{
    *deep_paths = (struct deep_paths){0};
    for (uint32_t i = 0; i < order->count; i++) {
        uint32_t height = pathmap_node(problem->map, i).height;
        deep_paths->deepest = height > deep_paths->deepest ? height : deep_paths->deepest;
    }
    double limit = problem->stack * deep_paths->deepest;
    deep_paths->limit = limit < UINT32_MAX ? (uint64_t)limit : UINT32_MAX;
    struct growing g = {.deep_paths = deep_paths, .problem = problem, .order = order, .known = table_new()};
    g.crowns.tops = malloc((order->count + 1ul) * sizeof *g.crowns.tops);
    g.crowns.best = malloc((order->count + 1ul) * sizeof *g.crowns.best);
    int rc = g.known && g.crowns.tops && g.crowns.best ? 0 : error_memory(err);
    if (rc == 0) {
        find_crowns(&g.crowns, problem, order);
        rc = choose_deep_paths(&g, err);
    }
    if (rc == 0)
        rc = find_parts(&g, search_mover_count(problem), err);
    table_free(g.known);
    free(g.crowns.tops);
    free(g.crowns.best);
    free(g.nodes);
    if (rc < 0)
        deep_paths_clear(deep_paths);
    return rc;
}

void deep_paths_clear(struct deep_paths *deep_paths)
{
    free(deep_paths->heights);
    free(deep_paths->parts);
    free(deep_paths->first);
    *deep_paths = (struct deep_paths){0};
}

uint32_t deep_paths_most(const struct deep_paths *l, uint32_t function, uint32_t pad, uint32_t most)
{
    uint64_t growth = most > pad ? most - pad : 0;
    for (size_t i = l->first[function]; i < l->first[function + 1]; i++) {
        uint64_t left = l->limit - l->heights[l->parts[i].deep_path];
        if (growth * l->parts[i].times > left)
            growth = left / l->parts[i].times;
    }
    return (pad + (uint32_t)growth) / PAD_UNIT * PAD_UNIT;
}

void deep_paths_change(struct deep_paths *l, uint32_t function, uint32_t from, uint32_t to)
{
    int64_t by = (int64_t)to - from;
    for (size_t i = l->first[function]; i < l->first[function + 1]; i++)
        l->heights[l->parts[i].deep_path] += (uint64_t)(by * l->parts[i].times);
}

uint64_t deep_paths_deepest(const struct deep_paths *l)
{
    uint64_t deepest = l->deepest;
    for (uint32_t i = 0; i < l->count; i++)
        deepest = l->heights[i] > deepest ? l->heights[i] : deepest;
    return deepest;
}

double deep_paths_price(const struct deep_paths *l, uint32_t function)
{
    double price = 0;
    for (size_t i = l->first[function]; i < l->first[function + 1]; i++) {
        double high = (double)l->heights[l->parts[i].deep_path] / (double)l->limit;
        double here = high * high * l->parts[i].times;
        price = here > price ? here : price;
    }
    return price;
}
