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
    return 0;
}
