/*
 * fuzz_cost.c - a fuzz target that looks for time and memory: CIDs of functions that call each other in any way cost no more
 * steps and bytes than were allowed, and no step takes long.
 *
 * The input: two bytes each for a kind of function (calls of each, and of how many units in how many sizes; functions of this
 * kind, the distance of those that they call), then the heights that are asked for, in two bytes. Which functions they call is
 * drawn from that.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/hash.h"
#include "infer/model/automaton.h"
#include "infer/statics/statics.h"

#define KINDS     4u
#define FUNCTIONS 256u /* at most, of all kinds */
#define CALLS     16u  /* of each */
#define CIDS      64u
#define STEPS     200000u      /* of work, */
#define BYTES     (16u << 20)  /* and of memory */
#define OVERHEAD  (128u << 20) /* what a graph of so many calls takes, at most, and the ranking of paths */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

static double cpu_seconds(void)
{
    struct timespec t;
    require(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

struct world {
    struct static_edge calls[FUNCTIONS * CALLS];
    struct statics all;
    uint32_t functions;
};

/* Functions of a kind, each with its calls. */
static void add_kind(struct world *w, const uint8_t *kind)
{
    uint32_t count = 1 + kind[0] % (FUNCTIONS / KINDS), calls = 1 + kind[1] % CALLS, sizes = 1 + kind[2] % 32,
             distance = 1 + kind[3];
    for (uint32_t f = w->functions; f < w->functions + count; f++)
        for (uint32_t c = 0; c < calls; c++) {
            uint64_t drawn = hash_u64((uint64_t)f << 32 | c << 8 | kind[0]);
            uint32_t callee = (uint32_t)((f + drawn % distance) % FUNCTIONS),
                     rise = 8 + 8 * (uint32_t)(drawn >> 32) % (8 * sizes);
            w->calls[w->all.count++] = (struct static_edge){callee, f, rise / 8 * 8, false, 1, 0};
        }
    w->functions += count;
}

/* A map of all functions, the first of which begins the stacks. */
static struct pathmap *make_map(struct trie *trie)
{
    const struct build_id id = {4, {1, 2, 3, 4}};
    uint32_t image = trie_image(trie, "/bin/a", &id);
    for (uint32_t f = 0; f < FUNCTIONS; f++)
        require(trie_function(trie, image, 0x1000 + f, NULL) == f);
    trie_add(trie, trie_child(trie, TRIE_ROOT, 0, 16, 0), 1, 1);
    struct pathmap *map;
    require(pathmap_over(trie, &map, NULL) == 0);
    return map;
}

static void ask(const struct graph *graph, const uint8_t *data, size_t size)
{
    struct automaton_cid cids[CIDS];
    struct work work = {STEPS};
    size_t count = 0;
    for (; size >= 2 && count < CIDS; data += 2, size -= 2)
        cids[count++] = (struct automaton_cid){data[0], 16 * (1 + (uint32_t)data[1] * data[1])};
    double began = cpu_seconds();
    struct automaton_options options = {
        .best = 32, .bytes = BYTES, .cids = cids, .cid_count = count, .work = &work};
    struct automaton *automaton = automaton_new(graph, &options);
    require(automaton != NULL);
    for (size_t i = 0; i < count; i++) {
        struct automaton_answer answer;
        int rc = automaton_find(automaton, cids[i].function, cids[i].height, &answer);
        require(rc == 0 || rc == -ENOENT || rc == -ENOSPC);
    }
    require(automaton_bytes(automaton) <= BYTES + OVERHEAD);
    automaton_free(automaton);
    /* 5 us of CPU time are 100 times what a step takes, sanitizers or not: this finds work that is not counted, and no slow machine. */
    require(cpu_seconds() - began < STEPS * 5e-6);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < (size_t)4 * KINDS)
        return 0;
    struct trie *trie = trie_new();
    struct world *w = calloc(1, sizeof *w);
    require(trie && w);
    w->all.edges = w->calls;
    for (uint32_t k = 0; k < KINDS; k++)
        add_kind(w, data + (size_t)4 * k);
    struct pathmap *map = make_map(trie);
    statics_sort(&w->all);
    struct graph *graph = graph_new(map, &w->all, NULL, (struct graph_scope){0});
    require(graph != NULL);
    ask(graph, data + (size_t)4 * KINDS, size - (size_t)4 * KINDS);
    graph_free(graph);
    pathmap_close(map);
    trie_free(trie);
    free(w);
    return 0;
}
