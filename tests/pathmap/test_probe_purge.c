/*
 * The probe runtime's trees with a limit on their nodes: no weight is lost, and what may be missing from a path's is known.
 *
 * left() and right() call each other at random down to a depth; the path of each call is known by its number, and counted
 * beside the runtime.
 */
#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/hash.h"
#include "pathmap/probe/core.h"
#include "tests/pathmap/hooked.h"
#include "tests/pathmap/probe_tree.h"
#include "tests/sanitized.h"

#define FUNCTIONS(X) X(1, run) X(2, left) X(3, right) X(4, handler) X(5, fan) X(6, leaf)
FUNCTIONS(TRAMPOLINE)
HOOK_SLOT(probe_entry)
FUNCTIONS(BOUNDS)
static uint64_t bounds[][2] = {FUNCTIONS(BOUND)};
#define FUNCTION_COUNT (sizeof bounds / sizeof *bounds)

#define LIMIT 4096
#define DEPTH 20 /* a million paths */
#define PATHS (2u << DEPTH)
#define WALKS (ADDRESS_SANITIZED ? 20000 : 200000)

static char directory[] = "/tmp/test_probe_purge.XXXXXX";

extern void (*hook_slot)(void);

static void begin_with(const struct recording *recording)
{
    cr_assert(mkdtemp(directory));
    core_record(recording);
    hook_slot = core_entry();
    cr_assert_eq(core_start(directory), 0);
    for (uint32_t id = 1; id < FUNCTION_COUNT; id++) {
        uint32_t image = core_image("/test", (const uint8_t *)"1234", 4, 0, bounds[id][0], bounds[id][1]);
        cr_assert_eq(core_functions(image, 1), id);
        core_function(id, image, bounds[id][0], (uint32_t)(bounds[id][1] - bounds[id][0]));
    }
}

static void begin(uint32_t limit)
{
    begin_with(&(struct recording){.node_limit = limit});
}

static void end(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    cr_expect_eq(system(command), 0);
}

TestSuite(probe_purge, .fini = end);

static uint64_t *paths_new(void)
{
    uint64_t *counts = calloc(PATHS, sizeof *counts);
    cr_assert(counts);
    return counts;
}

/* A walk: at each level to the right with a probability of 1/4; so some paths are hot. */
struct walk {
    uint64_t random;
    uint32_t path;    /* 1, then a bit for each level: 1 for right() */
    uint64_t *counts; /* by path */
};

void run_hooked(struct walk *walk), left_hooked(struct walk *walk), right_hooked(struct walk *walk);
void handler_hooked(int sig), fan_hooked(void), leaf_hooked(void);
void run(struct walk *walk), left(struct walk *walk), right(struct walk *walk), handler(int sig), leaf(void);

static __attribute__((always_inline)) inline void descend(struct walk *walk, uint32_t path)
{
    walk->counts[path]++;
    if (path >> DEPTH)
        return;
    walk->path = 2 * path + (hash_u64(walk->random++) % 4 == 0);
    if (walk->path & 1)
        right_hooked(walk);
    else
        left_hooked(walk);
    AFTER();
}

HOOKED(left) void left(struct walk *walk)
{
    descend(walk, walk->path);
}
HOOKED(right) void right(struct walk *walk)
{
    descend(walk, walk->path);
}
HOOKED(run) void run(struct walk *walk)
{
    descend(walk, 1);
}
HOOKED(leaf) void leaf(void)
{
    AFTER();
}
HOOKED(handler) void handler(int sig)
{
    (void)sig;
    leaf_hooked();
    AFTER();
}

static void walk_all(uint64_t *counts, uint64_t seed)
{
    struct walk walk = {.random = seed, .counts = counts};
    for (volatile unsigned i = 0; i < WALKS; i++)
        run_hooked(&walk);
}

struct found {
    uint64_t *counts; /* by path */
    uint64_t sum;     /* of all nodes */
};

/* The path's number; 0: of another function. */
static uint32_t path_of(const struct store_node *nodes, const struct store_node *node)
{
    uint32_t path = 0, depth = 0;
    for (; node->function != 1; node = nodes + node->parent) {
        if (node->function != 2 && node->function != 3)
            return 0;
        path |= (uint32_t)(node->function == 3) << depth++;
    }
    return path | 1u << depth;
}

static void find_node(const struct store_node *nodes, const struct store_node *node, void *context)
{
    struct found *found = context;
    found->sum += store_count(node);
    if (node->function == STORE_ROOT)
        return;
    cr_assert(nodes[node->parent].function, "below a removed node");
    uint32_t path = path_of(nodes, node);
    found->counts[path] += path ? store_count(node) : 0;
}

/* Compares the store with the true counts; returns what else it has counted. */
static uint64_t check(const uint64_t *counts, uint64_t nodes_most)
{
    struct store_header header = probe_header(probe_store(directory, getpid()));
    struct found found = {.counts = paths_new()};
    uint64_t all = 0;
    uint64_t nodes = probe_nodes_each(probe_store(directory, getpid()), find_node, &found);
    for (uint32_t path = 1; path < PATHS; path++) {
        all += counts[path];
        cr_assert_leq(found.counts[path], counts[path], "path %#x", path);
        cr_assert_leq(counts[path], found.counts[path] + header.bound, "path %#x", path);
    }
    cr_expect_leq(nodes, nodes_most);
    cr_expect_gt(header.bound, 0);
    cr_expect_lt(header.bound, all / LIMIT, "bound %lu of %lu", header.bound, all);
    cr_expect_eq(header.dropped, 0);
    cr_assert_geq(found.sum + header.purged, all);
    free(found.counts);
    return found.sum + header.purged - all;
}

Test(probe_purge, hot_paths_stay)
{
    uint64_t *counts = paths_new();
    begin(LIMIT);
    walk_all(counts, 1);
    cr_expect_eq(check(counts, LIMIT + 1), 0);
    free(counts);
}

Test(probe_purge, while_signals_arrive)
{
    uint64_t *counts = paths_new();
    struct sigaction action = {.sa_handler = handler_hooked};
    struct itimerval often = {{0, 200}, {0, 200}}, never = {0};
    begin(LIMIT);
    cr_assert_eq(sigaction(SIGALRM, &action, NULL), 0);
    cr_assert_eq(setitimer(ITIMER_REAL, &often, NULL), 0);
    walk_all(counts, 2);
    cr_assert_eq(setitimer(ITIMER_REAL, &never, NULL), 0);
    uint64_t fired = check(counts, 2 * LIMIT);
    cr_expect_gt(fired, 10);
    cr_expect_eq(fired % 2, 0, "the handler calls one function");
    free(counts);
}

static void *walk_thread(void *counts)
{
    walk_all(counts, (uint64_t)counts);
    return NULL;
}

Test(probe_purge, each_thread_has_its_tree)
{
    pthread_t threads[4];
    uint64_t *counts[4], *all = paths_new();
    begin(LIMIT);
    for (int i = 0; i < 4; i++) {
        counts[i] = paths_new();
        cr_assert_eq(pthread_create(&threads[i], NULL, walk_thread, counts[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        for (uint32_t path = 1; path < PATHS; path++)
            all[path] += counts[i][path];
        free(counts[i]);
    }
    cr_expect_eq(check(all, 4 * LIMIT + 5), 0);
    free(all);
}

/* A node with many children, most of which are removed again and again. */
#define FAN        20000
#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)
__asm__(".section h_fan, \"ax\", @progbits\n.globl fan\nfan: sub $8, %rsp\n.rept " TEXT(
    FAN) "\ncall leaf_hooked\n.endr\n"
         "add $8, %rsp\nret\n.text\n");

static void add_count(const struct store_node *nodes, const struct store_node *node, void *sum)
{
    (void)nodes;
    *(uint64_t *)sum += store_count(node);
}

Test(probe_purge, of_many_children)
{
    uint64_t sum = 0;
    begin(LIMIT);
    for (volatile int i = 0; i < 50; i++)
        fan_hooked();
    struct store_header header = probe_header(probe_store(directory, getpid()));
    cr_expect_leq(probe_nodes_each(probe_store(directory, getpid()), add_count, &sum), LIMIT + 1);
    cr_expect_eq(sum + header.purged, 50 * (FAN + 1));
}

/* Counters: not all nodes have a weight. ----------------------------------------------------------------- */

#define COUNTERS 2048

static void begin_counter(enum record_counter counter, uint64_t sticky_t)
{
    begin_with(&(struct recording){
        .node_limit = LIMIT, .counter = counter, .counters = COUNTERS, .sticky_t = sticky_t});
}

/* How far the weights are from the counts: `above` and `below` them at most. */
static uint64_t check_counter(const uint64_t *counts, uint64_t above, uint64_t below, uint64_t nodes_most)
{
    struct store_header header = probe_header(probe_store(directory, getpid()));
    struct found found = {.counts = paths_new()};
    uint64_t all = 0, nodes = probe_nodes_each(probe_store(directory, getpid()), find_node, &found);
    for (uint32_t path = 1; path < PATHS; path++) {
        all += counts[path];
        cr_assert_leq(found.counts[path], counts[path] + above, "path %#x", path);
        cr_assert_leq(counts[path], found.counts[path] + below, "path %#x", path);
    }
    cr_expect_leq(nodes, nodes_most, "%lu nodes", nodes);
    cr_expect_eq(header.dropped, 0);
    cr_assert_geq(found.sum + header.purged, all);
    free(found.counts);
    return found.sum + header.purged - all;
}

static uint64_t total_of(const uint64_t *counts)
{
    uint64_t all = 0;
    for (uint32_t path = 1; path < PATHS; path++)
        all += counts[path];
    return all;
}

static uint64_t bound(void)
{
    return probe_header(probe_store(directory, getpid())).bound;
}

Test(probe_purge, lazy_space_saving)
{
    uint64_t *counts = paths_new();
    begin_counter(RECORD_LSS, 0);
    walk_all(counts, 4);
    cr_expect_gt(bound(), 0);
    cr_expect_leq(bound(), total_of(counts) / COUNTERS);
    cr_expect_eq(check_counter(counts, bound(), bound(), 4 * LIMIT), 0);
    free(counts);
}

Test(probe_purge, bucket_space_saving)
{
    uint64_t *counts = paths_new();
    begin_counter(RECORD_BSS, 0);
    walk_all(counts, 4);
    cr_expect_gt(bound(), 0);
    cr_expect_leq(bound(), total_of(counts) / COUNTERS);
    cr_expect_eq(check_counter(counts, bound(), bound(), 4 * LIMIT), 0);
    free(counts);
}

Test(probe_purge, lossy_counting)
{
    uint64_t *counts = paths_new();
    begin_counter(RECORD_LC, 0);
    walk_all(counts, 5);
    cr_expect_gt(bound(), 0);
    cr_expect_leq(bound(), total_of(counts) / COUNTERS);
    cr_expect_eq(check_counter(counts, 0, bound(), 8 * LIMIT), 0);
    free(counts);
}

/* phi = 0.01, delta = 1e-9: the promise is for all paths of that weight; so many seeds do not break it. */
Test(probe_purge, sticky_sampling)
{
    uint64_t *counts = paths_new(), t = (uint64_t)(COUNTERS * 25.4);
    struct found found = {.counts = paths_new()};
    begin_counter(RECORD_STICKY, t);
    walk_all(counts, 6);
    uint64_t all = total_of(counts);
    cr_expect_eq(check_counter(counts, 0, all, 16 * t), 0);
    cr_expect_gt(probe_header(probe_store(directory, getpid())).purged, 0);
    probe_nodes_each(probe_store(directory, getpid()), find_node, &found);
    for (uint32_t path = 1; path < PATHS; path++)
        if (counts[path] >= all / 100)
            cr_expect_leq(counts[path] - found.counts[path], all / COUNTERS, "path %#x", path);
    free(found.counts);
    free(counts);
}

static void check_with_signals(enum record_counter counter)
{
    uint64_t *counts = paths_new();
    struct sigaction action = {.sa_handler = handler_hooked};
    struct itimerval often = {{0, 200}, {0, 200}}, never = {0};
    begin_counter(counter, 0);
    cr_assert_eq(sigaction(SIGALRM, &action, NULL), 0);
    cr_assert_eq(setitimer(ITIMER_REAL, &often, NULL), 0);
    walk_all(counts, 7);
    cr_assert_eq(setitimer(ITIMER_REAL, &never, NULL), 0);
    uint64_t fired = check_counter(counts, bound(), bound() + 2, 8 * LIMIT);
    cr_expect_gt(fired, 10);
    cr_expect_eq(fired % 2, 0, "the handler calls one function");
    free(counts);
}

Test(probe_purge, lazy_space_saving_while_signals_arrive)
{
    check_with_signals(RECORD_LSS);
}

Test(probe_purge, bucket_space_saving_while_signals_arrive)
{
    check_with_signals(RECORD_BSS);
}

Test(probe_purge, lazy_space_saving_of_each_thread)
{
    pthread_t threads[4];
    uint64_t *counts[4], *all = paths_new();
    begin_counter(RECORD_LSS, 0);
    for (int i = 0; i < 4; i++) {
        counts[i] = paths_new();
        cr_assert_eq(pthread_create(&threads[i], NULL, walk_thread, counts[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        for (uint32_t path = 1; path < PATHS; path++)
            all[path] += counts[i][path];
        free(counts[i]);
    }
    cr_expect_leq(bound(), total_of(all) / COUNTERS);
    cr_expect_eq(check_counter(all, bound(), bound(), 16 * LIMIT), 0);
    free(all);
}

Test(probe_purge, nothing_is_removed_without_a_limit)
{
    uint64_t *counts = paths_new();
    struct found found = {.counts = paths_new()};
    begin(0);
    walk_all(counts, 3);
    probe_nodes_each(probe_store(directory, getpid()), find_node, &found);
    struct store_header header = probe_header(probe_store(directory, getpid()));
    cr_expect_eq(header.purged, 0);
    cr_expect_eq(header.bound, 0);
    for (uint32_t path = 1; path < PATHS; path++)
        cr_expect_eq(found.counts[path], counts[path], "path %#x", path);
    free(found.counts);
    free(counts);
}
