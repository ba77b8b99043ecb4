/* edges.c - see edges.h. */
#include "disambig/wrap/edges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/saturate.h"
#include "base/sort.h"
#include "base/vec.h"
#include "disambig/direct_call.h"
#include "rewrite/edits.h"

struct finding {
    const struct wrap_edges_of *of;
    const struct calls *calls;
    struct callees *callees;
    struct table *known;   /* (caller, callee) -> edge */
    struct table *counted; /* call sites, or functions if their call site is unknown */
    bool *unsited;         /* by function of the map: not all of its calls have a site */
    struct wrap_edges *edges;
};

uint32_t wrap_edges_function(const struct wrap_edges_of *of, uint32_t function)
{
    return of->frames->functions[of->bodies ? bodies_function(of->bodies, function) : function];
}

static int judge_edge(struct finding *x, uint32_t caller, const struct pathmap_node *node, uint32_t *callee,
                      enum wrap_refusal *refusal)
{
    uint32_t parent = pathmap_node(x->of->map, node->parent).function;
    *refusal = WRAP_NO_SITE;
    if (x->unsited[parent])
        return 0;
    *callee = direct_call_callee(x->of->of, x->calls, caller, node->site);
    *refusal = *callee == IMAGE_NO_FUNCTION ? WRAP_NOT_DIRECT : WRAP_LAST;
    const struct call_site *call = calls_before(x->calls, node->site);
    if (*callee == IMAGE_NO_FUNCTION || !edits_behind_call(x->of->of->image, call->address))
        return 0;
    return callees_judge(x->callees, *callee, refusal);
}

static bool add_node(struct finding *x, uint32_t node, uint32_t caller, uint32_t callee, uint64_t calls)
{
    struct wrap_edges *e = x->edges;
    size_t number = table_index(x->known, (uint64_t)caller << 32 | callee, e->items, e->count, e->capacity,
                                (struct wrap_edge){.caller = caller, .callee = callee});
    if (number == SIZE_MAX)
        return false;
    e->by_node[node] = (uint32_t)number;
    e->items[number].calls = add_saturating(e->items[number].calls, calls);
    return true;
}

/* Whether the call site, or the function if that is unknown, was not counted yet. */
static bool is_new(struct finding *x, uint32_t caller, uint64_t site, bool *good)
{
    bool added = false;
    *good = table_put(x->counted, site ? site : (uint64_t)1 << 63 | caller, &added);
    return added;
}

static int find_edges(struct finding *x)
{
    const struct pathmap *map = x->of->map;
    for (uint32_t i = 0; i < pathmap_node_count(map); i++) {
        struct pathmap_node node = pathmap_node(map, i);
        if (node.parent != PATHMAP_NONE && !node.site)
            x->unsited[pathmap_node(map, node.parent).function] = true;
    }
    for (uint32_t i = 0; i < pathmap_node_count(map); i++) {
        struct pathmap_node node = pathmap_node(map, i);
        x->edges->by_node[i] = PATHMAP_NONE;
        if (node.parent == PATHMAP_NONE)
            continue;
        uint32_t parent = pathmap_node(map, node.parent).function,
                 caller = wrap_edges_function(x->of, parent);
        uint32_t callee = IMAGE_NO_FUNCTION;
        enum wrap_refusal refusal;
        bool good;
        if (caller == IMAGE_NO_FUNCTION)
            continue;
        if (judge_edge(x, caller, &node, &callee, &refusal) < 0)
            return -ENOMEM;
        bool fresh = is_new(x, caller, x->unsited[parent] ? 0 : node.site, &good);
        if (!good || (refusal == WRAP_POSSIBLE && !add_node(x, i, parent, callee, node.passes)))
            return -ENOMEM;
        if (refusal == WRAP_POSSIBLE)
            x->edges->items[x->edges->by_node[i]].sites += fresh;
        x->edges->possible += fresh && refusal == WRAP_POSSIBLE;
        x->edges->refused[refusal] += fresh && refusal != WRAP_POSSIBLE;
    }
    return 0;
}

int wrap_edges_find(const struct wrap_edges_of *of, struct wrap_edges *out, struct fathom_error *err)
{
    struct calls *calls = NULL;
    struct wrap_edges edges = {.by_node =
                                   malloc((pathmap_node_count(of->map) + 1ul) * sizeof *edges.by_node)};
    struct finding x = {.of = of,
                        .callees = callees_new(of->of->growth),
                        .known = table_new(),
                        .counted = table_new(),
                        .unsited = calloc(pathmap_function_count(of->map) + 1ul, sizeof *x.unsited),
                        .edges = &edges};
    int rc = edges.by_node && x.callees && x.known && x.counted && x.unsited ? 0 : -ENOMEM;
    if (rc == 0)
        rc = calls_build(of->of->image, &calls, err);
    x.calls = calls;
    if (rc == 0)
        rc = find_edges(&x);
    calls_free(calls);
    callees_free(x.callees);
    table_free(x.known);
    table_free(x.counted);
    free(x.unsited);
    if (rc < 0) {
        wrap_edges_clear(&edges);
        return error_memory(err);
    }
    *out = edges;
    return 0;
}

void wrap_edges_clear(struct wrap_edges *edges)
{
    free(edges->items);
    free(edges->by_node);
    memset(edges, 0, sizeof *edges);
}

bool wrap_edges_list(const struct wrap_edges_of *of, const struct calls *calls, const struct wrap_edge *edge,
                     uint32_t bytes, struct wrap **list, size_t *count, size_t *capacity)
{
    const struct image *image = of->of->image;
    const struct call_site *sites;
    uint32_t caller = wrap_edges_function(of, edge->caller);
    size_t all = calls_of(calls, caller, &sites);
    for (size_t i = 0; i < all; i++) {
        if (sites[i].tail || direct_call_target(of->of, calls, &sites[i]) != edge->callee ||
            !edits_behind_call(image, sites[i].address))
            continue;
        struct wrap wrap = {image_function(image, caller)->address, sites[i].address, bytes,
                            of->bodies ? bodies_copy(of->bodies, edge->caller) : 0};
        if (!vec_push(*list, *count, *capacity, wrap))
            return false;
    }
    return true;
}

static int by_site(const void *a, const void *b)
{
    const struct wrap *x = a, *y = b;
    return order_of(x->address, y->address) ?: order_of(x->copy, y->copy) ?: order_of(x->site, y->site);
}

void wrap_edges_sort(struct wrap *list, size_t count)
{
    sort_with(list, count, by_site);
}
