/*
 * bench_pathmap.c - how fast a path map of a million nodes is built, opened and asked.
 *
 * One line for each figure: name, value, unit, limit, separated by tabs. The map is made of random walks
 * through a made-up call graph in which functions call few others, mostly the first of them. Opening is from
 * the page cache, with all checksums verified, median of several. A look-up is one pathmap_find() of a CID
 * that is in the map: all of its CIDs in random order, and in a hot set.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "pathmap/map/pathmap.h"

#define NODES     1000000
#define FUNCTIONS 4000
#define DEPTH     48
#define ROUNDS    9
#define HOT       64 /* CIDs in the hot set */

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint64_t random_next(uint64_t *state)
{
    return hash_u64(*state += 0x9e3779b97f4a7c15ULL);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *times)
{
    qsort(times, ROUNDS, sizeof *times, ascending);
    return times[ROUNDS / 2];
}

/* One random call path into the trie; returns its depth. */
static unsigned walk(struct trie *trie, uint64_t *state)
{
    uint32_t node = TRIE_ROOT, function = 0, height = 8;
    unsigned depth = 0, end = 8 + (unsigned)(random_next(state) % (DEPTH - 8));
    while (depth < end) {
        node = trie_child(trie, node, function, height,
                          depth ? 0x401000 + 64 * (uint64_t)function + depth % 3 : 0);
        if (node == TRIE_NONE)
            exit(1);
        trie_add(trie, node, 1, ++depth == end);
        uint64_t r = random_next(state);
        unsigned callee = r % 4 ? 0 : (r >> 8) % 6;
        function = (uint32_t)(hash_u64(function * 8 + callee) % FUNCTIONS);
        height += 16 + 8 * (uint32_t)(hash_u64(function) % 20);
    }
    return depth;
}

static struct trie *build(void)
{
    uint64_t state = 1, frames = 0;
    struct trie *trie = trie_new();
    struct build_id id = {4, {1, 2, 3, 4}};
    uint32_t image = trie_image(trie, "/usr/bin/program", &id);
    for (uint32_t f = 0; f < FUNCTIONS; f++) {
        char name[32];
        snprintf(name, sizeof name, "function_%u", f);
        trie_function(trie, image, 0x401000 + 64 * (uint64_t)f, name);
    }
    double from = seconds();
    while (trie_node_count(trie) <= NODES)
        frames += walk(trie, &state);
    printf("pathmap_train_frame\t%.1f\tns\t\n", (seconds() - from) * 1e9 / (double)frames);
    return trie;
}

static double open_time(const char *path, struct pathmap **out)
{
    double times[ROUNDS];
    struct fathom_error err;
    for (unsigned r = 0; r < ROUNDS; r++) {
        struct pathmap *map;
        double from = seconds();
        if (pathmap_open(path, &map, &err) < 0) {
            fprintf(stderr, "%s\n", err.text);
            exit(1);
        }
        times[r] = (seconds() - from) * 1e3;
        if (r + 1 < ROUNDS)
            pathmap_close(map);
        else
            *out = map;
    }
    return median(times);
}

struct asked {
    uint32_t function, height;
};

static double find_time(const struct pathmap *map, const struct asked *cids, size_t count, size_t lookups)
{
    double times[ROUNDS];
    for (unsigned r = 0; r < ROUNDS; r++) {
        uint64_t sum = 0;
        double from = seconds();
        for (size_t i = 0, at = 0; i < lookups; i++, at = at + 1 == count ? 0 : at + 1) {
            uint32_t first = 0;
            sum += pathmap_find(map, cids[at].function, cids[at].height, &first) + first;
        }
        times[r] = (seconds() - from) * 1e9 / (double)lookups;
        __asm__ volatile("" : : "r"(sum)); /* it is needed */
    }
    return median(times);
}

/* Of the time-stamp counter, which runs at the processor's nominal frequency. */
static double cycles_per_ns(void)
{
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    uint64_t first = __builtin_ia32_rdtsc();
    double ns;
    do {
        clock_gettime(CLOCK_MONOTONIC, &to);
        ns = (double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec);
    } while (ns < 1e7);
    return (double)(__builtin_ia32_rdtsc() - first) / ns;
}

static void ask(const struct pathmap *map)
{
    uint32_t nodes = pathmap_node_count(map), count = 0;
    struct asked *cids = malloc(nodes * sizeof *cids);
    if (!cids)
        exit(1);
    for (uint32_t i = 0; i < nodes; i++) {
        struct pathmap_node n = pathmap_node(map, i);
        if (!count || cids[count - 1].function != n.function || cids[count - 1].height != n.height)
            cids[count++] = (struct asked){n.function, n.height};
    }
    uint64_t state = 2;
    for (uint32_t i = count; i-- > 1;) {
        uint32_t j = (uint32_t)(random_next(&state) % (i + 1));
        struct asked swapped = cids[i];
        cids[i] = cids[j];
        cids[j] = swapped;
    }
    printf("pathmap_cids\t%u\tCIDs\t\n", count);
    double random = find_time(map, cids, count, count);
    printf("pathmap_find_random\t%.1f\tns\t100\t%.0f cycles; a red-black tree, ICPP Table 3: "
           "163 to 2395\n",
           random, random * cycles_per_ns());
    printf("pathmap_find_hot\t%.1f\tns\t40\n", find_time(map, cids, HOT, 1 << 20));
    free(cids);
}

int main(void)
{
    char path[] = "/tmp/fathom-bench-XXXXXX";
    int fd = mkstemp(path);
    if (fd < 0) {
        perror(path);
        return 1;
    }
    close(fd);
    struct trie *trie = build();
    struct fathom_error err;
    double from = seconds();
    if (trie_save(trie, path, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    printf("pathmap_save\t%.0f\tms\t\n", (seconds() - from) * 1e3);
    struct pathmap *map;
    printf("pathmap_open\t%.2f\tms\t10\n", open_time(path, &map));
    printf("pathmap_nodes\t%u\tnodes\t\n", pathmap_node_count(map));
    ask(map);
    struct trie *merged = trie_new();
    from = seconds();
    if (!merged || trie_merge(merged, map, &err) < 0)
        return 1;
    printf("pathmap_merge\t%.0f\tms\t\n", (seconds() - from) * 1e3);
    trie_free(merged);
    pathmap_close(map);
    trie_free(trie);
    unlink(path);
    return 0;
}
