/*
 * overlap.c - how much the hot streams of sampled bursts are those of the full trace: overlap FULL SAMPLED... (files of the runtime
 * streams/runtime/, of one thread each). Symbols are instruction and datum, streams are the same by their instructions, and have 10 to 40
 * references (Hirzel and Chilimbi, FDDO-4 2001, section 5.2). The instructions' addresses must be the same in all runs (setarch -R).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/vec.h"
#include "streams/hot.h"
#include "streams/trace/burst_file.h"

#define PIECE 20000000u /* symbols for which there is one grammar */

struct symbols {
    struct table *pairs, *pcs;
    uint32_t *names; /* by symbol: of its instruction */
    size_t count, capacity;
};

static uint32_t symbol_of(struct symbols *s, uint64_t pc, uint64_t datum)
{
    uint64_t *symbol = table_put(s->pairs, hash_u64(pc) ^ hash_u64(datum + 1) * 3, NULL);
    uint64_t *name = table_put(s->pcs, pc, NULL);
    if (!symbol || !name)
        abort();
    if (!*name)
        *name = table_count(s->pcs);
    if (!*symbol) {
        if (!vec_push(s->names, s->count, s->capacity, (uint32_t)*name))
            abort();
        *symbol = s->count;
    }
    return (uint32_t)*symbol - 1;
}

static void finish(struct hot_profile *profile, struct sequitur **grammar, const struct hot_options *options)
{
    if (hot_add(profile, *grammar, options) < 0)
        abort();
    sequitur_free(*grammar);
    *grammar = sequitur_new();
}

static void read_trace(const char *path, struct symbols *symbols, struct hot_profile *profile,
                       const struct hot_options *options)
{
    struct fathom_error err = {0};
    struct burst_file *file;
    struct burst_record r;
    struct sequitur *grammar = sequitur_new();
    uint32_t pushed = 0;
    int rc = burst_file_open(path, &file, &err);
    if (rc < 0 || !grammar) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    while (burst_file_next(file, &r) > 0) {
        bool record = r.what == BURST_RECORD;
        if (!record && r.what != BURST_BEGINS && r.what != BURST_LOST)
            continue;
        if (sequitur_push(grammar, record ? symbol_of(symbols, r.pc, r.datum) : SEQUITUR_BREAK) < 0)
            abort();
        if (++pushed % PIECE == 0)
            finish(profile, &grammar, options);
    }
    finish(profile, &grammar, options);
    sequitur_free(grammar);
    hot_cut(profile, options);
    const struct stream_header *h = burst_file_header(file);
    printf("%s: %" PRIu32 ":%" PRIu32 ", %" PRIu64 " references, %zu hot streams\n", path, h->checks0,
           h->burst0, profile->total, profile->count);
    burst_file_close(file);
}

int main(int argc, char **argv)
{
    static const struct hot_options options = {.shortest = 10, .longest = 40, .cover = 0.9};
    struct symbols symbols = {.pairs = table_new(), .pcs = table_new()};
    struct hot_profile full = {0};
    for (int i = 1; i < argc; i++) {
        struct hot_profile sampled = {0};
        double overlap, most;
        read_trace(argv[i], &symbols, i == 1 ? &full : &sampled, &options);
        if (i == 1)
            continue;
        if (hot_overlap(&full, symbols.names, &sampled, symbols.names, &overlap) < 0 ||
            hot_overlap(&full, symbols.names, &full, symbols.names, &most) < 0)
            abort();
        printf("overlap %.3f of %.3f\n", overlap, most);
        hot_clear(&sampled);
    }
    hot_clear(&full);
    table_free(symbols.pairs);
    table_free(symbols.pcs);
    free(symbols.names);
    return 0;
}
