/*
 * bench_store.c - what a store takes for the batches of simulated hosts, and what reports of an hour, a day and all of it take.
 *
 *     bench_store STORE HOSTS SLOTS CONTEXTS           fills the store, which must be there and empty
 *     bench_store STORE HOSTS SLOTS CONTEXTS SENDERS   likewise, as a fleet of agents does: each batch by itself, by so many at a time
 *
 * One service, whose program has TREE contexts of depth 34 on average: 59,000 nodes. In each slot of five minutes each host has CONTEXTS of
 * them, the hotter ones more often, with one to 30 samples each. One line for each figure: name, value, unit.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "store/gathering.h"

#define FIRST     UINT64_C(1772323200) /* 2026-03-01 */
#define TREE      24000u
#define FUNCTIONS 5200u
#define PERIOD    10101010u /* ns: 99 Hz */
#define AT_ONCE   100u      /* batches in one transaction, but of a fleet */

struct filling {
    struct store *store;
    struct dictionary *dictionary;
    uint32_t *leaves;
    uint64_t state, samples, batches;
};

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void fail(const struct fathom_error *err)
{
    fprintf(stderr, "bench_store: %s\n", err->text);
    exit(1);
}

/* A program that calls and returns: each context is a path that was reached by one step from another. */
static void make_tree(struct filling *f)
{
    uint32_t path[68], depth = 0;
    f->leaves = malloc(TREE * sizeof *f->leaves);
    for (uint32_t i = 0; f->leaves && i < TREE;) {
        const uint64_t r = hash_random(&f->state);
        for (uint64_t bits = r; depth > 1 && (depth == 68 || bits & 1); bits >>= 1)
            depth--;
        char name[32];
        snprintf(name, sizeof name, "function_%" PRIu64, (r >> 20) % FUNCTIONS);
        const uint32_t frame = dictionary_frame(f->dictionary, 0, "program", name),
                       caller = depth ? path[depth - 1] : DICTIONARY_NONE;
        path[depth] = dictionary_context(f->dictionary, caller, frame);
        f->leaves[i++] = path[depth++];
    }
}

static void make_batch(struct filling *f, struct store_batch *b, struct store_entry *entries, size_t count)
{
    b->entries = entries;
    b->count = count;
    for (size_t i = 0; i < count; i++) {
        const uint64_t r = hash_random(&f->state);
        const double part = ((double)i + (double)(r & 0xffff) / 65536) / (double)count;
        const unsigned few = (unsigned)__builtin_ctzll(r >> 16 | 1u << 5);
        entries[i] = (struct store_entry){.context = f->leaves[(uint32_t)(part * part * (TREE - 1))],
                                          .count = 1 + few,
                                          .sure = r >> 60 ? STORE_PROVED : (uint8_t)(128 + (r >> 40) % 100)};
        entries[i].weight = entries[i].count * PERIOD;
        b->samples += entries[i].count;
        b->weight += entries[i].weight;
    }
    f->samples += b->samples;
    f->batches++;
}

/* The hosts `first`, `first + step`, ...: slot by slot. */
static void fill(struct filling *f, unsigned hosts, unsigned slots, size_t contexts, size_t at_once,
                 unsigned first, unsigned step)
{
    struct store_batch *batches = calloc(AT_ONCE, sizeof *batches);
    struct store_entry *entries = calloc(AT_ONCE * contexts, sizeof *entries);
    char(*names)[32] = calloc(hosts, sizeof *names);
    struct fathom_error err;
    uint64_t added;
    size_t count = 0;
    for (unsigned i = 0; i < hosts; i++)
        snprintf(names[i], sizeof names[i], "host%u", i);
    for (unsigned i = first; batches && entries && i < hosts * slots; i += step) {
        batches[count] =
            (struct store_batch){.key = {"service", "cpu-clock", names[i % hosts], i % 2 ? "aa11" : "bb22",
                                         FIRST + (uint64_t)(i / hosts) * STORE_SLOT, 1, 0},
                                 .unit = "ns"};
        make_batch(f, &batches[count], entries + count * contexts, contexts);
        if (++count < at_once && i + step < hosts * slots)
            continue;
        if (store_put(f->store, f->dictionary, batches, count, &added, &err) < 0)
            fail(&err);
        count = 0;
    }
    free(batches);
    free(entries);
    free(names);
}

static void report(struct store *store, const char *name, uint64_t length, bool by_host)
{
    const double before = seconds();
    struct gathering *g = gathering_new(0);
    struct dictionary *d = dictionary_new();
    struct fathom_error err;
    struct contexts c;
    const struct store_query query = {
        .service = "service", .event = "cpu-clock", .from = FIRST, .to = FIRST + length, .by_host = by_host};
    if (store_each(store, &query, gathering_add, g, &err) < 0 ||
        gathering_contexts(g, store, d, NULL, &c, &err) < 0)
        fail(&err);
    struct gathered sums;
    gathering_sums(g, &sums);
    printf("%s\t%.3f\ts\t(%" PRIu64 " samples, %zu contexts)\n", name, seconds() - before, sums.samples,
           cct_count(c.tree));
    gathering_free(g);
    dictionary_free(d);
}

/* Each sender has a connection of its own. */
static void send_all(struct filling *f, char **argv, unsigned senders)
{
    const unsigned hosts = (unsigned)atoi(argv[2]), slots = (unsigned)atoi(argv[3]);
    struct fathom_error err;
    int status = 0;
    for (unsigned i = 0; i < senders; i++) {
        if (fork() != 0)
            continue;
        if (store_open(argv[1], NULL, false, &f->store, &err) < 0)
            fail(&err);
        f->state = i + 2;
        fill(f, hosts, slots, (size_t)atoi(argv[4]), 1, i, senders);
        store_close(f->store);
        _exit(0);
    }
    while (wait(&status) > 0)
        if (status)
            exit(1);
    f->batches = (uint64_t)hosts * slots;
}

int main(int argc, char **argv)
{
    struct filling f = {.dictionary = dictionary_new(), .state = 1};
    struct fathom_error err;
    struct stat st;
    if (argc != 5 && argc != 6) {
        fprintf(stderr, "usage: bench_store STORE HOSTS SLOTS CONTEXTS [SENDERS]\n");
        return 2;
    }
    const unsigned hosts = (unsigned)atoi(argv[2]), slots = (unsigned)atoi(argv[3]);
    if (store_open(argv[1], NULL, false, &f.store, &err) < 0)
        fail(&err);
    make_tree(&f);
    const double before = seconds();
    if (argc == 6)
        send_all(&f, argv, (unsigned)atoi(argv[5]));
    else
        fill(&f, hosts, slots, (size_t)atoi(argv[4]), AT_ONCE, 0, 1);
    const double took = seconds() - before;
    printf("put\t%.0f\tbatches/s\t(%" PRIu64 " batches)\n", (double)f.batches / took, f.batches);
    if (f.samples)
        printf("put\t%.2f\tmillion samples/s\t(%" PRIu64 " samples)\n", (double)f.samples / took / 1e6,
               f.samples);
    if (stat(argv[1], &st) == 0) {
        printf("size\t%.2f\tbytes a sample\t(%.0f MB)\n", (double)st.st_size / (double)f.samples,
               (double)st.st_size / 1e6);
        printf("size\t%.0f\tbytes a batch\n", (double)st.st_size / (double)f.batches);
    }
    report(f.store, "an hour", 3600, false);
    report(f.store, "a day", 86400, false);
    if (slots > 288)
        report(f.store, "all", (uint64_t)slots * STORE_SLOT, false);
    store_close(f.store);
    dictionary_free(f.dictionary);
    free(f.leaves);
    return 0;
}
