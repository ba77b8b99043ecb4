/* units.c - see units.h. The moves are found in moves.c. */
#include "disambig/search/units.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/saturate.h"
#include "disambig/search/moves.h"

/* State while units are made: nodes by function, and the hash of each node's counted ancestors. */
struct making {
    struct units *u;
    const struct pathmap *map;
    uint64_t *ancestors;   /* by node */
    uint32_t *by_function; /* nodes */
    uint32_t *first;       /* index of each function's first node; function_count + 1 */
    struct worth worth;
};

/* A multiset's hash is the sum of its members' hashes. */
static void hash_ancestors(struct making *m, const struct lineage_order *order)
{
    const struct search_problem *p = m->u->problem;
    for (uint32_t i = 0; i < order->count; i++) {
        uint32_t node = order->nodes[i];
        struct pathmap_node at = pathmap_node(m->map, node);
        m->ancestors[node] = 0;
        if (at.parent == PATHMAP_NONE)
            continue;
        uint32_t caller = pathmap_node(m->map, at.parent).function;
        bool counted = p->most[caller] && !(p->unshifted && p->unshifted[node]);
        uint32_t wrap = search_wrap(p, node);
        m->ancestors[node] = m->ancestors[at.parent] + (counted ? hash_u64(caller + 0x9e3779b97f4a7c15u) : 0);
        if (wrap != PATHMAP_NONE && p->most[wrap])
            m->ancestors[node] += hash_u64(wrap + 0x9e3779b97f4a7c15u);
    }
}

static void sort_by_function(struct making *m, uint32_t nodes)
{
    uint32_t functions = m->u->functions;
    for (uint32_t i = 0; i < nodes; i++) {
        struct pathmap_node at = pathmap_node(m->map, i);
        m->first[at.function + 1]++;
    }
    for (uint32_t f = 0; f < functions; f++)
        m->first[f + 1] += m->first[f];
    for (uint32_t i = 0; i < nodes; i++)
        m->by_function[m->first[pathmap_node(m->map, i).function]++] = i;
    for (uint32_t f = functions; f > 0; f--)
        m->first[f] = m->first[f - 1];
    m->first[0] = 0;
}

static void add_node(struct making *m, uint32_t number, uint32_t node, bool fresh)
{
    struct unit *unit = &m->u->units[number];
    struct unit_origin *origin = &m->u->origins[number];
    struct pathmap_node at = pathmap_node(m->map, node);
    if (fresh) {
        *unit = (struct unit){.place = at.height, .paths = 1};
        *origin = (struct unit_origin){m->u->group_count, node, at.path, at.path, 0};
    }
    unit->value +=
        worth_of_node(&m->worth, &at, fresh || (at.path != origin->path && at.path != origin->other));
    if (at.path != origin->path) {
        unit->paths = 2;
        origin->other = at.path;
    }
    origin->weight = add_saturating(origin->weight, m->worth.samples > 0 ? at.self : at.passes);
}

/* Makes a group of the units from `first` on, unless they have no conflict. */
static bool close_group(struct making *m, uint32_t function, uint32_t first)
{
    struct units *u = m->u;
    if (u->count - first == 1) {
        u->fixed_weight += u->units[first].paths == 1 ? u->origins[first].weight : 0;
        u->count = first;
        return true;
    }
    struct group *group = &u->groups[u->group_count++];
    *group = (struct group){.function = function, .first = first, .count = u->count - first};
    struct table *paths = table_new();
    bool good = paths;
    for (uint32_t i = first; good && i < u->count; i++) {
        bool added;
        group->weighted |= u->origins[i].weight > 0;
        u->reachable += u->units[i].paths == 1 ? u->units[i].value : 0;
        good = table_put(paths, u->origins[i].path, &added);
        group->twins |= !added;
    }
    table_free(paths);
    return good;
}

/* Adds the units of one function behind those made so far. */
static bool add_function(struct making *m, uint32_t function)
{
    struct units *u = m->u;
    struct table *known = table_new();
    bool good = known;
    uint32_t first = u->count;
    for (uint32_t i = m->first[function]; good && i < m->first[function + 1]; i++) {
        uint32_t node = m->by_function[i];
        bool added;
        uint64_t key = hash_u64(m->ancestors[node] + pathmap_node(m->map, node).height);
        uint64_t *number = table_put(known, key, &added);
        good = number;
        if (good && added)
            *number = u->count++;
        if (good)
            add_node(m, (uint32_t)*number, node, added);
    }
    table_free(known);
    return good && close_group(m, function, first);
}

static int make_units(struct making *m, const struct lineage_order *order, struct fathom_error *err)
{
    struct units *u = m->u;
    uint32_t nodes = order->count;
    m->worth = worth_of_map(m->map);
    hash_ancestors(m, order);
    sort_by_function(m, nodes);
    for (uint32_t i = 0; i < nodes; i++) {
        struct pathmap_node at = pathmap_node(m->map, i);
        u->weight = add_saturating(u->weight, m->worth.samples > 0 ? at.self : at.passes);
    }
    int rc = 0;
    for (uint32_t f = 0; rc == 0 && f < u->functions; f++)
        if (m->first[f + 1] > m->first[f])
            rc = add_function(m, f) ? 0 : error_memory(err);
    return rc;
}

int units_make(struct units *u, const struct search_problem *problem, const struct lineage_order *order,
               struct fathom_error *err)
{
    size_t nodes = order->count + 1ul, functions = search_mover_count(problem) + 1ul;
    *u = (struct units){.problem = problem, .functions = (uint32_t)functions - 1};
    u->units = malloc(nodes * sizeof *u->units);
    u->origins = malloc(nodes * sizeof *u->origins);
    u->groups = malloc(functions * sizeof *u->groups);
    struct making m = {.u = u, .map = problem->map};
    m.ancestors = malloc(nodes * sizeof *m.ancestors);
    m.by_function = malloc(nodes * sizeof *m.by_function);
    m.first = calloc(functions, sizeof *m.first);
    int rc = u->units && u->origins && u->groups && m.ancestors && m.by_function && m.first
                 ? make_units(&m, order, err)
                 : error_memory(err);
    free(m.ancestors);
    free(m.by_function);
    free(m.first);
    if (rc == 0)
        rc = moves_find(u, order, err);
    if (rc < 0)
        units_clear(u);
    return rc;
}

void units_clear(struct units *u)
{
    free(u->units);
    free(u->origins);
    free(u->groups);
    free(u->blocks);
    free(u->first_block);
    free(u->moves);
    *u = (struct units){0};
}
