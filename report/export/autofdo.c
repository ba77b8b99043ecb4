/*
 * autofdo.c - see export.h. A sample profile as LLVM reads it (llvm/ProfileData/SampleProfReader.h, "text"): of each function how often its lines ran, by their offset from its own and by discriminator,
 * with the functions that were inlined into it.
 *
 * Without branch records, samples tell time: an instruction that takes long has many of them. The instructions of a basic block run equally often, so each is taken to have run as
 * often as the mean of its block says, and a line as often as the most of its instructions did.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/saturate.h"
#include "base/search.h"
#include "base/vec.h"
#include "image/blocks.h"
#include "image/cache.h"
#include "image/lines/lines.h"
#include "report/export/export.h"
#include "report/text/printer.h"

#define DEPTH_MOST 64u /* of functions inlined into one another */

/* A place in a function, as LLVM tells it (DILocation::getBaseDiscriminator()). */
struct location {
    uint32_t offset, discriminator;
};

/* A function, or one inlined at a place of another. */
struct fdo_function {
    uint32_t name;   /* in `names` */
    uint32_t parent; /* the one that it is inlined into; UINT32_MAX: none */
    struct location at;
    uint64_t total, head;
};

struct fdo_line {
    uint32_t function;
    struct location at;
    uint64_t count;
};

/* The samples of a function of an image. */
struct sampled {
    const struct image *image;
    struct blocks_reader *reader; /* of that */
    uint32_t function;
    size_t first, count; /* in `samples` */
};

struct fdo_sample {
    const struct image *image;
    uint64_t address, weight;
    uint32_t function;
};

struct fdo {
    const struct report *report;
    struct printer printer;
    struct fdo_sample *samples; /* by function */
    size_t sample_count, sample_capacity;
    struct names *names;
    struct table *function_of, *line_of; /* hashes of what they are -> place + 1 */
    struct fdo_function *functions;      /* inlined ones behind those that they are inlined into */
    size_t function_count, function_capacity;
    struct fdo_line *lines;
    size_t line_count, line_capacity;
};

/* Numbers of up to 12 bits as LLVM packs them into discriminators (llvm/IR/DebugInfoMetadata.h, getUnsignedFromPrefixEncoding()). */
static uint32_t unpack(uint32_t packed)
{
    if (packed & 1)
        return 0;
    packed >>= 1;
    return packed & 0x20 ? (packed >> 1 & 0xfe0) | (packed & 0x1f) : packed & 0x1f;
}

static uint32_t behind(uint32_t packed)
{
    return packed & 1 ? packed >> 1 : packed >> (packed & 0x40 ? 14 : 7);
}

/* How often the compiler copied it, as where it unrolled a loop: each copy runs so many times less often. */
static uint32_t copies(uint32_t discriminator)
{
    const uint32_t factor = unpack(behind(discriminator));
    return factor ? factor : 1;
}

static struct location place_of(const struct line_frame *f)
{
    return (struct location){(f->line - f->start) & 0xffff, unpack(f->discriminator)};
}

static uint64_t key_of(uint64_t parent, struct location at, uint64_t name)
{
    return hash_u64(hash_u64(parent + hash_u64(name)) + ((uint64_t)at.offset << 32 | at.discriminator));
}

/* NULL: out of memory. */
static struct fdo_function *function_at(struct fdo *f, uint32_t parent, struct location at, const char *name)
{
    const uint32_t number = names_intern(f->names, name);
    uint64_t *place =
        number == NAMES_NONE ? NULL : table_put(f->function_of, key_of(parent, at, number), NULL);
    if (place && *place == 0 &&
        vec_push(f->functions, f->function_count, f->function_capacity,
                 (struct fdo_function){.name = number, .parent = parent, .at = at}))
        *place = f->function_count;
    return place && *place ? &f->functions[*place - 1] : NULL;
}

/* false: out of memory. */
static bool count_line(struct fdo *f, uint32_t function, struct location at, uint64_t count)
{
    uint64_t *place = table_put(f->line_of, key_of(function, at, UINT64_MAX), NULL);
    if (place && *place == 0 &&
        vec_push(f->lines, f->line_count, f->line_capacity, (struct fdo_line){function, at, 0}))
        *place = f->line_count;
    if (!place || !*place)
        return false;
    struct fdo_line *line = &f->lines[*place - 1];
    line->count = line->count > count ? line->count : count;
    return true;
}

/* An instruction that ran so often. head: it is its function's first. false: out of memory. */
static bool add_instruction(struct fdo *f, const struct line_frame *frames, size_t count, double ran,
                            bool head)
{
    uint32_t parent = UINT32_MAX;
    struct location at = {0};
    for (size_t i = count; i-- > 0;) {
        const struct line_frame *frame = &frames[i];
        if (!frame->linkage || !frame->start)
            return true; /* it has no debug information that a compiler would look for */
        struct fdo_function *function = function_at(f, parent, at, frame->linkage);
        if (!function)
            return false;
        if (head && parent == UINT32_MAX && (uint64_t)ran > function->head)
            function->head = (uint64_t)ran;
        parent = (uint32_t)(function - f->functions);
        at = place_of(frame);
    }
    const double counted = ran * copies(frames[0].discriminator);
    return !frames[0].line || count_line(f, parent, at, counted > 1 ? (uint64_t)counted : 1);
}

/* A function with its samples. */
static int add_function(struct fdo *f, const struct sampled *s, struct fathom_error *err)
{
    struct lines *lines = image_cache_lines(f->report->view->images, s->image, IMAGE_LINES_ANY);
    struct blocks blocks = {0};
    if (!lines)
        return 0;
    int rc = blocks_read(s->reader, s->function, &blocks);
    double *weight = calloc((size_t)blocks.block_count + 1, sizeof *weight),
           *length = calloc((size_t)blocks.block_count + 1, sizeof *length);
    if (rc < 0 || !weight || !length)
        rc = error_memory(err);
    for (size_t i = 0; rc == 0 && i < s->count; i++) {
        const uint32_t at = blocks_find(&blocks, f->samples[s->first + i].address);
        if (at != UINT32_MAX)
            weight[blocks.blocks[at]] += (double)f->samples[s->first + i].weight;
    }
    for (uint32_t i = 0; rc == 0 && i < blocks.count; i++)
        length[blocks.blocks[i]]++;
    const uint64_t entry = image_function(s->image, s->function)->address;
    for (uint32_t i = 0; rc == 0 && i < blocks.count; i++) {
        struct line_frame frames[DEPTH_MOST];
        const double ran = weight[blocks.blocks[i]] / length[blocks.blocks[i]];
        const size_t count = ran > 0 ? lines_at(lines, blocks.addresses[i], frames, DEPTH_MOST) : 0;
        if (count && !add_instruction(f, frames, count, ran, blocks.addresses[i] == entry))
            rc = error_memory(err);
    }
    free(weight);
    free(length);
    blocks_free(&blocks);
    return rc;
}

static int compare_samples(const void *a, const void *b)
{
    const struct fdo_sample *x = a, *y = b;
    if (x->image != y->image)
        return (uintptr_t)x->image < (uintptr_t)y->image ? -1 : 1;
    return (x->function > y->function) - (x->function < y->function);
}

static int find_samples(struct fdo *f, struct fathom_error *err)
{
    const struct contexts *c = f->report->contexts;
    for (size_t i = 0; i < c->sample_count; i++) {
        const struct placed_sample *s = &c->samples[i];
        const uint64_t weight = c->sample_values[i * c->metrics->count];
        const uint32_t function = s->image ? image_function_at(s->image, s->address) : IMAGE_NO_FUNCTION;
        if (!weight || s->wait || function == IMAGE_NO_FUNCTION)
            continue;
        if (!vec_push(f->samples, f->sample_count, f->sample_capacity,
                      (struct fdo_sample){s->image, s->address, weight, function}))
            return error_memory(err);
    }
    if (f->sample_count)
        qsort(f->samples, f->sample_count, sizeof *f->samples, compare_samples);
    return 0;
}

static int add_functions(struct fdo *f, struct fathom_error *err)
{
    struct sampled s = {0};
    int rc = 0;
    for (; rc == 0 && s.first < f->sample_count; s.first += s.count) {
        const struct fdo_sample *samples = f->samples + s.first;
        if (samples->image != s.image) {
            blocks_close(s.reader);
            s.reader = blocks_open(samples->image);
        }
        s.image = samples->image;
        s.function = samples->function;
        for (s.count = 1;
             s.first + s.count < f->sample_count && compare_samples(samples, &samples[s.count]) == 0;)
            s.count++;
        rc = s.reader ? add_function(f, &s, err) : error_memory(err);
    }
    blocks_close(s.reader);
    return rc;
}

static int compare_places(struct location a, struct location b)
{
    if (a.offset != b.offset)
        return a.offset < b.offset ? -1 : 1;
    return (a.discriminator > b.discriminator) - (a.discriminator < b.discriminator);
}

static int compare_lines(const void *a, const void *b)
{
    const struct fdo_line *x = a, *y = b;
    return x->function != y->function ? (x->function < y->function ? -1 : 1) : compare_places(x->at, y->at);
}

/* By what they are inlined into, those in none last; these with the heaviest first. */
static int compare_functions(const void *a, const void *b, void *fdo)
{
    const struct fdo *f = fdo;
    const uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    const struct fdo_function *x = &f->functions[i], *y = &f->functions[j];
    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    if (x->parent != UINT32_MAX && compare_places(x->at, y->at))
        return compare_places(x->at, y->at);
    if (x->total != y->total)
        return x->total > y->total ? -1 : 1;
    return strcmp(names_text(f->names, x->name), names_text(f->names, y->name));
}

static void write_place(struct fdo *f, unsigned depth, struct location at)
{
    printer_write(&f->printer, at.discriminator ? "%*s%u.%u: " : "%*s%u: ", depth, "", at.offset,
                  at.discriminator);
}

/* order: of all, as compare_functions() has them. */
static void write_function(struct fdo *f, const uint32_t *order, uint32_t function, unsigned depth)
{
    const struct fdo_line *lines = f->lines;
    size_t first = lower_bound(i, (size_t)0, f->line_count, lines[i].function < function);
    for (; first < f->line_count && lines[first].function == function; first++) {
        write_place(f, depth, lines[first].at);
        printer_write(&f->printer, "%llu\n", (unsigned long long)lines[first].count);
    }
    size_t next = lower_bound(i, (size_t)0, f->function_count, f->functions[order[i]].parent < function);
    for (; next < f->function_count && f->functions[order[next]].parent == function; next++) {
        const struct fdo_function *inlined = &f->functions[order[next]];
        write_place(f, depth, inlined->at);
        printer_write(&f->printer, "%s:%llu\n", names_text(f->names, inlined->name),
                      (unsigned long long)inlined->total);
        write_function(f, order, order[next], depth + 1);
    }
}

static int write_profile(struct fdo *f, struct fathom_error *err)
{
    uint32_t *order = calloc(f->function_count + 1, sizeof *order);
    if (!order)
        return error_memory(err);
    for (size_t i = 0; i < f->line_count; i++) {
        struct fdo_function *of = &f->functions[f->lines[i].function];
        of->total = add_saturating(of->total, f->lines[i].count);
    }
    for (size_t i = f->function_count; i-- > 0;) {
        const struct fdo_function *of = &f->functions[i];
        if (of->parent != UINT32_MAX)
            f->functions[of->parent].total = add_saturating(f->functions[of->parent].total, of->total);
        order[i] = (uint32_t)i;
    }
    qsort_r(order, f->function_count, sizeof *order, compare_functions, f);
    if (f->line_count)
        qsort(f->lines, f->line_count, sizeof *f->lines, compare_lines);
    for (size_t i = 0; i < f->function_count; i++) {
        const struct fdo_function *of = &f->functions[order[i]];
        if (of->parent != UINT32_MAX || !of->total)
            continue;
        printer_write(&f->printer, "%s:%llu:%llu\n", names_text(f->names, of->name),
                      (unsigned long long)of->total, (unsigned long long)of->head);
        write_function(f, order, order[i], 1);
    }
    free(order);
    return printer_finish(&f->printer, err);
}

int autofdo_write(const struct report *report, FILE *out, struct fathom_error *err)
{
    struct fdo f = {.report = report,
                    .printer = {.out = out},
                    .names = names_new(),
                    .function_of = table_new(),
                    .line_of = table_new()};
    int rc = f.names && f.function_of && f.line_of ? 0 : error_memory(err);
    if (rc == 0)
        rc = find_samples(&f, err);
    if (rc == 0)
        rc = add_functions(&f, err);
    if (rc == 0 && !f.line_count)
        rc = error_set(err, ENOENT,
                       "no sampled function has debug information with lines, by which a compiler finds it "
                       "again: build with "
                       "-gline-tables-only -fdebug-info-for-profiling, or install its debug symbols");
    if (rc == 0)
        rc = write_profile(&f, err);
    names_free(f.names);
    table_free(f.function_of);
    table_free(f.line_of);
    free(f.samples);
    free(f.functions);
    free(f.lines);
    return rc;
}
