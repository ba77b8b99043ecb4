/*
 * bolt.c - see export.h. The "pre-aggregated" input of perf2bolt and llvm-bolt (llvm/bolt: DataAggregator.h): "B FROM TO COUNT
 * MISPREDICTED" for branches and calls, "F FROM TO COUNT" for fall-throughs, with addresses of the file. Targets of jumps by unknown
 * tables are left out.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/saturate.h"
#include "report/export/export.h"
#include "report/export/run_counts.h"
#include "report/text/printer.h"

static void write_line(struct printer *p, char kind, uint64_t from, uint64_t to, double count)
{
    if (count >= 1) /* a whole number of up to 64 bits for its readers */
        printer_write(p, kind == 'B' ? "B %llx %llx %llu 0\n" : "F %llx %llx %llu\n",
                      (unsigned long long)from, (unsigned long long)to,
                      (unsigned long long)count_saturating(count + 0.5));
}

static void write_edges(struct printer *p, const struct counted_function *f)
{
    const struct blocks *b = &f->blocks;
    for (uint32_t i = 0, last = 0; i < b->edge_count; i++) {
        const struct block_edge *e = &b->edges[i];
        if (e->from >= b->block_count || e->to >= b->block_count)
            continue;
        while (last + 1 < b->count && b->blocks[last + 1] <= e->from)
            last++;
        const bool next = e->to == e->from + 1 && last + 1 < b->count;
        write_line(p, next ? 'F' : 'B', b->addresses[last],
                   next ? b->addresses[last + 1] : b->addresses[blocks_first(b, e->to)], f->edges[i]);
    }
    for (uint32_t i = 0; i < b->call_count; i++)
        if (b->calls[i].target)
            write_line(p, 'B', b->addresses[b->calls[i].insn], b->calls[i].target,
                       f->counts[b->blocks[b->calls[i].insn]]);
}

/* The name of the image with the most weight. */
static const char *heaviest_image(const struct run_counts *runs)
{
    const struct image *heaviest = NULL;
    double most = -1, sum = 0;
    for (size_t i = 0; i < runs->count; i++) {
        const struct counted_function *f = &runs->functions[i];
        sum = f->sampled + (i && f->image == f[-1].image ? sum : 0);
        if (sum > most) {
            most = sum;
            heaviest = f->image;
        }
    }
    return image_name(heaviest);
}

/* A regular expression for a name alone, such as that of libstdc++. malloc'd; NULL: out of memory. */
static char *expression_for(const char *name)
{
    char *out = malloc(2 * strlen(name) + sizeof "^$"), *to = out;
    if (!out)
        return NULL;
    *to++ = '^';
    for (; *name; name++) {
        if (strchr("\\+*?()[]{}|^$,", *name))
            *to++ = '\\';
        *to++ = *name;
    }
    memcpy(to, "$", 2);
    return out;
}

/* Addresses of several files cannot be in one profile. */
static int refuse_several(const struct run_counts *runs, struct fathom_error *err)
{
    char *expression = expression_for(heaviest_image(runs));
    if (!expression)
        return error_memory(err);
    const int rc = error_set(
        err, EINVAL,
        "addresses of several files, such as %s and %s, would be mixed up in one profile: "
        "choose the one that it is for, as by --image '%s'",
        image_name(runs->functions[0].image), image_name(runs->functions[runs->count - 1].image), expression);
    free(expression);
    return rc;
}

int bolt_write(const struct report *report, FILE *out, struct fathom_error *err)
{
    struct printer p = {.out = out};
    struct run_counts runs;
    int rc = run_counts_find(report, &runs, err);
    /* Functions are sorted by image. */
    if (rc == 0 && runs.count && runs.functions[0].image != runs.functions[runs.count - 1].image)
        rc = refuse_several(&runs, err);
    for (size_t i = 0; rc == 0 && i < runs.count; i++)
        write_edges(&p, &runs.functions[i]);
    for (size_t i = 0; rc == 0 && i < runs.indirect_count; i++) {
        const struct indirect_call *call = &runs.indirect[i];
        const struct counted_function *from = &runs.functions[call->caller],
                                      *to = &runs.functions[call->callee];
        if (from->image == to->image)
            write_line(&p, 'B', from->blocks.addresses[call->insn],
                       image_function(to->image, to->function)->address, call->count);
    }
    run_counts_clear(&runs);
    return rc == 0 ? printer_finish(&p, err) : rc;
}
