/*
 * source_counts.c - see source_counts.h.
 */
#include "report/export/source_counts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/saturate.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/text.h"
#include "base/vec.h"
#include "image/cache.h"

#define NAME_MOST 4096u /* bytes; C++ has names of a thousand */

/* Numbers of up to 12 bits as LLVM packs them into discriminators (llvm/IR/DebugInfoMetadata.h, getUnsignedFromPrefixEncoding()). */
static uint32_t unpack(uint32_t packed)
{
    if (packed & 1)
        return 0;
    packed >>= 1;
    return packed & 0x20 ? (packed >> 1 & 0xfe0) | (packed & 0x1f) : packed & 0x1f;
}

static uint32_t next_component(uint32_t packed)
{
    return packed & 1 ? packed >> 1 : packed >> (packed & 0x40 ? 14 : 7);
}

/* Number of copies that the compiler made of an instruction, e.g. to unroll a loop: each copy runs that many times less often. */
static uint32_t duplication_factor(uint32_t discriminator)
{
    const uint32_t factor = unpack(next_component(discriminator));
    return factor ? factor : 1;
}

struct source_place source_place_of(const struct source_counts *c, const struct line_frame *f)
{
    const uint32_t d = c->compiler == SOURCE_LLVM ? unpack(f->discriminator) : f->discriminator;
    return (struct source_place){(f->line - f->start) & 0xffff, d};
}

static uint64_t key_of(uint64_t parent, struct source_place at, uint64_t name)
{
    return hash_u64(hash_u64(parent + hash_u64(name)) + ((uint64_t)at.offset << 32 | at.discriminator));
}

int source_counts_begin(struct source_counts *c, enum source_compiler compiler, const struct log *log,
                        struct fathom_error *err)
{
    *c = (struct source_counts){.compiler = compiler,
                                .log = log,
                                .names = names_new(),
                                .function_of = table_new(),
                                .line_of = table_new()};
    return c->names && c->function_of && c->line_of ? 0 : error_memory(err);
}

void source_counts_clear(struct source_counts *c)
{
    names_free(c->names);
    table_free(c->function_of);
    table_free(c->line_of);
    free(c->functions);
    free(c->lines);
    free(c->targets);
    free(c->order);
}

uint32_t source_counts_function(struct source_counts *c, uint32_t parent, struct source_place at,
                                const char *name)
{
    const uint32_t number = names_intern(c->names, name);
    if (number == NAMES_NONE)
        return SOURCE_FUNCTION_NONE;
    return (uint32_t)table_index(c->function_of, key_of(parent, at, number), c->functions, c->function_count,
                                 c->function_capacity,
                                 (struct source_function){.name = number, .parent = parent, .at = at});
}

static void sum_up(struct source_line *line)
{
    line->count = add_saturating(line->count, line->most);
    line->most = 0;
}

/* false: out of memory. */
static bool count_line(struct source_counts *c, uint32_t function, struct source_place at, uint64_t count)
{
    size_t place = table_index(c->line_of, key_of(function, at, UINT64_MAX), c->lines, c->line_count,
                               c->line_capacity, (struct source_line){.function = function, .at = at});
    if (place == SIZE_MAX)
        return false;
    struct source_line *line = &c->lines[place];
    if (line->added != c->added)
        sum_up(line);
    line->added = c->added;
    line->most = line->most > count ? line->most : count;
    return true;
}

/* Whether readers of text profiles can parse a name: they split lines, places and calls at these characters, and a digit begins a count. */
static bool is_readable(const char *name)
{
    return strlen(name) <= NAME_MOST && *name != '#' && !(*name >= '0' && *name <= '9') &&
           !name[strcspn(name, ":@[]")] && text_is_word(name);
}

int source_counts_frames(struct source_counts *c, uint32_t parent, struct source_place at,
                         const struct line_frame *frames, size_t count, uint32_t *out)
{
    for (size_t i = count; i-- > 0;) {
        if (!frames[i].linkage || !frames[i].start)
            return 1;
        if (!is_readable(frames[i].linkage)) {
            c->unreadable++;
            return 1;
        }
        parent = source_counts_function(c, parent, at, frames[i].linkage);
        if (parent == SOURCE_FUNCTION_NONE)
            return -ENOMEM;
        at = source_place_of(c, &frames[i]);
    }
    *out = parent;
    return 0;
}

/* Adds an instruction with its count. 0 or -ENOMEM. */
static int add_instruction(struct source_counts *c, uint32_t parent, struct source_place at,
                           const struct line_frame *frames, size_t count, double ran)
{
    uint32_t function;
    const double copied =
        c->compiler == SOURCE_LLVM ? ran * duplication_factor(frames[0].discriminator) : ran;
    int rc = source_counts_frames(c, parent, at, frames, count, &function);
    if (rc != 0 || !frames[0].line)
        return rc < 0 ? rc : 0;
    return count_line(c, function, source_place_of(c, &frames[0]), copied > 1 ? count_saturating(copied) : 1)
               ? 0
               : -ENOMEM;
}

/* Only the outermost function gets the number of entries. */
static int add_entry(struct source_counts *c, uint32_t parent, struct source_place at, struct lines *lines,
                     const struct counted_function *f, double scale)
{
    struct line_frame frames[SOURCE_DEPTH_MOST];
    uint32_t function;
    const size_t count =
        lines_at(lines, image_function(f->image, f->function)->address, frames, SOURCE_DEPTH_MOST);
    if (!count)
        return 0;
    int rc = source_counts_frames(c, parent, at, &frames[count - 1], 1, &function);
    if (rc == 0)
        c->functions[function].head =
            add_saturating(c->functions[function].head, count_saturating(f->entered * scale));
    return rc < 0 ? rc : 0;
}

/* Adds the targets of indirect calls. Several instructions may have the same target. */
static int add_targets(struct source_counts *c, uint32_t parent, struct source_place at, struct lines *lines,
                       const struct run_counts *runs, const struct counted_function *f, double scale)
{
    const uint32_t caller = (uint32_t)(f - runs->functions);
    size_t i = lower_bound(k, (size_t)0, runs->indirect_count, runs->indirect[k].caller < caller);
    for (; i < runs->indirect_count && runs->indirect[i].caller == caller; i++) {
        const struct indirect_call *call = &runs->indirect[i];
        const struct counted_function *to = &runs->functions[call->callee];
        const char *symbol = image_function(to->image, to->function)->name;
        struct line_frame frames[SOURCE_DEPTH_MOST];
        struct source_target target = {.count = count_saturating(call->count * scale)};
        const size_t count = lines_at(lines, f->blocks.addresses[call->insn], frames, SOURCE_DEPTH_MOST);
        const int rc = count ? source_counts_frames(c, parent, at, frames, count, &target.function) : 1;
        if (rc < 0)
            return rc;
        if (rc > 0 || !symbol || !is_readable(symbol) || !target.count)
            continue;
        target.at = source_place_of(c, &frames[0]);
        target.name = names_intern(c->names, symbol);
        if (target.name == NAMES_NONE || !vec_push(c->targets, c->target_count, c->target_capacity, target))
            return -ENOMEM;
    }
    return 0;
}

int source_counts_add(struct source_counts *c, uint32_t parent, struct source_place at, struct lines *lines,
                      const struct run_counts *runs, const struct counted_function *f, double scale)
{
    c->added++;
    int rc = add_entry(c, parent, at, lines, f, scale);
    for (uint32_t i = 0; rc == 0 && i < f->blocks.count; i++) {
        struct line_frame frames[SOURCE_DEPTH_MOST];
        const double ran = f->counts[f->blocks.blocks[i]] * scale;
        const size_t count = ran > 0 ? lines_at(lines, f->blocks.addresses[i], frames, SOURCE_DEPTH_MOST) : 0;
        rc = count ? add_instruction(c, parent, at, frames, count, ran) : 0;
    }
    return rc == 0 ? add_targets(c, parent, at, lines, runs, f, scale) : rc;
}

static int compare_places(struct source_place a, struct source_place b)
{
    return order_of(a.offset, b.offset) ?: order_of(a.discriminator, b.discriminator);
}

static int compare_within(uint32_t f, struct source_place a, uint32_t g, struct source_place b)
{
    return order_of(f, g) ?: compare_places(a, b);
}

static int compare_lines(const void *a, const void *b)
{
    const struct source_line *x = a, *y = b;
    return compare_within(x->function, x->at, y->function, y->at);
}

/* By the function they are inlined into, those without one last, these the heaviest first. */
static int compare_functions(const void *a, const void *b, void *counts)
{
    const struct source_counts *c = counts;
    const uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    const struct source_function *x = &c->functions[i], *y = &c->functions[j];
    return order_of(x->parent, y->parent)
           ?: (x->parent == SOURCE_FUNCTION_NONE ? 0 : compare_places(x->at, y->at))
           ?: order_of(y->total, x->total)
           ?: strcmp(names_text(c->names, x->name), names_text(c->names, y->name));
}

static int by_name(const void *a, const void *b)
{
    const struct source_target *x = a, *y = b;
    return compare_within(x->function, x->at, y->function, y->at) ?: order_of(x->name, y->name);
}

static int by_count(const void *a, const void *b)
{
    const struct source_target *x = a, *y = b;
    return compare_within(x->function, x->at, y->function, y->at) ?: order_of(y->count, x->count)
           ?: order_of(x->name, y->name);
}

static void join_targets(struct source_counts *c)
{
    size_t kept = 0;
    if (!c->target_count)
        return;
    qsort(c->targets, c->target_count, sizeof *c->targets, by_name);
    for (size_t i = 0; i < c->target_count; i++) {
        if (kept && by_name(&c->targets[kept - 1], &c->targets[i]) == 0)
            c->targets[kept - 1].count = add_saturating(c->targets[kept - 1].count, c->targets[i].count);
        else
            c->targets[kept++] = c->targets[i];
    }
    c->target_count = kept;
    qsort(c->targets, kept, sizeof *c->targets, by_count);
}

int source_counts_end(struct source_counts *c, struct fathom_error *err)
{
    if (c->unreadable)
        log_write(c->log, LOG_WARNING,
                  "code is left out, as readers of profiles would not find the name of its function again, "
                  "which is empty, very long, or has spaces, control characters or one of "
                  "':@[]': %llu instructions and calls",
                  (unsigned long long)c->unreadable);
    c->order = calloc(c->function_count + 1, sizeof *c->order);
    if (!c->order)
        return error_memory(err);
    if (!c->line_count && c->unreadable)
        return error_set(err, ENOENT,
                         "no sampled function with debug information has a name that readers of profiles "
                         "would find again");
    if (!c->line_count)
        return error_set(
            err, ENOENT,
            "no sampled function has debug information with lines, by which a compiler finds it "
            "again: build with -gline-tables-only -fdebug-info-for-profiling (gcc: -g1) and record again, or "
            "install its debug symbols");
    for (size_t i = 0; i < c->line_count; i++) {
        sum_up(&c->lines[i]);
        struct source_function *of = &c->functions[c->lines[i].function];
        of->total = add_saturating(of->total, c->lines[i].count);
    }
    for (size_t i = c->function_count; i-- > 0;) {
        const struct source_function *of = &c->functions[i];
        if (of->parent != SOURCE_FUNCTION_NONE)
            c->functions[of->parent].total = add_saturating(c->functions[of->parent].total, of->total);
        c->order[i] = (uint32_t)i;
    }
    qsort_r(c->order, c->function_count, sizeof *c->order, compare_functions, c);
    qsort(c->lines, c->line_count, sizeof *c->lines, compare_lines);
    join_targets(c);
    return 0;
}

size_t source_counts_children(const struct source_counts *c, uint32_t function, size_t *first)
{
    const size_t count = c->function_count;
    *first = lower_bound(i, (size_t)0, count, c->functions[c->order[i]].parent < function);
    size_t end = *first;
    while (end < count && c->functions[c->order[end]].parent == function)
        end++;
    return end - *first;
}

size_t source_counts_targets(const struct source_counts *c, const struct source_line *line, size_t *first)
{
    const struct source_target *t = c->targets;
    *first = lower_bound(i, (size_t)0, c->target_count,
                         compare_within(t[i].function, t[i].at, line->function, line->at) < 0);
    size_t end = *first;
    while (end < c->target_count && compare_within(t[end].function, t[end].at, line->function, line->at) == 0)
        end++;
    return end - *first;
}

size_t source_counts_lines(const struct source_counts *c, uint32_t function, size_t *first)
{
    *first = lower_bound(i, (size_t)0, c->line_count, c->lines[i].function < function);
    size_t end = *first;
    while (end < c->line_count && c->lines[end].function == function)
        end++;
    return end - *first;
}

int source_counts_find(const struct report *report, enum source_compiler compiler, struct source_counts *out,
                       struct fathom_error *err)
{
    struct run_counts runs = {0};
    int rc = source_counts_begin(out, compiler, report->log, err);
    rc = rc == 0 ? run_counts_find(report, &runs, err) : rc;
    for (size_t i = 0; rc == 0 && i < runs.count; i++) {
        const struct counted_function *f = &runs.functions[i];
        struct lines *lines = image_cache_lines(report->view->images, f->image, IMAGE_LINES_ANY);
        if (lines &&
            source_counts_add(out, SOURCE_FUNCTION_NONE, (struct source_place){0}, lines, &runs, f, 1) < 0)
            rc = error_memory(err);
    }
    run_counts_clear(&runs);
    return rc == 0 ? source_counts_end(out, err) : rc;
}
