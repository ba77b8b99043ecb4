/* ambiguity.c - see ambiguity.h. Nodes that a method cannot tell apart have the same hash. */
#include "disambig/ambiguity/ambiguity.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/saturate.h"
#include "base/sort.h"
#include "base/vec.h"
#include "disambig/ambiguity/lineage.h"

/* For each method, a hash of what it can change along a node's path. */
struct traits {
    uint64_t of[AMBIGUITY_METHODS]; /* clones: only the calls at known sites */
    uint64_t functions;
};

/* A multiset's hash is the sum of its members' hashes; a sequence's is not. */
static struct traits traits_below(struct traits above, uint32_t caller, const struct pathmap_node *node,
                                  bool resized)
{
    uint64_t member = hash_u64(caller + 0x9e3779b97f4a7c15u);
    uint64_t call = hash_u64(member + hash_u64(node->site + ((uint64_t)node->function << 32)));
    struct traits t = above;
    t.of[AMBIGUITY_RESIZE] += resized ? member : 0;
    t.of[AMBIGUITY_WRAP] += call;
    t.of[AMBIGUITY_CLONE] =
        node->site ? hash_u64(above.of[AMBIGUITY_CLONE] * 3 + call) : above.of[AMBIGUITY_CLONE];
    t.functions += member;
    return t;
}

static uint64_t trait(const struct traits *traits, unsigned method)
{
    return traits->of[method] + (method == AMBIGUITY_CLONE ? hash_u64(traits->functions) : 0);
}

static struct traits *find_traits(const struct pathmap *map, const uint32_t *most, const bool *unshifted,
                                  struct fathom_error *err)
{
    struct lineage_order order;
    if (lineage_order(map, &order, err) < 0)
        return NULL;
    struct traits *traits = calloc(order.count + 1ul, sizeof *traits);
    for (uint32_t i = 0; traits && i < order.count; i++) {
        struct pathmap_node node = pathmap_node(map, order.nodes[i]);
        if (node.parent == PATHMAP_NONE)
            continue;
        uint32_t caller = pathmap_node(map, node.parent).function;
        bool resized = (!most || most[caller]) && !(unshifted && unshifted[order.nodes[i]]);
        traits[order.nodes[i]] = traits_below(traits[node.parent], caller, &node, resized);
    }
    lineage_order_clear(&order);
    if (!traits)
        error_memory(err);
    return traits;
}

/* A node of one CID. */
struct candidate {
    uint64_t trait;
    uint64_t weight;
    uint32_t path;
    bool together; /* it stays with nodes of another path, as they have the same trait */
};

static int by_path(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    return order_of(x->path, y->path);
}

static int by_trait(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    return order_of(x->trait, y->trait) ?: by_path(a, b);
}

static void add_share(struct ambiguity_share *share, uint64_t weight, uint64_t paths)
{
    share->weight = add_saturating(share->weight, weight);
    share->paths += paths;
}

/* Finds nodes that stay together if only differing traits separate them. */
static void find_together(struct candidate *candidates, uint32_t count)
{
    qsort(candidates, count, sizeof *candidates, by_trait);
    for (uint32_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && candidates[end].trait == candidates[first].trait; end++)
            ;
        for (uint32_t i = first; i < end; i++)
            candidates[i].together = candidates[end - 1].path != candidates[first].path;
    }
}

/* Adds what becomes precise: the weight of nodes, and paths all of whose nodes do. Returns whether all of it
 * does. */
static bool add_parted(struct ambiguity_share *share, struct candidate *candidates, uint32_t count)
{
    bool all = true;
    find_together(candidates, count);
    qsort(candidates, count, sizeof *candidates, by_path);
    for (uint32_t i = 0; i < count;) {
        uint32_t path = candidates[i].path;
        bool parted = true;
        for (; i < count && candidates[i].path == path; i++) {
            parted &= !candidates[i].together;
            add_share(share, candidates[i].together ? 0 : candidates[i].weight, 0);
        }
        all &= parted;
        add_share(share, 0, parted);
    }
    return all;
}

struct measuring {
    const struct pathmap *map;
    const struct traits *traits;
    struct ambiguity *a;
    uint32_t cid_capacity;
    struct candidate *candidates;
    uint32_t capacity;
};

static uint64_t weight_of(const struct measuring *m, const struct pathmap_node *node)
{
    return m->a->sampled ? node->self : node->passes;
}

/* Measures a CID with several paths. */
static bool measure_ambiguous(struct measuring *m, struct ambiguous_cid *cid)
{
    if (!vec_reserve(m->candidates, 0, m->capacity, cid->count))
        return false;
    cid->method = AMBIGUITY_METHODS;
    for (unsigned method = 0; method < AMBIGUITY_METHODS; method++) {
        for (uint32_t i = 0; i < cid->count; i++) {
            struct pathmap_node node = pathmap_node(m->map, cid->first + i);
            m->candidates[i] = (struct candidate){
                .trait = trait(&m->traits[cid->first + i], method),
                .weight = weight_of(m, &node),
                .path = node.path,
            };
        }
        if (add_parted(&m->a->ceilings[method], m->candidates, cid->count) &&
            cid->method == AMBIGUITY_METHODS)
            cid->method = method;
    }
    return vec_push(m->a->cids, m->a->count, m->cid_capacity, *cid);
}

static bool measure_all(struct measuring *m)
{
    struct ambiguity *a = m->a;
    uint32_t nodes = pathmap_node_count(m->map);
    for (uint32_t i = 0; i < nodes;) {
        struct pathmap_node first = pathmap_node(m->map, i), node;
        struct ambiguous_cid cid = {.function = first.function, .height = first.height, .first = i};
        uint32_t path = PATHMAP_NONE;
        for (; i < nodes; i++) {
            node = pathmap_node(m->map, i);
            if (node.function != first.function || node.height != first.height)
                break;
            cid.count++;
            cid.paths += cid.count == 1 || node.path != path;
            cid.weight = add_saturating(cid.weight, weight_of(m, &node));
            path = node.path;
        }
        a->cid_count++;
        add_share(&a->all, cid.weight, cid.paths);
        if (cid.paths > 1) {
            if (!measure_ambiguous(m, &cid))
                return false;
            continue;
        }
        a->precise_cids++;
        add_share(&a->precise, cid.weight, 1);
        for (unsigned method = 0; method < AMBIGUITY_METHODS; method++)
            add_share(&a->ceilings[method], cid.weight, 1);
    }
    return true;
}

static int by_weight(const void *a, const void *b)
{
    const struct ambiguous_cid *x = a, *y = b;
    return order_of(y->weight, x->weight) ?: order_of(x->first, y->first);
}

int ambiguity_measure(const struct pathmap *map, const uint32_t *most, const bool *unshifted,
                      struct ambiguity *out, struct fathom_error *err)
{
    struct fathom_error own = {0};
    struct traits *traits = find_traits(map, most, unshifted, err ? err : &own);
    if (!traits)
        return -(err ? err->code : own.code);
    struct ambiguity a = {.sampled = pathmap_sampled(map)};
    struct measuring m = {.map = map, .traits = traits, .a = &a};
    bool good = measure_all(&m);
    free(traits);
    free(m.candidates);
    if (!good) {
        ambiguity_clear(&a);
        return error_memory(err);
    }
    sort_with(a.cids, a.count, by_weight);
    *out = a;
    return 0;
}

void ambiguity_clear(struct ambiguity *a)
{
    free(a->cids);
    *a = (struct ambiguity){0};
}
