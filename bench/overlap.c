/*
 * overlap.c - how much the hot streams of sampled bursts are those of the full trace: overlap [-d] [-g] FULL SAMPLED... (files of the runtime
 * streams/runtime/, of one thread each). Streams are the same by their instructions, and have 10 to 40 references (Hirzel and
 * Chilimbi, FDDO-4 2001, section 5.2). The instructions' addresses must be the same in all runs (setarch -R).
 *
 *     -d  symbols are instruction and datum: a stream is hot if it refers to the same data again; else to any
 *     -g  streams are the rules of a grammar (streams/rules.h), of which there is one for each PIECE symbols
 *
 * Beside, what the size of the sample allows: the overlap of as many bursts, all of its mean length, taken from the full trace by chance.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/vec.h"
#include "streams/rules.h"
#include "streams/scan.h"
#include "streams/trace/burst_file.h"

#define PIECE   20000000u
#define SAMPLES 16 /* files */

static const struct hot_options options = {.shortest = 10, .longest = 40, .cover = 0.9, .fewest = 2};
static bool with_data, by_grammar;

struct symbols {
    struct table *pairs, *pcs;
    uint32_t *names; /* by symbol: of its instruction */
    size_t count, capacity;
};

/* A profile in the making. */
struct maker {
    struct hot_profile profile;
    struct hot_scan *scan;
    struct sequitur *grammar;
    uint32_t pushed;
};

/* Bursts by chance. */
struct chance {
    struct maker maker;
    double rate;          /* bursts that begin, by reference between bursts */
    uint64_t length;      /* of each burst */
    uint64_t left, state; /* references of this one; of hash_random() */
};

static void demand(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static uint32_t symbol_of(struct symbols *s, uint64_t pc, uint64_t datum)
{
    uint64_t pair = with_data ? hash_u64(pc) ^ hash_u64(datum + 1) * 3 : pc;
    uint64_t *symbol = table_put(s->pairs, pair, NULL), *name = table_put(s->pcs, pc, NULL);
    demand(symbol && name, "no memory");
    if (!*name)
        *name = table_count(s->pcs);
    if (!*symbol) {
        demand(vec_push(s->names, s->count, s->capacity, (uint32_t)*name), "no memory");
        *symbol = s->count;
    }
    return (uint32_t)*symbol - 1;
}

static void make(struct maker *m)
{
    *m = (struct maker){.scan = scan_new(&m->profile, &options), .grammar = sequitur_new()};
    demand(m->scan && m->grammar, "no memory");
}

static void end_grammar(struct maker *m)
{
    demand(rules_add(&m->profile, m->grammar, &options) == 0, "no memory");
    sequitur_free(m->grammar);
    m->grammar = sequitur_new();
    demand(m->grammar, "no memory");
}

static void push(struct maker *m, uint32_t symbol, uint64_t place)
{
    int rc = by_grammar                 ? sequitur_push(m->grammar, symbol)
             : symbol == SEQUITUR_BREAK ? scan_break(m->scan)
                                        : scan_push(m->scan, symbol, place);
    demand(rc == 0, "no memory");
    if (by_grammar && ++m->pushed % PIECE == 0)
        end_grammar(m);
}

static void finish(struct maker *m)
{
    push(m, SEQUITUR_BREAK, 0);
    if (by_grammar)
        end_grammar(m);
    scan_free(m->scan);
    sequitur_free(m->grammar);
    hot_cut(&m->profile, &options);
}

static void push_by_chance(struct chance *c, uint32_t symbol, uint64_t place)
{
    if (!c->left && (double)hash_random(&c->state) < c->rate * 0x1p64) {
        push(&c->maker, SEQUITUR_BREAK, 0);
        c->left = c->length;
    }
    if (c->left) {
        push(&c->maker, symbol, place);
        c->left--;
    }
}

static struct burst_file *open_trace(const char *path)
{
    struct fathom_error err = {0};
    struct burst_file *file;
    demand(burst_file_open(path, &file, &err) == 0, err.text);
    return file;
}

/* What is pushed to the maker is pushed to the samples by chance, too. */
static void read_trace(const char *path, struct symbols *symbols, struct maker *maker, struct chance *chances,
                       unsigned count)
{
    struct burst_file *file = open_trace(path);
    struct burst_record r;
    make(maker);
    while (burst_file_next(file, &r) > 0) {
        bool record = r.what == BURST_RECORD;
        uint32_t symbol = record ? symbol_of(symbols, r.pc, r.datum) : SEQUITUR_BREAK;
        if (!record && r.what != BURST_BEGINS && r.what != BURST_LOST)
            continue;
        push(maker, symbol, r.pc);
        for (unsigned i = 0; symbol != SEQUITUR_BREAK && i < count; i++)
            push_by_chance(&chances[i], symbol, r.pc);
    }
    finish(maker);
    const struct stream_header *h = burst_file_header(file);
    printf("%s: %" PRIu32 ":%" PRIu32 ", %" PRIu64 " references, %zu hot streams\n", path, h->checks0,
           h->burst0, h->records, maker->profile.count);
    burst_file_close(file);
}

/* Bursts like those of the sample. */
static void like(struct chance *c, const char *path, uint64_t all, unsigned number)
{
    struct burst_file *file = open_trace(path);
    const struct stream_header *h = burst_file_header(file);
    double bursts = h->bursts ? (double)h->bursts : 1, between = (double)all - (double)h->records;
    *c = (struct chance){.length = h->records / (uint64_t)bursts + 1, .state = number};
    c->rate = between > bursts ? bursts / between : 1;
    make(&c->maker);
    burst_file_close(file);
}

static uint64_t records_of(const char *path)
{
    struct burst_file *file = open_trace(path);
    uint64_t records = burst_file_header(file)->records;
    burst_file_close(file);
    return records;
}

/* The streams by the names of their symbols: those that are named the same are one. */
static struct hot_profile named(const struct hot_profile *profile, const struct symbols *symbols)
{
    struct hot_profile out = {.total = profile->total};
    uint32_t names[HOT_LONGEST];
    for (size_t i = 0; i < profile->count; i++) {
        const struct hot_stream *s = &profile->streams[i];
        for (uint32_t k = 0; k < s->length; k++)
            names[k] = symbols->names[s->symbols[k]];
        demand(hot_count(&out, names, s->length, s->occurrences) == 0, "no memory");
    }
    return out;
}

static double overlap_of(const struct maker *a, const struct maker *b, const struct symbols *symbols)
{
    struct hot_profile of_a = named(&a->profile, symbols), of_b = named(&b->profile, symbols);
    double overlap;
    demand(hot_overlap(&of_a, &of_b, &overlap) == 0, "no memory");
    hot_clear(&of_a);
    hot_clear(&of_b);
    return overlap;
}

static void compare(const char *path, struct symbols *symbols, const struct maker *full,
                    struct chance *chance)
{
    struct maker sampled;
    read_trace(path, symbols, &sampled, NULL, 0);
    finish(&chance->maker);
    printf("overlap %.3f of %.3f; by chance %.3f\n", overlap_of(full, &sampled, symbols),
           overlap_of(full, full, symbols), overlap_of(full, &chance->maker, symbols));
    hot_clear(&sampled.profile);
    hot_clear(&chance->maker.profile);
}

int main(int argc, char **argv)
{
    struct symbols symbols = {.pairs = table_new(), .pcs = table_new()};
    struct chance chances[SAMPLES];
    struct maker full;
    for (int option; (option = getopt(argc, argv, "dg")) != -1;)
        *(option == 'd' ? &with_data : &by_grammar) = option != '?';
    unsigned count = argc - optind > 1 ? (unsigned)(argc - optind - 1) : 0;
    demand(count && count <= SAMPLES, "usage: overlap [-d] [-g] FULL SAMPLED..., 16 of them at most");
    uint64_t all = records_of(argv[optind]);
    for (unsigned i = 0; i < count; i++)
        like(&chances[i], argv[optind + 1 + (int)i], all, i);
    read_trace(argv[optind], &symbols, &full, chances, count);
    for (unsigned i = 0; i < count; i++)
        compare(argv[optind + 1 + (int)i], &symbols, &full, &chances[i]);
    hot_clear(&full.profile);
    table_free(symbols.pairs);
    table_free(symbols.pcs);
    free(symbols.names);
    return 0;
}
