/* run_counts.c - see run_counts.h. */
#include "report/export/run_counts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/vec.h"
#include "report/export/block_counts.h"
#include "report/export/indirect_calls.h"

#define ROUNDS 3 /* after the first, the counts of calls between functions are known */
/* Work limits: for all functions (some seconds), and for one as a part of the rest, so that some is left for others. */
#define WORK_MOST  (UINT64_C(1) << 29)
#define WORK_SHARE 4u

struct run_sample {
    const struct image *image;
    uint64_t address, weight;
    uint32_t function;
};

struct run_samples {
    struct run_sample *items; /* by function */
    size_t count, capacity;
};

static int compare_places(const struct image *a, uint32_t f, const struct image *b, uint32_t g)
{
    /* By name first, so that equal recordings give equal profiles. */
    return a == b ? order_of(f, g)
                  : strcmp(image_name(a), image_name(b)) ?: order_of((uintptr_t)a, (uintptr_t)b);
}

static int compare_samples(const void *a, const void *b)
{
    const struct run_sample *x = a, *y = b;
    return compare_places(x->image, x->function, y->image, y->function);
}

static int find_samples(struct run_samples *s, const struct contexts *c, struct fathom_error *err)
{
    for (size_t i = 0; i < c->sample_count; i++) {
        const struct placed_sample *p = &c->samples[i];
        const uint64_t weight = c->sample_values[i * c->metrics->count];
        const uint32_t function = p->image ? image_function_at(p->image, p->address) : IMAGE_NO_FUNCTION;
        if (!weight || p->wait || function == IMAGE_NO_FUNCTION)
            continue;
        if (!vec_push(s->items, s->count, s->capacity,
                      (struct run_sample){p->image, p->address, weight, function}))
            return error_memory(err);
    }
    sort_with(s->items, s->count, compare_samples);
    return 0;
}

static struct counted_function *find_function(const struct run_counts *c, const struct image *image,
                                              uint32_t f)
{
    const size_t at =
        lower_bound(i, (size_t)0, c->count,
                    compare_places(c->functions[i].image, c->functions[i].function, image, f) < 0);
    struct counted_function *found = &c->functions[at];
    return at < c->count && found->image == image && found->function == f ? found : NULL;
}

struct counted_function *run_counts_in(const struct run_counts *c, const struct image *image,
                                       uint64_t address)
{
    const uint32_t f = image_function_at(image, address);
    return f == IMAGE_NO_FUNCTION ? NULL : find_function(c, image, f);
}

struct counted_function *run_counts_at(const struct run_counts *c, const struct image *image,
                                       uint64_t address)
{
    const uint32_t f = image_function_entry(image, address);
    return f == IMAGE_NO_FUNCTION ? NULL : find_function(c, image, f);
}

const struct image *run_counts_image(const struct run_counts *c, const char *name)
{
    for (size_t i = 0; i < c->count;) {
        const struct image *image = c->functions[i].image;
        if (strcmp(image_name(image), name) == 0)
            return image;
        i = lower_bound(k, i, c->count, c->functions[k].image == image);
    }
    return NULL;
}

/* UINT32_MAX: no block contains the address. */
static uint32_t block_at(const struct blocks *b, uint64_t address)
{
    const uint32_t at = blocks_find(b, address);
    return at == UINT32_MAX ? at : b->blocks[at];
}

static int add_function(struct run_counts *c, struct blocks_reader *reader, const struct run_sample *samples,
                        size_t count, struct fathom_error *err)
{
    if (!vec_push(c->functions, c->count, c->capacity,
                  (struct counted_function){.image = samples->image, .function = samples->function}))
        return error_memory(err);
    struct counted_function *f = &c->functions[c->count - 1];
    struct blocks *b = &f->blocks;
    if (blocks_read(reader, f->function, b) < 0)
        return error_memory(err);
    f->entry = block_at(b, image_function(f->image, f->function)->address);
    f->weight = calloc((size_t)b->block_count + 1, sizeof *f->weight);
    f->counts = calloc((size_t)b->block_count + 1, sizeof *f->counts);
    f->edges = calloc((size_t)b->edge_count + 1, sizeof *f->edges);
    if (!f->weight || !f->counts || !f->edges)
        return error_memory(err);
    for (size_t i = 0; i < count; i++) {
        const uint32_t block = block_at(b, samples[i].address);
        if (block == UINT32_MAX)
            continue;
        f->weight[block] += (double)samples[i].weight;
        f->sampled += (double)samples[i].weight;
    }
    return 0;
}

static int add_functions(struct run_counts *c, const struct run_samples *s, struct fathom_error *err)
{
    struct blocks_reader *reader = NULL;
    int rc = 0;
    for (size_t first = 0, count; rc == 0 && first < s->count; first += count) {
        const struct run_sample *samples = s->items + first;
        if (first == 0 || samples->image != samples[-1].image) {
            blocks_close(reader);
            reader = blocks_open(samples->image);
        }
        for (count = 1; first + count < s->count && compare_samples(samples, &samples[count]) == 0;)
            count++;
        rc = reader ? add_function(c, reader, samples, count, err) : error_memory(err);
    }
    blocks_close(reader);
    return rc;
}

static double entered(const struct counted_function *f)
{
    for (uint32_t i = 0; i < f->blocks.edge_count; i++)
        if (f->blocks.edges[i].from == BLOCK_OUTSIDE && f->blocks.edges[i].to == f->entry)
            return f->edges[i];
    return 0;
}

static void count_calls(struct run_counts *c)
{
    for (size_t i = 0; i < c->count; i++)
        c->functions[i].calls = 0;
    for (size_t i = 0; i < c->count; i++) {
        const struct counted_function *f = &c->functions[i];
        for (uint32_t k = 0; k < f->blocks.call_count; k++) {
            struct counted_function *to = run_counts_at(c, f->image, f->blocks.calls[k].target);
            if (to && to != f)
                to->calls += f->counts[f->blocks.blocks[f->blocks.calls[k].insn]];
        }
    }
    for (size_t i = 0; i < c->count; i++)
        c->functions[i].entered = fmax(entered(&c->functions[i]), c->functions[i].calls);
    indirect_calls_count(c);
    for (size_t i = 0; i < c->indirect_count; i++) {
        struct counted_function *to = &c->functions[c->indirect[i].callee];
        to->calls += c->indirect[i].count;
        to->entered = fmax(to->entered, to->calls);
    }
}

/* 0 or -ENOMEM. */
static int count_function(struct counted_function *f, uint64_t *work)
{
    const struct block_samples samples = {f->weight, f->entry, f->calls};
    const uint64_t share = *work / WORK_SHARE;
    uint64_t left = share;
    const int rc = block_counts_find(&f->blocks, &samples, f->counts, f->edges, &left);
    *work -= share - left;
    f->rough = rc > 0;
    f->known = f->calls;
    return rc < 0 ? rc : 0;
}

static int count_runs(struct run_counts *c, const struct log *log, struct fathom_error *err)
{
    uint64_t work = WORK_MOST;
    size_t rough = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < c->count; i++)
            if ((round == 0 || c->functions[i].calls != c->functions[i].known) &&
                count_function(&c->functions[i], &work) < 0)
                return error_memory(err);
        count_calls(c);
    }
    for (size_t i = 0; i < c->count; i++)
        rough += c->functions[i].rough;
    if (rough)
        log_write(log, LOG_WARNING,
                  "counts are rough of functions of very many blocks, as the nearest to their samples would "
                  "take too long: %zu",
                  rough);
    return 0;
}

/* More samples of an instruction must mean that it ran more often or took longer. For raw and PMU-specific events only the user knows. */
static int check_event(const struct event *event, const struct log *log, struct fathom_error *err)
{
    const struct perf_event_attr *attr = &event->attr;
    const bool known = attr->type != PERF_TYPE_RAW && attr->type < PERF_TYPE_MAX;
    const uint32_t hardware = attr->type == PERF_TYPE_HARDWARE ? (uint32_t)attr->config : UINT32_MAX;
    if (attr_is_clock(attr) || hardware == PERF_COUNT_HW_CPU_CYCLES ||
        hardware == PERF_COUNT_HW_REF_CPU_CYCLES || hardware == PERF_COUNT_HW_INSTRUCTIONS)
        return 0;
    if (known)
        return error_set(err, EINVAL,
                         "%s counts neither time nor instructions, which profiles for compilers are made of: "
                         "record a clock, cycles or instructions, or choose one with --event",
                         event->name);
    log_write(log, LOG_WARNING,
              "%s is taken to count time or instructions: if it does not, the profile is of no use",
              event->name);
    return 0;
}

int run_counts_find(const struct report *report, struct run_counts *out, struct fathom_error *err)
{
    struct run_samples samples = {0};
    *out = (struct run_counts){0};
    int rc = check_event(report->contexts->metrics->event, report->log, err);
    rc = rc == 0 ? find_samples(&samples, report->contexts, err) : rc;
    if (rc == 0 && !samples.count)
        rc = error_set(
            err, ENOENT,
            "no function was sampled on a CPU, of which a profile for compilers could tell: does --image "
            "name a file that was sampled, and is that still the recorded build? If so, record a "
            "clock or cycles");
    rc = rc == 0 ? add_functions(out, &samples, err) : rc;
    free(samples.items);
    rc = rc == 0 ? indirect_calls_find(report->contexts, out, err) : rc;
    return rc == 0 ? count_runs(out, report->log, err) : rc;
}

void run_counts_clear(struct run_counts *c)
{
    for (size_t i = 0; i < c->count; i++) {
        blocks_free(&c->functions[i].blocks);
        free(c->functions[i].weight);
        free(c->functions[i].counts);
        free(c->functions[i].edges);
    }
    free(c->functions);
    free(c->indirect);
    *c = (struct run_counts){0};
}
