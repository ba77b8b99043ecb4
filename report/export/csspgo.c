/*
 * csspgo.c - see export.h. A context-sensitive sample profile for LLVM (llvm/ProfileData/SampleProfReader.h, "text", with contexts): how
 * often each function's lines ran, by the calls that led to it: "[main:3 @ f:1.2 @ g]". Inlined functions are contexts too.
 *
 * A context begins after the innermost call whose place is unknown or not sure. A function's counts (block_counts.h) are divided among its
 * contexts by their samples; contexts with few samples are written without callers.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/saturate.h"
#include "base/vec.h"
#include "image/cache.h"
#include "report/export/export.h"
#include "report/export/source_counts.h"

#define SURE       0.9f /* minimum certainty of a path */
#define CALLS_MOST 32u  /* of a context: only the innermost calls */
#define PART_LEAST 5e-4 /* minimum share of the whole weight for a context with callers */

struct context {
    const struct cct_node *node; /* of the function; NULL: its callers are uncertain */
    struct counted_function *function;
    double weight;
};

struct call_place {
    const struct image *image;
    uint64_t address;
};

struct csspgo {
    const struct report *report;
    struct run_counts runs;
    struct source_counts counts;
    struct table *of_node; /* hash of node and function -> place in `contexts` + 1 */
    struct context *contexts;
    size_t count, capacity;
    double total;
};

static const struct frame *frame_of(const struct csspgo *s, const struct cct_node *node)
{
    return frames_at(s->report->contexts->frames, node->item);
}

/* The function in which a sample's path ends. NULL: unknown. */
static const struct cct_node *function_node(const struct csspgo *s, const struct cct_node *node)
{
    while (cct_parent(node) && frame_of(s, node)->kind == FRAME_PLACE)
        node = cct_parent(node);
    return cct_parent(node) && frame_of(s, node)->kind == FRAME_FUNCTION ? node : NULL;
}

static struct context *context_of(struct csspgo *s, const struct cct_node *node, struct counted_function *f)
{
    size_t place = table_index(s->of_node, hash_u64((uintptr_t)node) + (uintptr_t)f, s->contexts, s->count,
                               s->capacity, (struct context){node, f, 0});
    return place == SIZE_MAX ? NULL : &s->contexts[place];
}

static int find_contexts(struct csspgo *s, struct fathom_error *err)
{
    const struct contexts *c = s->report->contexts;
    for (size_t i = 0; i < c->sample_count; i++) {
        const struct placed_sample *p = &c->samples[i];
        struct counted_function *f = p->image ? run_counts_in(&s->runs, p->image, p->address) : NULL;
        if (!f || p->wait)
            continue;
        const struct cct_node *node = p->probability >= SURE ? function_node(s, p->node) : NULL;
        struct context *context = context_of(s, node, f);
        if (!context)
            return error_memory(err);
        const double weight = (double)c->sample_values[i * c->metrics->count];
        context->weight += weight;
        s->total += weight;
    }
    return 0;
}

/* Finds the calls that led to a function, innermost first. Returns their number. */
static size_t find_calls(const struct csspgo *s, const struct cct_node *node,
                         struct call_place out[CALLS_MOST])
{
    size_t count = 0;
    while (count < CALLS_MOST && cct_parent(node) && cct_parent(cct_parent(node))) {
        const struct cct_node *call = cct_parent(node), *caller = cct_parent(call);
        const struct frame *place = frame_of(s, call);
        if (place->kind != FRAME_PLACE || frame_of(s, caller)->kind != FRAME_FUNCTION)
            break;
        out[count] = (struct call_place){run_counts_image(&s->runs, place->image), place->address};
        if (!out[count].image)
            break;
        count++;
        node = caller;
    }
    return count;
}

/* Sets the function and place that the calls lead to, as far as debug information has their lines. 0 or -ENOMEM. */
static int add_calls(struct csspgo *s, const struct call_place *calls, size_t count, uint32_t *parent,
                     struct source_place *at)
{
    while (count--) {
        struct line_frame frames[SOURCE_DEPTH_MOST];
        struct lines *lines = image_cache_lines(s->report->view->images, calls[count].image, IMAGE_LINES_ANY);
        const size_t depth = lines ? lines_at(lines, calls[count].address, frames, SOURCE_DEPTH_MOST) : 0;
        const int rc = depth ? source_counts_frames(&s->counts, *parent, *at, frames, depth, parent) : 1;
        if (rc < 0)
            return rc;
        if (rc > 0)
            *parent = SOURCE_FUNCTION_NONE;
        *at = rc > 0 ? (struct source_place){0} : source_place_of(&s->counts, &frames[0]);
    }
    return 0;
}

static int add_context(struct csspgo *s, const struct context *context, struct fathom_error *err)
{
    const struct counted_function *f = context->function;
    struct call_place calls[CALLS_MOST];
    struct lines *lines = image_cache_lines(s->report->view->images, f->image, IMAGE_LINES_ANY);
    uint32_t parent = SOURCE_FUNCTION_NONE;
    struct source_place at = {0};
    if (!lines || !(f->sampled > 0))
        return 0;
    const size_t count =
        !context->node || context->weight < s->total * PART_LEAST ? 0 : find_calls(s, context->node, calls);
    int rc = add_calls(s, calls, count, &parent, &at);
    if (rc == 0)
        rc = source_counts_add(&s->counts, parent, at, lines, &s->runs, f, context->weight / f->sampled);
    return rc < 0 ? error_memory(err) : 0;
}

static void write_context(struct printer *p, const struct source_counts *c, uint32_t function)
{
    const struct source_function *f = &c->functions[function];
    if (f->parent != SOURCE_FUNCTION_NONE) {
        write_context(p, c, f->parent);
        printer_write(p, f->at.discriminator ? ":%u.%u @ " : ":%u @ ", f->at.offset, f->at.discriminator);
    }
    printer_write(p, "%s", names_text(c->names, f->name));
}

static void write_function(struct printer *p, const struct source_counts *c, uint32_t function)
{
    const struct source_function *f = &c->functions[function];
    size_t first, lines = source_counts_lines(c, function, &first);
    uint64_t total = 0;
    for (size_t i = first; i < first + lines; i++)
        total = add_saturating(total, c->lines[i].count);
    if (!lines)
        return;
    printer_write(p, "[");
    write_context(p, c, function);
    printer_write(p, "]:%llu:%llu\n", (unsigned long long)total, (unsigned long long)f->head);
    for (size_t i = first; i < first + lines; i++)
        autofdo_line(p, c, &c->lines[i], 1);
}

int csspgo_write(const struct report *report, FILE *out, struct fathom_error *err)
{
    struct csspgo s = {.report = report, .of_node = table_new()};
    struct printer p = {.out = out};
    int rc = source_counts_begin(&s.counts, SOURCE_LLVM, report->log, err);
    if (rc == 0 && !s.of_node)
        rc = error_memory(err);
    rc = rc == 0 ? run_counts_find(report, &s.runs, err) : rc;
    rc = rc == 0 ? find_contexts(&s, err) : rc;
    for (size_t i = 0; rc == 0 && i < s.count; i++)
        rc = add_context(&s, &s.contexts[i], err);
    rc = rc == 0 ? source_counts_end(&s.counts, err) : rc;
    for (size_t i = 0; rc == 0 && i < s.counts.function_count; i++)
        write_function(&p, &s.counts, s.counts.order[i]);
    run_counts_clear(&s.runs);
    source_counts_clear(&s.counts);
    table_free(s.of_node);
    free(s.contexts);
    return rc == 0 ? printer_finish(&p, err) : rc;
}
