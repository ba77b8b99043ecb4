/* The height automaton: known answers, and agreement with plain enumeration on random small call graphs. */
#include <criterion/criterion.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/automaton.h"

struct rig {
    struct trie *trie;
    uint32_t functions[16]; /* of the trie */
    uint32_t numbers[16];   /* of the map */
    struct pathmap *map;
    struct graph *graph;
    struct automaton *automaton;
};

static void rig_begin(struct rig *r)
{
    memset(r, 0, sizeof *r);
    struct build_id id = {4, {1, 2, 3, 4}};
    r->trie = trie_new();
    uint32_t image = trie_image(r->trie, "/bin/program", &id);
    for (unsigned i = 0; i < 16; i++)
        r->functions[i] = trie_function(r->trie, image, 0x1000 + 16 * i, NULL);
}

static void rig_finish(struct rig *r)
{
    void *data;
    size_t size;
    struct build_id id = {4, {1, 2, 3, 4}};
    cr_assert_eq(trie_serialise(r->trie, &data, &size, NULL), 0);
    cr_assert_eq(pathmap_open_memory(data, size, &r->map, NULL), 0);
    uint32_t image = pathmap_find_image(r->map, "/bin/program", &id, NULL);
    for (unsigned i = 0; i < 16; i++)
        r->numbers[i] = pathmap_find_function(r->map, image, 0x1000 + 16 * i);
    r->graph = graph_new(r->map, NULL, 0);
    r->automaton = automaton_new(r->graph);
    cr_assert_not_null(r->automaton);
}

static void rig_end(struct rig *r)
{
    automaton_free(r->automaton);
    graph_free(r->graph);
    pathmap_close(r->map);
    trie_free(r->trie);
}

static uint32_t child(struct rig *r, uint32_t parent, unsigned function, uint32_t height, uint64_t passes,
                      uint64_t self)
{
    uint32_t node = trie_child(r->trie, parent, r->functions[function], height, 0);
    cr_assert_neq(node, TRIE_NONE);
    trie_add(r->trie, node, passes, self);
    return node;
}

/* The functions of the rank-th path as letters, the root first. */
static const char *letters(const struct rig *r, unsigned function, uint32_t height, uint32_t rank)
{
    static char text[64];
    struct automaton_step steps[32];
    size_t depth = automaton_path(r->automaton, r->numbers[function], height, rank, steps, 32);
    for (size_t i = 0; i < depth; i++) {
        text[i] = '?';
        for (unsigned f = 0; f < 16; f++) {
            if (r->numbers[f] == steps[i].function)
                text[i] = (char)('a' + f);
        }
    }
    text[depth] = 0;
    return text;
}

Test(automaton, finds_a_path_that_was_never_walked)
{
    struct rig r;
    rig_begin(&r);
    /* a-b-d and a-c were seen, and c-d under x: a-c-d never. */
    uint32_t a = child(&r, TRIE_ROOT, 0, 16, 10, 0);
    child(&r, child(&r, a, 1, 48, 5, 0), 3, 80, 5, 5);
    child(&r, a, 2, 112, 5, 5);
    child(&r, child(&r, child(&r, a, 4, 32, 1, 0), 2, 64, 1, 0), 3, 160, 1, 1);
    rig_finish(&r);
    struct automaton_answer answer;
    cr_assert_eq(automaton_find(r.automaton, r.numbers[3], 112 + 96, &answer), 0);
    cr_expect_eq(answer.paths, 1);
    cr_expect_eq(answer.best, 1u);
    cr_expect_float_eq(answer.probability[0], 1, 1e-6);
    cr_expect_str_eq(letters(&r, 3, 112 + 96, 0), "acd");
    cr_expect_eq(automaton_find(r.automaton, r.numbers[3], 120, &answer), -ENOENT,
                 "no sum of rises gives 120");
    rig_end(&r);
}

Test(automaton, counts_what_enumeration_could_not)
{
    /* a calls itself at 16 or 32 bytes a time: the number of paths to a height is a Fibonacci number. */
    struct rig r;
    rig_begin(&r);
    uint32_t a = child(&r, TRIE_ROOT, 0, 16, 1, 0);
    child(&r, a, 0, 32, 3, 3);
    child(&r, a, 0, 48, 1, 1);
    rig_finish(&r);
    struct automaton_answer answer;
    cr_assert_eq(automaton_find(r.automaton, r.numbers[0], 16 + 16 * 70, &answer), 0);
    double fibonacci[72] = {1, 1};
    for (int i = 2; i <= 70; i++)
        fibonacci[i] = fibonacci[i - 1] + fibonacci[i - 2];
    cr_expect_eq(answer.paths, fibonacci[70], "%.17g", answer.paths);
    cr_expect_eq(answer.best, AUTOMATON_BEST);
    for (uint32_t i = 1; i < answer.best; i++)
        cr_expect_leq(answer.probability[i], answer.probability[i - 1]);
    cr_expect_lt(automaton_states(r.automaton), 200u);
    rig_end(&r);
}

Test(automaton, the_caller_of_the_caller_decides)
{
    /* d is called by b and c alike. b is called by d's caller... e calls through b only, f through c only,
     * both at the same heights. */
    struct rig r;
    rig_begin(&r);
    uint32_t a = child(&r, TRIE_ROOT, 0, 16, 200, 0);
    uint32_t b = child(&r, a, 1, 48, 100, 0), c = child(&r, a, 2, 48, 100, 0);
    child(&r, child(&r, b, 3, 80, 100, 0), 4, 112, 100, 100);
    child(&r, child(&r, c, 3, 80, 100, 0), 5, 112, 100, 100);
    rig_finish(&r);
    struct automaton_answer answer;
    cr_assert_eq(automaton_find(r.automaton, r.numbers[4], 112, &answer), 0);
    cr_expect_eq(answer.paths, 2);
    /* The states know what their function called next, so d-before-e is told from d-before-f. */
    cr_expect_str_eq(letters(&r, 4, 112, 0), "abde");
    cr_expect_gt(answer.probability[0], 0.9);
    cr_assert_eq(automaton_find(r.automaton, r.numbers[5], 112, &answer), 0);
    cr_expect_str_eq(letters(&r, 5, 112, 0), "acdf");
    rig_end(&r);
}

/* Plain enumeration, written from automaton.h: all paths, by recursion. */
struct enumeration {
    const struct graph *graph;
    double paths, sum, best;
};

static double share(const struct graph *graph, uint32_t function, uint32_t next,
                    const struct graph_edge *edge)
{
    struct graph_edges pair = graph_callers_before(graph, function, next),
                       all = graph_callers(graph, function);
    double of_pair = 0, p = 0;
    for (uint32_t i = 0; i < pair.count; i++) {
        if (pair.edges[i].caller == edge->caller && pair.edges[i].rise == edge->rise)
            of_pair = pair.edges[i].weight;
    }
    if (pair.count)
        p = pair.weight / (pair.weight + 2) * of_pair / pair.weight;
    return p + 2 / (pair.weight + 2) * edge->weight / all.weight;
}

static void enumerate(struct enumeration *e, uint32_t function, uint32_t height, uint32_t next, double p)
{
    struct graph_edges all = graph_callers(e->graph, function);
    for (uint32_t i = 0; i < all.count; i++) {
        const struct graph_edge *edge = &all.edges[i];
        double q = p * share(e->graph, function, next, edge);
        if (edge->caller == GRAPH_ROOT) {
            if (edge->rise == height) {
                e->paths++;
                e->sum += q;
                if (q > e->best)
                    e->best = q;
            }
        } else if (edge->rise <= height) {
            enumerate(e, edge->caller, height - edge->rise, function, q);
        }
    }
}

static unsigned below(uint64_t *seed, unsigned limit)
{
    *seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(*seed >> 33) % limit;
}

Test(automaton, agrees_with_enumeration_on_random_graphs)
{
    uint64_t seed = 12345;
    unsigned compared = 0;
    for (int round = 0; round < 60; round++) {
        struct rig r;
        rig_begin(&r);
        uint32_t nodes[40], heights[40], count = 0;
        nodes[count] = child(&r, TRIE_ROOT, 0, 16, 1 + below(&seed, 5), below(&seed, 3));
        heights[count++] = 16;
        while (count < 40) {
            unsigned under = below(&seed, count);
            heights[count] = heights[under] + 16 * (1 + below(&seed, 3));
            nodes[count] = child(&r, nodes[under], below(&seed, 6), heights[count], 1 + below(&seed, 9),
                                 below(&seed, 4));
            count++;
        }
        rig_finish(&r);
        for (unsigned f = 0; f < 6; f++) {
            for (uint32_t height = 16; height <= 144; height += 16) {
                if (r.numbers[f] == PATHMAP_NONE)
                    continue;
                struct enumeration e = {.graph = r.graph};
                enumerate(&e, r.numbers[f], height, GRAPH_LEAF, 1);
                struct automaton_answer answer;
                int rc = automaton_find(r.automaton, r.numbers[f], height, &answer);
                cr_assert_eq(rc, e.paths > 0 ? 0 : -ENOENT);
                if (rc)
                    continue;
                cr_assert_eq(answer.paths, e.paths, "%g, not %g", answer.paths, e.paths);
                cr_assert_float_eq(answer.probability[0], e.best / e.sum, 1e-4);
                double sum = 0;
                for (uint32_t i = 0; i < answer.best; i++)
                    sum += answer.probability[i];
                cr_assert_leq(sum, 1 + 1e-4);
                if (answer.paths <= AUTOMATON_BEST)
                    cr_assert_float_eq(sum, 1, 1e-4);
                compared++;
            }
        }
        rig_end(&r);
    }
    cr_assert_gt(compared, 1000u);
}

Test(automaton, in_hooked_images_paths_are_those_that_were_seen)
{
    struct rig r;
    rig_begin(&r);
    /* a-b-c and a-d-c at other heights: hooked, so a-b and a-d reach c only as they were seen. g is of
     * another image's kind: never called in training, the binary shows calls from c and from f, which was
     * never seen either. */
    uint32_t a = child(&r, TRIE_ROOT, 0, 16, 10, 0);
    child(&r, child(&r, a, 1, 48, 6, 0), 2, 80, 6, 6);
    child(&r, child(&r, a, 3, 64, 4, 0), 2, 112, 4, 4);
    struct build_id other = {4, {9, 9, 9, 9}}, own = {4, {1, 2, 3, 4}};
    uint32_t library = trie_image(r.trie, "/lib/library.so", &other);
    trie_function(r.trie, library, 0x500, NULL);
    trie_set_hooked(r.trie, trie_image(r.trie, "/bin/program", &own));
    rig_finish(&r);
    uint32_t image = pathmap_find_image(r.map, "/lib/library.so", &other, NULL);
    uint32_t g = pathmap_find_function(r.map, image, 0x500);
    struct graph_call calls[] = {{g, {r.numbers[2], 32, 0, 1}}, {g, {r.numbers[5], 48, 0, 1}}};
    automaton_free(r.automaton);
    graph_free(r.graph);
    r.graph = graph_new(r.map, calls, 2);
    r.automaton = automaton_new(r.graph);
    struct automaton_answer answer;
    struct automaton_step steps[8];
    cr_assert_eq(automaton_find(r.automaton, g, 112 + 32, &answer), 0);
    cr_expect_eq(answer.best, 1u);
    cr_assert_eq(automaton_path(r.automaton, g, 112 + 32, 0, steps, 8), 4u);
    cr_expect_eq(steps[1].function, r.numbers[3]);
    cr_expect_eq(steps[2].function, r.numbers[2]);
    cr_expect_eq(steps[3].function, g);
    cr_expect_eq(automaton_find(r.automaton, g, 96 + 32, &answer), -ENOENT, "c was never at 96");
    rig_end(&r);
}
