/*
 * bench_automaton.c - what CIDs cost that training never saw: "bench_automaton MAP OTHER COUNT" asks the
 * automaton of one map, with the calls that the binaries show, for CIDs that only the other map has.
 *
 * One line for each figure: name, value, unit, limit, separated by tabs.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/hash.h"
#include "infer/model/automaton.h"

struct asked {
    uint64_t order; /* by which they are chosen: a hash of the CID */
    uint32_t function, height;
    double first, again; /* ns */
};

static void fail(const char *what)
{
    fprintf(stderr, "bench_automaton: %s\n", what);
    exit(1);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static struct pathmap *open_map(const char *path)
{
    struct fathom_error err;
    struct pathmap *map;
    if (pathmap_open(path, &map, &err) < 0)
        fail(err.text);
    return map;
}

/* The trie's number of each function of a map, which is added when it is new; those of its images are
 * opened. */
static uint32_t *functions_in(struct trie *trie, const struct pathmap *map, struct image_cache *images)
{
    uint32_t count = pathmap_function_count(map), *numbers = malloc((count + 1) * sizeof *numbers);
    for (uint32_t i = 0; numbers && i < count; i++) {
        struct pathmap_function f = pathmap_function(map, i);
        struct pathmap_image image = pathmap_image(map, f.image);
        struct image *opened;
        if (image_cache_get(images, image.path, &image.build_id, &opened, NULL) < 0)
            fail("a map's program is another build, or gone");
        numbers[i] = trie_function(trie, trie_image(trie, image.path, &image.build_id), f.address, f.name);
    }
    return numbers;
}

static int compare_order(const void *a, const void *b)
{
    const struct asked *x = a, *y = b;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* CIDs of `other` that `map` does not know. functions: the map's numbers of other's functions. */
static size_t choose(const struct pathmap *map, const struct pathmap *other, const uint32_t *functions,
                     struct asked **out)
{
    struct table *seen = table_new();
    struct asked *all = malloc((pathmap_node_count(other) + 1) * sizeof *all);
    size_t count = 0;
    if (!seen || !all)
        fail("out of memory");
    for (uint32_t i = 0; i < pathmap_node_count(other); i++) {
        struct pathmap_node node = pathmap_node(other, i);
        uint32_t function = functions[node.function], first;
        uint64_t key = (uint64_t)function << 32 | node.height;
        bool added;
        if (pathmap_find(map, function, node.height, &first) == 0 && table_put(seen, key, &added) && added)
            all[count++] = (struct asked){hash_u64(key), function, node.height, 0, 0};
    }
    table_free(seen);
    qsort(all, count, sizeof *all, compare_order);
    *out = all;
    return count;
}

static int compare_first(const void *a, const void *b)
{
    const struct asked *x = a, *y = b;
    return x->first < y->first ? -1 : x->first > y->first;
}

static void ask(const struct graph *graph, struct asked *asked, size_t count)
{
    size_t before = mallinfo2().uordblks + mallinfo2().hblkhd, peak = 0, found = 0;
    double start = now(), again = 0, sum = 0;
    struct automaton *automaton = automaton_new(graph, NULL);
    struct automaton_answer answer;
    uint32_t highest = 0;
    for (size_t i = 0; i < count; i++)
        highest = asked[i].height > highest ? asked[i].height : highest;
    int prepared = automaton ? automaton_prepare(automaton, highest) : -1;
    printf("automaton up to height %u, once for all CIDs\t%.0f\tms\t-\t%s\n", highest, (now() - start) / 1e6,
           prepared == 0 ? "all of it" : "as far as memory goes");
    for (size_t i = 0; automaton && i < count; i++) {
        double from = now();
        found += automaton_find(automaton, asked[i].function, asked[i].height, &answer) == 0;
        asked[i].first = now() - from;
        sum += asked[i].first;
        from = now();
        for (int r = 0; r < 16; r++)
            automaton_find(automaton, asked[i].function, asked[i].height, &answer);
        again += (now() - from) / 16;
        size_t bytes = mallinfo2().uordblks + mallinfo2().hblkhd - before;
        peak = bytes > peak ? bytes : peak;
    }
    printf("unseen CIDs asked for\t%zu\tCIDs\t-\tpaths found for %.1f%%\n", count,
           100.0 * (double)found / (double)(count ? count : 1));
    if (automaton && count) {
        qsort(asked, count, sizeof *asked, compare_first);
        printf("unseen CID, first time\t%.3f\tms\t5\tmedian %.3f, 99%% %.3f, most %.3f\n",
               sum / (double)count / 1e6, asked[count / 2].first / 1e6, asked[count * 99 / 100].first / 1e6,
               asked[count - 1].first / 1e6);
        printf("unseen CID, again\t%.0f\tns\t1000\n", again / (double)count);
        printf("automaton's memory at its peak\t%.0f\tMB\t512\t%zu states were made\n", (double)peak / 1e6,
               automaton_states(automaton));
    }
    automaton_free(automaton);
}

int main(int argc, char **argv)
{
    if (argc != 4)
        fail("usage: bench_automaton MAP OTHER COUNT");
    struct pathmap *trained = open_map(argv[1]), *other = open_map(argv[2]), *map;
    struct image_cache *images = image_cache_new(NULL);
    struct image_calls *image_calls = image_calls_new();
    struct trie *trie = trie_new();
    struct statics statics;
    struct fathom_error err;
    if (!images || !trie || trie_merge(trie, trained, &err) < 0)
        fail("cannot take in the map");
    free(functions_in(trie, trained, images));
    uint32_t *functions = functions_in(trie, other, images);
    if (!functions || statics_build(trie, images, image_calls, NULL, NULL, NULL, &statics, &err) < 0 ||
        pathmap_over(trie, &map, &err) < 0)
        fail("cannot make the map");
    double from = now();
    struct graph *graph = graph_new(map, &statics, NULL, (struct graph_scope){0});
    if (!graph)
        fail("out of memory");
    printf("graph of %u contexts\t%.2f\ts\t-\n", pathmap_node_count(map), (now() - from) / 1e9);
    struct asked *asked;
    size_t unseen = choose(map, other, functions, &asked), most = strtoul(argv[3], NULL, 10);
    ask(graph, asked, unseen < most ? unseen : most);
    free(asked);
    graph_free(graph);
    free(functions);
    statics_free(&statics);
    pathmap_close(map);
    trie_free(trie);
    image_calls_free(image_calls);
    image_cache_free(images);
    pathmap_close(other);
    pathmap_close(trained);
    return 0;
}
