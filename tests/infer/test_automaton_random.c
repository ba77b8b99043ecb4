/* The height automaton agrees with plain enumeration on random small call graphs. */
#include <criterion/criterion.h>

#include <errno.h>
#include <stdlib.h>

#include "infer/model/callers.h"
#include "tests/infer/rig.h"

/* Plain enumeration by recursion, written from the headers. */
struct total {
    double paths, sum, best; /* probabilities, unnormalised */
};

struct way {
    uint32_t caller, height, next; /* next: what is known of what the caller called */
    double probability;
};

struct ways {
    struct way items[512];
    unsigned count;
};

#define ANYTHING UINT32_MAX

static void add_way(struct ways *w, struct way way)
{
    cr_assert_lt(w->count, sizeof w->items / sizeof *w->items);
    w->items[w->count++] = way;
}

static void add_edge(const struct graph *g, struct ways *w, const struct graph_edge *e, uint32_t height,
                     uint32_t next, double p)
{
    if (e->caller == GRAPH_ROOT) {
        if (e->rise == height)
            add_way(w, (struct way){GRAPH_ROOT, 0, next, p});
        return;
    }
    if (!e->open) {
        if (e->rise <= height)
            add_way(w, (struct way){e->caller, height - e->rise, next, p});
        return;
    }
    uint32_t first, nodes = pathmap_function_nodes(graph_map(g), e->caller, &first), last = UINT32_MAX;
    for (uint32_t i = first; i < first + nodes; i++) {
        uint32_t outer = pathmap_node(graph_map(g), i).height;
        if (outer + e->rise <= height && (height - e->rise - outer) % 16 == 0 && outer != last)
            add_way(w, (struct way){e->caller, outer, ANYTHING, p / CALLERS_OPEN});
        last = outer;
    }
    for (uint32_t i = 0; nodes == 0 && i < CALLERS_OPEN; i++) {
        if (e->rise + 16 * i <= height)
            add_way(w, (struct way){e->caller, height - e->rise - 16 * i, ANYTHING, p / CALLERS_OPEN});
    }
}

/* `share`: probability of each unit of weight. */
static void add_edges(const struct graph *g, struct ways *w, struct graph_edges edges, uint32_t height,
                      uint32_t next, double share)
{
    for (uint32_t i = 0; i < edges.count; i++)
        add_edge(g, w, &edges.edges[i], height, next, share * edges.edges[i].weight);
}

/* Those that training saw: the pair's are a part of all. */
static void unite(struct ways *w)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < w->count; i++) {
        unsigned k = 0;
        while (k < kept &&
               (w->items[k].caller != w->items[i].caller || w->items[k].height != w->items[i].height))
            k++;
        if (k < kept)
            w->items[k].probability += w->items[i].probability;
        else
            w->items[kept++] = w->items[i];
    }
    w->count = kept;
}

static void find_ways(const struct graph *g, uint32_t f, uint32_t height, uint32_t next, bool last,
                      struct ways *w)
{
    struct graph_edges pair = graph_callers_before(g, f, next), all = graph_callers(g, f),
                       fixed = graph_static_callers(g, f), open = graph_open_callers(g, f);
    const uint32_t *classes;
    uint32_t class_count = graph_classes(g, f, &classes);
    double rest = open.weight;
    for (uint32_t i = 0; i < class_count; i++)
        rest += graph_class_callers(g, classes[i]).weight;
    double unseen = fixed.weight + rest;
    double share = unseen == 0 ? 0 : all.weight == 0 ? 1 : all.count / (all.weight + all.count);
    double of_pair = pair.weight / (pair.weight + 2);
    w->count = 0;
    if (last) {
        add_edges(g, w, open, height, ANYTHING, share / unseen);
        for (uint32_t i = 0; i < class_count; i++)
            add_edges(g, w, graph_class_callers(g, classes[i]), height, ANYTHING, share / unseen);
        return;
    }
    if (pair.count)
        add_edges(g, w, pair, height, f, (1 - share) * of_pair / pair.weight);
    if (all.count)
        add_edges(g, w, all, height, f, (1 - share) * (1 - of_pair) / all.weight);
    unite(w);
    if (fixed.count)
        add_edges(g, w, fixed, height, f, share / unseen);
}

/* resort: whether pointers and open frames may be used where nothing else leads out. */
static struct total enumerate(const struct graph *g, uint32_t f, uint32_t height, uint32_t next, bool resort)
{
    struct total total = {0};
    if (resort) {
        total = enumerate(g, f, height, next, false);
        if (total.paths > 0)
            return total;
        next = ANYTHING;
    }
    for (int last = 0; last <= resort && total.paths == 0; last++) {
        struct ways ways;
        find_ways(g, f, height, next, last, &ways);
        for (unsigned i = 0; i < ways.count; i++) {
            const struct way *way = &ways.items[i];
            struct total outer = {1, 1, 1};
            if (way->caller != GRAPH_ROOT)
                outer = enumerate(g, way->caller, way->height, way->next, resort);
            total.paths += outer.paths;
            total.sum += way->probability * outer.sum;
            if (way->probability * outer.best > total.best)
                total.best = way->probability * outer.best;
        }
    }
    return total;
}

static unsigned left_out; /* answers that have less than was asked for */

/* One that was told that this CID alone is asked for says the same. */
static void compare_alone(const struct rig *r, unsigned f, uint32_t height,
                          const struct automaton_answer *expected)
{
    struct automaton *alone = automaton_new(
        r->graph,
        &(struct automaton_options){.cids = &(struct automaton_cid){r->numbers[f], height}, .cid_count = 1});
    struct automaton_answer answer;
    cr_assert_not_null(alone);
    int rc = automaton_find(alone, r->numbers[f], height, &answer);
    cr_assert_eq(rc, expected->best > 0 ? 0 : -ENOENT, "%u at %u: %d", f, height, rc);
    if (rc == 0) {
        cr_assert_eq(answer.chance, expected->chance);
        cr_assert_eq(answer.best, expected->best);
        for (uint32_t i = 0; i < answer.best; i++)
            cr_assert_eq(answer.probability[i], expected->probability[i]);
    }
    automaton_free(alone);
}

/* One that may leave out what is less probable than `least` still finds the best path where that is more probable. */
static void compare_roughly(const struct rig *r, unsigned f, uint32_t height, double least,
                            const struct automaton_answer *expected)
{
    struct automaton *rough = automaton_new(
        r->graph, &(struct automaton_options){.cids = &(struct automaton_cid){r->numbers[f], height},
                                              .cid_count = 1,
                                              .least = least});
    struct automaton_answer answer;
    cr_assert_not_null(rough);
    int rc = automaton_find(rough, r->numbers[f], height, &answer);
    double best = expected->best > 0 ? expected->chance * expected->probability[0] : 0;
    if (best >= least * 1.001)
        cr_assert_eq(rc, 0, "%u at %u: %d", f, height, rc);
    /* It can be better: by a pointer, where a call that is left out led. */
    if (rc == 0 && best >= least * 1.001)
        cr_assert_geq(answer.chance * answer.probability[0], best * 0.9999);
    left_out += rc == -ENOENT && expected->best > 0;
    automaton_free(rough);
}

static bool compare(const struct rig *r, unsigned f, uint32_t height)
{
    struct total expected = enumerate(r->graph, r->numbers[f], height, GRAPH_LEAF, true);
    struct automaton_answer answer = {0};
    int rc = automaton_find(r->automaton, r->numbers[f], height, &answer);
    cr_assert_eq(rc, expected.paths > 0 ? 0 : -ENOENT, "%u at %u: %d", f, height, rc);
    if (height % 32 == 0) {
        compare_alone(r, f, height, &answer);
        compare_roughly(r, f, height, 1e-4, &answer);
        compare_roughly(r, f, height, 0.3, &answer);
    }
    if (rc)
        return false;
    cr_assert_float_eq(answer.chance / expected.sum, 1, 1e-4);
    cr_assert_eq(answer.best, expected.paths < AUTOMATON_BEST ? expected.paths : AUTOMATON_BEST);
    cr_assert_float_eq(answer.probability[0], expected.best / expected.sum, 1e-4);
    double sum = 0;
    for (uint32_t i = 0; i < answer.best; i++)
        sum += answer.probability[i];
    cr_assert_leq(sum, 1 + 1e-4);
    if (expected.paths <= AUTOMATON_BEST)
        cr_assert_float_eq(sum, 1, 1e-4);
    return true;
}

/* A trie of 40 nodes over 6 functions. */
static void grow(struct rig *r, uint64_t *seed)
{
    uint32_t nodes[40], heights[40], count = 0;
    rig_begin(r);
    nodes[count] = rig_child(r, TRIE_ROOT, 0, 16, 1 + rig_random(seed, 5), rig_random(seed, 3));
    heights[count++] = 16;
    while (count < 40) {
        unsigned under = rig_random(seed, count);
        heights[count] = heights[under] + 16 * (1 + rig_random(seed, 3));
        nodes[count] = rig_child(r, nodes[under], rig_random(seed, 6), heights[count],
                                 1 + rig_random(seed, 9), rig_random(seed, 4));
        count++;
    }
    rig_finish(r);
}

Test(automaton_random, trained_calls)
{
    uint64_t seed = 12345;
    unsigned compared = 0;
    for (int round = 0; round < 60; round++) {
        struct rig r;
        grow(&r, &seed);
        for (unsigned f = 0; f < 6; f++) {
            for (uint32_t height = 16; height <= 144; height += 16)
                compared += compare(&r, f, height);
        }
        rig_end(&r);
    }
    cr_assert_gt(compared, 1000u);
    cr_assert_gt(left_out, 0u);
}

static struct static_edge random_edge(const struct rig *r, uint64_t *seed)
{
    struct static_edge e = {0, r->numbers[rig_random(seed, 10)], 32 + 16 * rig_random(seed, 6), false, 0, 0};
    if (rig_random(seed, 5) == 0) {
        e.open = true;
        e.rise = 16;
    }
    return e;
}

/* Functions 6 to 9 were never seen. */
Test(automaton_random, calls_that_only_the_binary_shows, .timeout = 120)
{
    uint64_t seed = 777;
    unsigned compared = 0;
    for (int round = 0; round < 24; round++) {
        struct rig r;
        grow(&r, &seed);
        struct static_edge calls[8];
        struct static_edge through[2][3];
        uint32_t targets[2][3];
        struct static_class classes[2];
        for (int i = 0; i < 8; i++) {
            calls[i] = random_edge(&r, &seed);
            calls[i].callee = r.numbers[rig_random(&seed, 10)];
        }
        for (int c = 0; c < 2; c++) {
            unsigned first = rig_random(&seed, 8);
            for (unsigned i = 0; i < 3; i++) {
                through[c][i] = random_edge(&r, &seed);
                targets[c][i] = r.numbers[first + i];
            }
            classes[c] = (struct static_class){0, 1, through[c], 3, targets[c], 3};
        }
        rig_use(&r, &(struct statics){.edges = calls, .count = 8, .classes = classes, .class_count = 2},
                NULL);
        for (unsigned f = 0; f < 10; f++) {
            for (uint32_t height = 16; height <= 96; height += 16)
                compared += compare(&r, f, height);
        }
        rig_end(&r);
    }
    cr_assert_gt(compared, 500u);
}
