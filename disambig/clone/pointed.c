/* pointed.c - see pointed.h. */
#include "disambig/clone/pointed.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/vec.h"

struct collecting {
    const struct pathmap *map;
    const struct redirects *redirectors;
    const struct cloned_map *cloned;
    struct pointed edges;
    struct table *sites;  /* return address -> number, from 0 */
    struct table *places; /* (body, number of the site) -> place + 1 */
    uint32_t site_count;
};

/* The place of a node's call; NULL: out of memory, or it is unknown and not to be added. */
static uint64_t *find_place(struct collecting *c, const struct pathmap_node *node, bool add)
{
    bool added = false;
    uint64_t *site = add ? table_put(c->sites, node->site, &added) : table_find(c->sites, node->site);
    if (!site)
        return NULL;
    if (added)
        *site = c->site_count++;
    uint64_t key = (uint64_t)c->cloned->bodies[node->parent] << 32 | *site;
    return add ? table_put(c->places, key, NULL) : table_find(c->places, key);
}

static bool add_edge(struct collecting *c, uint32_t at)
{
    struct pathmap_node node = pathmap_node(c->map, at);
    struct pointed *e = &c->edges;
    uint64_t *place = find_place(c, &node, true);
    if (!place)
        return false;
    struct pointed_place new = {.body = c->cloned->bodies[node.parent], .site = node.site};
    if (!*place) {
        if (!vec_push(e->places, e->place_count, e->place_capacity, new))
            return false;
        *place = e->place_count;
    }
    struct pointed_edge edge = {new.body, node.function, (uint32_t)*place - 1};
    return vec_push(e->items, e->count, e->capacity, edge);
}

static int by_place(const void *a, const void *b)
{
    const struct pointed_edge *x = a, *y = b;
    return order_of(x->caller, y->caller) ?: order_of(x->function, y->function)
           ?: order_of(x->place, y->place);
}

/* Sorts the edges and removes duplicates. */
static void sort_edges(struct pointed *e)
{
    uint32_t kept = 0;
    sort_with(e->items, e->count, by_place);
    for (uint32_t i = 0; i < e->count; i++)
        if (!kept || by_place(&e->items[kept - 1], &e->items[i]) != 0)
            e->items[kept++] = e->items[i];
    e->count = kept;
}

static bool collect_calls(struct collecting *c)
{
    for (uint32_t i = 0; i < pathmap_node_count(c->map); i++)
        if (c->redirectors->pointed[i] && !add_edge(c, i))
            return false;
    for (uint32_t i = 0; i < pathmap_node_count(c->map) && c->edges.count; i++) {
        struct pathmap_node node = pathmap_node(c->map, i);
        const uint64_t *place = node.parent != PATHMAP_NONE && node.site ? find_place(c, &node, false) : NULL;
        if (place)
            c->edges.places[*place - 1].calls += node.passes;
    }
    sort_edges(&c->edges);
    return true;
}

int pointed_find(const struct pathmap *map, const struct redirects *redirectors, const struct bodies *bodies,
                 const struct cloned_map *cloned, struct pointed *out, struct fathom_error *err)
{
    struct collecting c = {.map = map,
                           .redirectors = redirectors,
                           .cloned = cloned,
                           .sites = table_new(),
                           .places = table_new()};
    bool good = c.sites && c.places && collect_calls(&c);
    table_free(c.sites);
    table_free(c.places);
    if (!good) {
        pointed_clear(&c.edges);
        return error_memory(err);
    }
    for (uint32_t i = 0; i < c.edges.count; i++) {
        const struct pointed_edge *e = &c.edges.items[i];
        c.edges.places[e->place].guards +=
            bodies_copy(bodies, bodies_callee(bodies, e->caller, e->function)) > 0;
    }
    *out = c.edges;
    return 0;
}

void pointed_clear(struct pointed *edges)
{
    free(edges->items);
    free(edges->places);
    *edges = (struct pointed){0};
}

static uint32_t first_edge(const struct pointed *e, uint32_t caller, uint32_t function)
{
    const struct pointed_edge key = {caller, function, 0};
    return lower_bound(i, 0u, e->count, by_place(&e->items[i], &key) < 0);
}

static bool is_of(const struct pointed *e, uint32_t i, uint32_t caller, uint32_t function)
{
    return i < e->count && e->items[i].caller == caller && e->items[i].function == function;
}

uint64_t pointed_cost(const struct pointed *edges, const struct bodies *bodies, uint32_t caller,
                      uint32_t body)
{
    uint32_t function = bodies_function(bodies, body);
    uint64_t calls = 0;
    if (bodies_copy(bodies, body)) /* they have a guard for it */
        return 0;
    for (uint32_t i = first_edge(edges, caller, function); is_of(edges, i, caller, function); i++) {
        const struct pointed_place *place = &edges->places[edges->items[i].place];
        if (place->guards >= MOVE_GUARDS_MOST)
            return POINTED_FULL;
        calls += place->calls;
    }
    return calls;
}

void pointed_add_guards(struct pointed *edges, uint32_t caller, uint32_t function)
{
    for (uint32_t i = first_edge(edges, caller, function); is_of(edges, i, caller, function); i++)
        edges->places[edges->items[i].place].guards++;
}

struct pointed_sum pointed_sum(const struct pointed *edges)
{
    struct pointed_sum sum = {.possible = edges->place_count};
    for (uint32_t i = 0; i < edges->place_count; i++) {
        const struct pointed_place *place = &edges->places[i];
        sum.places += place->guards > 0;
        sum.calls += place->guards ? place->calls : 0;
        sum.executed += place->guards * place->calls;
    }
    return sum;
}
