/*
 * bench_disambig.c - how fast pads are found for maps of 100,000 and of 2.4 million nodes, and what they make precise.
 *
 * One line for each figure: name, value, unit, limit, separated by tabs. The maps are random walks through a made-up call
 * graph, in which functions call few others, with frames of few sizes, so that most CIDs are ambiguous: the smaller one like
 * an interpreter (many functions, some recursion), the larger one like a game search (fewer functions, deep). Few of the
 * paths have samples, as in gnugo's map. Every function may grow by 112 bytes, the stack 1.15 times and 4 times. The small one is also
 * searched as in the paper (ICPP, section 5.1.1).
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "base/hash.h"
#include "disambig/search/search.h"

struct shape {
    const char *name;
    uint32_t nodes, functions, depth, callees;
    uint32_t rarity; /* one path of so many has samples */
    double stack, target;
    double seconds; /* limit */
};

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void walk(struct trie *trie, const struct shape *shape, uint64_t *state)
{
    uint32_t node = TRIE_ROOT, function = 0, height = 8;
    unsigned depth = 6 + (unsigned)(hash_random(state) % (shape->depth - 6));
    for (unsigned d = 0; d < depth; d++) {
        uint64_t r = hash_random(state);
        node = trie_child(trie, node, function, height, d ? 0x401000 + r % 2 : 0);
        if (node == TRIE_NONE)
            exit(1);
        /* The lower the number that the call had, the more frequent it is. */
        trie_add(trie, node, 1, d + 1 == depth && (r >> 1) % shape->rarity == 0 ? 1 + (r >> 8) % 1000 : 0);
        uint64_t callee = (r >> 20) % shape->callees;
        callee = callee < (r >> 40) % shape->callees ? callee : (r >> 40) % shape->callees;
        function = (uint32_t)(hash_u64(function * 64ul + callee) % shape->functions);
        height += 16 + 16 * (uint32_t)(hash_u64(function) % 6);
    }
}

static struct trie *build(const struct shape *shape)
{
    uint64_t state = 1;
    struct trie *trie = trie_new();
    struct build_id id = {4, {1, 2, 3, 4}};
    uint32_t image = trie ? trie_image(trie, "/usr/bin/program", &id) : TRIE_NONE;
    if (image == TRIE_NONE)
        exit(1);
    trie_set_hooked(trie, image);
    for (uint32_t f = 0; f < shape->functions; f++)
        trie_function(trie, image, 0x401000 + 64ul * f, NULL);
    while (trie_node_count(trie) <= shape->nodes)
        walk(trie, shape, &state);
    return trie;
}

static void measure(const struct shape *shape, const struct pathmap *map, const uint32_t *most, bool random)
{
    struct search_problem problem = {
        .map = map,
        .most = most,
        .stack = shape->stack,
        .target = shape->target,
        .seed = 1,
        .random = random,
    };
    struct search_result r;
    struct fathom_error err = {0};
    const char *way = random ? "random_" : "";
    double from = seconds(CLOCK_PROCESS_CPUTIME_ID);
    if (search_run(&problem, &r, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    double took = seconds(CLOCK_PROCESS_CPUTIME_ID) - from;
    if (random)
        printf("disambig_%s_random\t%.2f\ts\t\n", shape->name, took);
    else
        printf("disambig_%s\t%.2f\ts\t%.0f\t%llu paths, %llu pads tried\n", shape->name, took, shape->seconds,
               (unsigned long long)r.paths, (unsigned long long)r.steps);
    printf("disambig_%s_%sprecise\t%.2f\t%%\t\tweight, of %.2f%% before; paths %.2f%% of %.2f%%\n",
           shape->name, way, 100.0 * (double)r.precise_after / (double)r.weight,
           100.0 * (double)r.precise_before / (double)r.weight,
           100.0 * (double)r.paths_precise_after / (double)r.paths,
           100.0 * (double)r.paths_precise_before / (double)r.paths);
    printf("disambig_%s_%sstack\t%.3f\ttimes\t%.2f\n", shape->name, way,
           (double)r.stack_after / (double)r.stack_before, shape->stack);
    free(r.pads);
}

static void bench(const struct shape *shape, bool random)
{
    struct trie *trie = build(shape);
    struct pathmap *map;
    uint32_t *most = calloc(shape->functions, sizeof *most);
    if (!most || pathmap_over(trie, &map, NULL) < 0)
        exit(1);
    for (uint32_t f = 0; f < shape->functions; f++)
        most[f] = 112;
    measure(shape, map, most, false);
    if (random)
        measure(shape, map, most, true);
    free(most);
    pathmap_close(map);
    trie_free(trie);
}

int main(void)
{
    bench(&(struct shape){"100k", 100000, 1500, 24, 8, 64, 1.15, 0.995, 1}, true);
    bench(&(struct shape){"2400k", 2400000, 600, 48, 8, 16384, 4, 0.995, 60}, false);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("disambig_memory\t%ld\tMB\t4096\tthe maps' own included\n", usage.ru_maxrss / 1024);
    return 0;
}
