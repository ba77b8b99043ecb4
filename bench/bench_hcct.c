/*
 * bench_hcct.c - what one path, given by its frames, costs in the exact tree and in two counters, and how many nodes
 * they need.
 *
 * One line for each figure: name, value, unit, limit, separated by tabs. The stream is that of a made-up
 * program that calls and returns: at each call the whole path is added, with weight 1 or (weighted) a random
 * one. Functions call few others, mostly the first of them, so path weights are skewed as those of real
 * programs are. Times are those of adding alone: the stream is walked once without, and that is taken off.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/hash.h"
#include "hcct/hcct.h"

#define ADDS      3000000
#define FUNCTIONS 3000
#define DEPTH     40

struct program {
    uint64_t state;
    uint32_t path[DEPTH];
    size_t depth;
    uint64_t frames; /* of all paths so far */
};

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Returns from some functions and calls one; a random number for the weight comes back. */
static uint64_t step(struct program *p)
{
    uint64_t r = hash_u64(p->state += 0x9e3779b97f4a7c15ULL);
    for (uint64_t bits = r; p->depth > 1 && (p->depth == DEPTH || bits & 1); bits >>= 1)
        p->depth--;
    uint32_t caller = p->depth ? p->path[p->depth - 1] : 0;
    unsigned callee = (r >> 40) % 3 ? 0 : (r >> 48) % 12;
    p->path[p->depth] = (uint32_t)(hash_u64(caller * 16 + callee + p->depth % 2 * 65536) % FUNCTIONS);
    p->depth++;
    p->frames += p->depth;
    return r >> 20;
}

struct result {
    double ns;
    size_t nodes, counters;
};

static uint64_t weight_of(uint64_t r, int weighted)
{
    return weighted ? 1 + r % 10000 : 1;
}

static double walk_alone(struct program *p, int weighted)
{
    uint64_t sum = 0;
    double from = seconds();
    for (unsigned i = 0; i < ADDS; i++)
        sum += weight_of(step(p), weighted);
    __asm__ volatile("" : : "r"(sum)); /* it is needed */
    return seconds() - from;
}

static struct result exact(int weighted)
{
    struct program p = {.state = 1}, again = p;
    struct cct *cct = cct_new(1);
    double from = seconds();
    for (unsigned i = 0; i < ADDS; i++) {
        uint64_t weight = weight_of(step(&p), weighted);
        if (!cct_add(cct, p.path, p.depth, &weight))
            exit(1);
    }
    double spent = seconds() - from - walk_alone(&again, weighted);
    struct result result = {spent * 1e9 / ADDS, cct_count(cct), 0};
    cct_free(cct);
    return result;
}

static struct result streaming(enum hcct_kind kind, double phi, int weighted)
{
    struct program p = {.state = 1}, again = p;
    struct hcct *hcct = hcct_new(&(struct hcct_options){.kind = kind, .eps = phi / 5, .metrics = 1});
    double from = seconds();
    for (unsigned i = 0; i < ADDS; i++) {
        uint64_t weight = weight_of(step(&p), weighted);
        if (hcct_add(hcct, p.path, p.depth, &weight) < 0)
            exit(1);
    }
    double spent = seconds() - from - walk_alone(&again, weighted);
    struct result result = {spent * 1e9 / ADDS, hcct_most_nodes(hcct), hcct_counters(hcct)};
    hcct_free(hcct);
    return result;
}

/* The first paths of the stream over and over, as samples of a program repeat themselves, each by a number; *count: how
 * many are different. */
static struct cct *number_paths(uint32_t *numbers, unsigned repeated, size_t *count, struct cct_node ***ends)
{
    struct program p = {.state = 1};
    struct cct *cct = cct_new(1);
    struct table *known = table_new();
    const uint64_t one = 1;
    *ends = malloc(repeated * sizeof **ends);
    *count = 0;
    for (unsigned i = 0; i < repeated; i++) {
        bool added;
        step(&p);
        struct cct_node *node = cct_add(cct, p.path, p.depth, &one);
        uint64_t *number = node ? table_put(known, (uintptr_t)node, &added) : NULL;
        if (!number || !*ends)
            exit(1);
        if (added) {
            *number = *count;
            (*ends)[(*count)++] = node;
        }
        numbers[i] = (uint32_t)*number;
    }
    for (unsigned i = repeated; i < ADDS; i++)
        numbers[i] = numbers[i - repeated];
    table_free(known);
    return cct;
}

/* By its frames only when it is not there. */
static void add_path(struct hcct *hcct, const struct cct_node *end, struct hcct_place *place)
{
    const uint64_t one = 1;
    uint32_t items[DEPTH];
    size_t at = DEPTH;
    for (; cct_parent(end); end = cct_parent(end))
        items[--at] = end->item;
    if (hcct_add(hcct, items + at, DEPTH - at, &one) < 0)
        exit(1);
    *place = hcct_place(hcct);
}

static struct result by_numbers(enum hcct_kind kind, double phi, unsigned repeated, size_t *count,
                                double *sought)
{
    static uint32_t numbers[ADDS];
    struct cct_node **ends;
    size_t framed = 0;
    const uint64_t one = 1;
    struct cct *cct = number_paths(numbers, repeated, count, &ends);
    struct hcct *hcct =
        hcct_new(&(struct hcct_options){.kind = kind, .eps = phi / 5, .metrics = 1, .places = true});
    struct hcct_place *places = calloc(*count, sizeof *places);
    if (!hcct || !places)
        exit(1);
    double from = seconds();
    for (unsigned i = 0; i < ADDS; i++) {
        struct hcct_place *place = &places[numbers[i]];
        if (!hcct_add_at(hcct, *place, &one)) {
            add_path(hcct, ends[numbers[i]], place);
            framed++;
        }
    }
    double spent = seconds() - from;
    struct result result = {spent * 1e9 / ADDS, hcct_most_nodes(hcct), hcct_counters(hcct)};
    *sought = 100.0 * (double)framed / ADDS;
    hcct_free(hcct);
    cct_free(cct);
    free(places);
    free(ends);
    return result;
}

static void print_numbered(const char *name, enum hcct_kind kind, double phi)
{
    for (unsigned repeated = 20000; repeated <= 100000; repeated *= 5) {
        double sought;
        size_t count;
        struct result result = by_numbers(kind, phi, repeated, &count, &sought);
        printf("hcct_%s_by_node_of_%zu\t%.1f\tns/path\t20\n", name, count, result.ns);
        printf("hcct_%s_by_node_of_%zu_sought\t%.1f\tpercent\t\n", name, count, sought); /* by their frames */
    }
}

static void print(const char *name, const char *kind, struct result result)
{
    printf("hcct_%s%s\t%.1f\tns/path\t\n", name, kind, result.ns);
    printf("hcct_%s%s_nodes\t%zu\tnodes\t\n", name, kind, result.nodes);
}

int main(void)
{
    struct program p = {.state = 1};
    walk_alone(&p, 0);
    printf("hcct_stream_depth\t%.1f\tframes/path\t\n", (double)p.frames / ADDS);
    for (int weighted = 0; weighted < 2; weighted++) {
        const char *kind = weighted ? "_weighted" : "";
        print("exact", kind, exact(weighted));
        print("lss_1e-3", kind, streaming(HCCT_LSS, 1e-3, weighted));
        print("lss_1e-4", kind, streaming(HCCT_LSS, 1e-4, weighted));
        print("purge_1e-4", kind, streaming(HCCT_PURGE, 1e-4, weighted));
    }
    print_numbered("exact", HCCT_EXACT, 1e-4);
    print_numbered("lss_1e-4", HCCT_LSS, 1e-4);
    print_numbered("purge_1e-4", HCCT_PURGE, 1e-4);
    return 0;
}
