/* redirects.c - see redirects.h. */
#include "disambig/clone/redirects.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/sort.h"
#include "disambig/clone/exits.h"
#include "disambig/direct_call.h"

#define MOST_JUMPS 32u                /* jumps from function to function after one call: also ends loops */
#define SEVERAL    (PATHMAP_NONE - 1) /* several ways lead to a function, or an unknown one does */

struct leading {
    const struct map_frames_of *of;
    const struct map_frames *frames;
    const struct calls *calls;
    struct redirects out;
    struct exits exits;
    struct table *pinned; /* (caller, callee), functions of the map: must lead to the first copy */
    struct table *bare;   /* (number of the call site, callee): must not have a guard */
    uint32_t *nodes;      /* by parent, site */
    uint32_t *here;       /* by function: a node of the current group, or PATHMAP_NONE */
    uint32_t *ways; /* by function: the node that leads to it in the group; PATHMAP_NONE: none; SEVERAL */
};

static bool pin_call(struct leading *l, uint32_t caller, uint32_t callee)
{
    return table_put(l->pinned, exits_pair(caller, callee), NULL);
}

static int by_site(const void *a, const void *b, void *context)
{
    const struct leading *l = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    struct pathmap_node m = pathmap_node(l->of->map, x), n = pathmap_node(l->of->map, y);
    return order_of(m.parent, n.parent) ?: order_of(m.site, n.site) ?: order_of(x, y);
}

static void add_way(struct leading *l, uint32_t function, uint32_t from)
{
    l->ways[function] = l->ways[function] == PATHMAP_NONE ? from : SEVERAL;
}

/* Adds the ways by jumps from one node of the group to others. */
static void add_jumps(struct leading *l, uint32_t node, uint32_t function)
{
    for (uint32_t k = 0; k < l->exits.functions[function].count; k++) {
        uint32_t to = l->exits.jumps[l->exits.functions[function].first + k];
        if (l->here[to] != PATHMAP_NONE && l->ways[to] != node)
            add_way(l, to, node);
    }
}

/* The number of the call, if it goes through a pointer and can have guards; else PATHMAP_NONE. */
static uint32_t find_pointer_call(const struct leading *l, uint32_t caller, uint64_t site)
{
    const struct call_site *all, *call = site ? calls_before(l->calls, site) : NULL;
    if (!l->of->edges || caller == PATHMAP_NONE || !call || call->function != l->frames->functions[caller] ||
        call->kind != CALL_INDIRECT || call->resolver || !move_guardable(l->of->image, call->address))
        return PATHMAP_NONE;
    calls_all(l->calls, &all);
    return (uint32_t)(call - all);
}

/* The nodes of one call: those with the same parent and site. */
struct group {
    const uint32_t *nodes;
    uint32_t count;
    uint32_t parent, caller; /* node and function; PATHMAP_NONE: none */
    uint64_t site;
    uint32_t pointer; /* find_pointer_call() */
};

/* The function of the map that the call leads to first; PATHMAP_NONE: unknown. */
static uint32_t find_callee(const struct leading *l, const struct group *g)
{
    uint32_t callee = g->caller == PATHMAP_NONE
                          ? IMAGE_NO_FUNCTION
                          : direct_call_callee(l->of, l->calls, l->frames->functions[g->caller], g->site);
    return callee == IMAGE_NO_FUNCTION ? PATHMAP_NONE : l->exits.numbers[callee];
}

/* Finds how the nodes of one call may have been reached. guarded: each function that a pointer can lead to may
 * have been the callee. */
static void find_ways(struct leading *l, const struct group *g, bool guarded)
{
    const struct pathmap *map = l->of->map;
    const uint32_t *nodes = g->nodes;
    uint32_t callee = find_callee(l, g), unknown = 0, last = PATHMAP_NONE, count = g->count;
    uint32_t foreign = 0, last_foreign = PATHMAP_NONE;
    bool known = guarded || (callee != PATHMAP_NONE && l->here[callee] != PATHMAP_NONE);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t f = pathmap_node(map, nodes[i]).function;
        l->ways[f] = guarded && l->exits.taken[f] ? g->parent : PATHMAP_NONE;
    }
    if (known && !guarded)
        add_way(l, callee, g->parent);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t f = pathmap_node(map, nodes[i]).function;
        if (l->here[f] != nodes[i])
            continue;
        add_jumps(l, nodes[i], f);
        unknown += l->exits.functions[f].unknown;
        last = l->exits.functions[f].unknown ? f : last;
        foreign += l->exits.functions[f].foreign;
        last_foreign = l->exits.functions[f].foreign ? f : last_foreign;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t f = pathmap_node(map, nodes[i]).function;
        bool back = f != callee && (foreign > 1 || (foreign == 1 && f != last_foreign));
        bool jumped = l->exits.taken[f] && (unknown > 1 || (unknown == 1 && f != last) || back);
        if (jumped || (!known && l->ways[f] != PATHMAP_NONE))
            l->ways[f] = SEVERAL;
    }
}

/* Pins the calls for which no copy may be chosen. */
static bool pin_ways(struct leading *l, const struct group *g)
{
    bool good = true;
    for (uint32_t i = 0; i < g->count && good; i++) {
        uint32_t f = pathmap_node(l->of->map, g->nodes[i]).function;
        if (g->caller != PATHMAP_NONE && (!g->site || l->ways[f] == SEVERAL))
            good = pin_call(l, g->caller, f);
    }
    return good;
}

/* Pins the jumps to functions that several ways lead to. */
static bool pin_jumps(struct leading *l, const struct group *g)
{
    for (uint32_t i = 0; i < g->count; i++) {
        uint32_t f = pathmap_node(l->of->map, g->nodes[i]).function;
        for (uint32_t k = 0; k < l->exits.functions[f].count; k++) {
            uint32_t to = l->exits.jumps[l->exits.functions[f].first + k];
            if (l->here[to] != PATHMAP_NONE && l->ways[to] == SEVERAL && !pin_call(l, f, to))
                return false;
        }
    }
    return true;
}

/* Whether the ways to the function begin with the call. */
static bool begins_with_call(const struct leading *l, uint32_t function, uint32_t parent)
{
    uint32_t node = l->ways[function];
    for (uint32_t steps = 0; steps <= MOST_JUMPS && node < SEVERAL; steps++) {
        if (node == parent)
            return true;
        node = l->ways[pathmap_node(l->of->map, node).function];
    }
    return node == SEVERAL;
}

/* The node that the call led to first on the only way to the function; PATHMAP_NONE: that way does not begin with
 * the call. */
static uint32_t find_head(const struct leading *l, uint32_t function, uint32_t parent)
{
    uint32_t node = l->here[function];
    for (uint32_t steps = 0; steps <= MOST_JUMPS && node < SEVERAL; steps++) {
        uint32_t way = l->ways[pathmap_node(l->of->map, node).function];
        if (way == parent)
            return node;
        node = way;
    }
    return PATHMAP_NONE;
}

/* Whether the pointer only led to functions of the image, and it is certain through which of these each node was
 * reached. */
static bool is_certain(const struct leading *l, const struct group *g)
{
    for (uint32_t i = 0; i < g->count; i++) {
        uint32_t f = pathmap_node(l->of->map, g->nodes[i]).function;
        if (l->frames->functions[f] == IMAGE_NO_FUNCTION || l->here[f] != g->nodes[i] ||
            find_head(l, f, g->parent) == PATHMAP_NONE)
            return false;
    }
    return true;
}

/* Notes that calls at this site must not have guards for these functions. */
static bool leave_bare(struct leading *l, const struct group *g)
{
    bool good = true;
    for (uint32_t i = 0; i < g->count && good; i++)
        good = table_put(l->bare, (uint64_t)g->pointer << 32 | pathmap_node(l->of->map, g->nodes[i]).function,
                         NULL);
    return good;
}

static void note_redirects(struct leading *l, const struct group *g, bool guarded)
{
    for (uint32_t i = 0; i < g->count; i++) {
        uint32_t node = g->nodes[i], f = pathmap_node(l->of->map, node).function, way = l->ways[f];
        l->out.nodes[node] = way < SEVERAL ? way : PATHMAP_NONE;
        l->out.heads[node] = guarded ? find_head(l, f, g->parent) : PATHMAP_NONE;
        l->out.pointed[node] = guarded && way == g->parent;
    }
}

static bool lead_group(struct leading *l, const struct group *g)
{
    const struct pathmap *map = l->of->map;
    bool guarded = g->pointer != PATHMAP_NONE, good = true;
    for (uint32_t i = 0; i < g->count; i++)
        l->here[pathmap_node(map, g->nodes[i]).function] = g->nodes[i];
    find_ways(l, g, guarded);
    if (guarded && !is_certain(l, g)) {
        guarded = false;
        good = leave_bare(l, g);
        find_ways(l, g, false);
    }
    good = good && pin_ways(l, g);
    for (uint32_t i = 0; i < g->count; i++) {
        uint32_t f = pathmap_node(map, g->nodes[i]).function;
        if (l->ways[f] < SEVERAL && !begins_with_call(l, f, g->parent))
            l->ways[f] = SEVERAL;
    }
    good = good && pin_jumps(l, g);
    note_redirects(l, g, guarded);
    for (uint32_t i = 0; i < g->count; i++) {
        uint32_t f = pathmap_node(map, g->nodes[i]).function;
        l->here[f] = l->ways[f] = PATHMAP_NONE;
    }
    return good;
}

/* (redirector, function) of a node, as functions of the map. */
static uint64_t call_of(const struct leading *l, uint32_t node)
{
    return exits_pair(pathmap_node(l->of->map, l->out.nodes[node]).function,
                      pathmap_node(l->of->map, node).function);
}

/* Undoes what was later found to be uncertain. If a function is also called directly, guards would use the copies
 * chosen for direct calls: then there are none. */
static bool take_back(struct leading *l)
{
    const struct pathmap *map = l->of->map;
    struct table *direct = table_new();
    bool good = direct;
    for (uint32_t i = 0; i < pathmap_node_count(map) && good; i++) {
        if (l->out.nodes[i] != PATHMAP_NONE && table_find(l->pinned, call_of(l, i)))
            l->out.nodes[i] = PATHMAP_NONE;
        if (l->out.nodes[i] != PATHMAP_NONE && !l->out.pointed[i])
            good = table_put(direct, call_of(l, i), NULL);
    }
    for (uint32_t i = 0; i < pathmap_node_count(map) && good; i++) {
        if (!l->out.pointed[i])
            continue;
        struct pathmap_node node = pathmap_node(map, i);
        uint32_t call = find_pointer_call(l, pathmap_node(map, node.parent).function, node.site);
        if (l->out.nodes[i] == PATHMAP_NONE || table_find(l->bare, (uint64_t)call << 32 | node.function) ||
            table_find(direct, call_of(l, i))) {
            l->out.nodes[i] = PATHMAP_NONE;
            l->out.pointed[i] = false;
        }
    }
    table_free(direct);
    return good;
}

static bool lead_all(struct leading *l)
{
    const struct pathmap *map = l->of->map;
    uint32_t count = pathmap_node_count(map);
    for (uint32_t f = 0; f < pathmap_function_count(map); f++)
        l->here[f] = l->ways[f] = PATHMAP_NONE;
    for (uint32_t i = 0; i < count; i++)
        l->nodes[i] = i;
    qsort_r(l->nodes, count, sizeof *l->nodes, by_site, l);
    for (uint32_t i = 0, end; i < count; i = end) {
        struct pathmap_node first = pathmap_node(map, l->nodes[i]);
        for (end = i + 1; end < count; end++) {
            struct pathmap_node node = pathmap_node(map, l->nodes[end]);
            if (node.parent != first.parent || node.site != first.site)
                break;
        }
        struct group g = {
            .nodes = l->nodes + i, .count = end - i, .parent = first.parent, .site = first.site};
        g.caller = g.parent == PATHMAP_NONE ? PATHMAP_NONE : pathmap_node(map, g.parent).function;
        g.pointer = find_pointer_call(l, g.caller, g.site);
        if (!lead_group(l, &g))
            return false;
    }
    return take_back(l);
}

/* Whether the map's numbers can be used as indexes. */
static bool is_sound(const struct pathmap *map)
{
    for (uint32_t i = 0; i < pathmap_node_count(map); i++)
        if (!pathmap_node_sound(map, i))
            return false;
    return true;
}

int redirects_find(const struct map_frames_of *of, const struct map_frames *frames, const struct calls *calls,
                   struct redirects *out, struct fathom_error *err)
{
    size_t functions = pathmap_function_count(of->map) + 1ul, nodes = pathmap_node_count(of->map) + 1ul;
    if (!is_sound(of->map))
        return error_set(err, EBADMSG, "the path map is damaged: train it again");
    struct leading l = {.of = of,
                        .frames = frames,
                        .calls = calls,
                        .out = {.nodes = malloc(nodes * sizeof *l.out.nodes),
                                .heads = malloc(nodes * sizeof *l.out.heads),
                                .pointed = calloc(nodes, sizeof *l.out.pointed)},
                        .pinned = table_new(),
                        .bare = table_new(),
                        .nodes = malloc(nodes * sizeof *l.nodes),
                        .here = malloc(functions * sizeof *l.here),
                        .ways = malloc(functions * sizeof *l.ways)};
    bool good = l.out.nodes && l.out.heads && l.out.pointed && l.pinned && l.bare && l.nodes && l.here &&
                l.ways && exits_read(of, frames, calls, l.pinned, &l.exits) && lead_all(&l);
    exits_clear(&l.exits);
    table_free(l.pinned);
    table_free(l.bare);
    free(l.nodes);
    free(l.here);
    free(l.ways);
    if (!good) {
        redirects_clear(&l.out);
        return error_memory(err);
    }
    *out = l.out;
    return 0;
}

void redirects_clear(struct redirects *redirectors)
{
    free(redirectors->nodes);
    free(redirectors->heads);
    free(redirectors->pointed);
    *redirectors = (struct redirects){0};
}
