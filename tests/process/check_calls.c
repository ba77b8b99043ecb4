/*
 * check_calls.c - holds the calls that image/calls/calls.h finds against those that ran: "check_calls FILE" unwinds
 * every stack dump of a recording and looks for the call site between each frame and its caller.
 *
 * Prints one line: frames, share with the right offset, with an open one, and with the function that was
 * called among the site's possible targets, where tail jumps may have replaced it. What does not fit is
 * listed on standard error, the most frequent first. Exits with 1 when the shares are below the limits that
 * the other arguments give in percent: "check_calls FILE OFFSETS TARGETS".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "image/calls/calls.h"
#include "perfdata/reader.h"
#include "process/unwind.h"

#define MAX_IMAGES 64

/* A call that ran. */
struct pair {
    struct image *image;  /* of the caller */
    uint64_t address;     /* to which it returns */
    struct image *called; /* image and function */
    uint32_t function;
    uint64_t offset; /* bytes */
    uint64_t count;
    const char *fault; /* NULL: as was found */
};

struct node {
    uint32_t image, function;
};

struct checker {
    struct image_cache *images;
    struct processes *processes;
    struct pair *pairs;
    size_t count, capacity;
    struct table *index; /* hash of a pair -> its number */
    struct calls *calls[MAX_IMAGES];
    struct image *image_of[MAX_IMAGES];
    uint32_t image_count;
    struct table *indirect; /* nodes that indirect calls may reach */
};

static struct unwind_frame frames[UNWIND_MAX_FRAMES];

static void fail(const struct fathom_error *err)
{
    fprintf(stderr, "check_calls: %s\n", err->text);
    exit(2);
}

static void *not_null(void *p)
{
    if (!p) {
        fprintf(stderr, "check_calls: out of memory\n");
        exit(2);
    }
    return p;
}

static void add(struct checker *c, const struct unwind_frame *callee, const struct unwind_frame *caller)
{
    struct pair pair = {caller->place.image,
                        caller->place.address,
                        callee->place.image,
                        callee->place.function,
                        caller->cfa - callee->cfa,
                        1,
                        NULL};
    uint64_t key =
        hash_u64((uintptr_t)pair.image ^
                 hash_u64(pair.address ^ hash_u64((uintptr_t)pair.called ^
                                                  hash_u64(pair.function ^ hash_u64(pair.offset)))));
    bool added;
    uint64_t *number = not_null(table_put(c->index, key, &added));
    if (!added) {
        c->pairs[*number].count++;
        return;
    }
    if (c->count == c->capacity) {
        c->capacity = c->capacity ? c->capacity * 2 : 1024;
        c->pairs = not_null(realloc(c->pairs, c->capacity * sizeof *c->pairs));
    }
    *number = c->count;
    c->pairs[c->count++] = pair;
}

static int see(void *context, const struct record *record, struct fathom_error *err)
{
    struct checker *c = context;
    if (record->kind != RECORD_SAMPLE)
        return processes_apply(c->processes, record, err);
    struct process *process = process_find(c->processes, record->sample.pid);
    if (!process || !record->sample.has_regs || !record->sample.stack)
        return 0;
    enum unwind_end end;
    size_t count = unwind_sample(process, &record->sample, frames, UNWIND_MAX_FRAMES, &end);
    for (size_t i = 0; i + 1 < count; i++)
        if (!frames[i + 1].interrupted && frames[i].place.function != IMAGE_NO_FUNCTION &&
            frames[i + 1].place.function != IMAGE_NO_FUNCTION)
            add(c, &frames[i], &frames[i + 1]);
    return 0;
}

/* --- Who may be called --- */

static uint64_t key_of(struct node node)
{
    return (uint64_t)node.image << 32 | node.function;
}

struct reached {
    struct table *seen;
    struct node *work;
    size_t count, capacity;
    bool indirect; /* a jump through a pointer is among the ways */
};

static void reach(struct reached *r, uint32_t image, uint32_t function)
{
    if (function == IMAGE_NO_FUNCTION)
        return;
    bool added;
    struct node node = {image, function};
    not_null(table_put(r->seen, key_of(node), &added));
    if (!added)
        return;
    if (r->count == r->capacity) {
        r->capacity = r->capacity ? r->capacity * 2 : 256;
        r->work = not_null(realloc(r->work, r->capacity * sizeof *r->work));
    }
    r->work[r->count++] = node;
}

/* A resolver is no target: what it may choose is. */
static void reach_choices(const struct checker *c, struct reached *r, uint32_t image, uint32_t resolver)
{
    const uint32_t *choices;
    size_t n = calls_taken_by(c->calls[image], resolver, &choices);
    for (size_t i = 0; i < n; i++)
        reach(r, image, choices[i]);
}

static void reach_symbol(const struct checker *c, struct reached *r, const char *symbol)
{
    for (uint32_t i = 0; i < c->image_count; i++) {
        bool resolver;
        uint32_t f = calls_export(c->calls[i], symbol, &resolver);
        if (f == IMAGE_NO_FUNCTION)
            continue;
        reach(r, i, f);
        if (resolver)
            reach_choices(c, r, i, f);
    }
}

static void reach_site(const struct checker *c, struct reached *r, uint32_t image,
                       const struct call_site *site)
{
    uint32_t target =
        site->target ? image_function_entry(c->image_of[image], site->target) : IMAGE_NO_FUNCTION;
    if (site->kind == CALL_IMPORT)
        reach_symbol(c, r, site->symbol);
    r->indirect |= site->kind == CALL_INDIRECT && !site->resolver;
    if (site->resolver)
        reach_choices(c, r, image, target);
    else
        reach(r, image, target);
}

/* Follows tail jumps from what has been reached. */
static void close_over(const struct checker *c, struct reached *r)
{
    while (r->count) {
        struct node node = r->work[--r->count];
        const struct call_site *sites;
        size_t n = calls_of(c->calls[node.image], node.function, &sites);
        for (size_t i = 0; i < n; i++)
            if (sites[i].tail)
                reach_site(c, r, node.image, &sites[i]);
    }
}

static void find_indirect(struct checker *c)
{
    struct reached r = {.seen = not_null(table_new())};
    for (uint32_t i = 0; i < c->image_count; i++) {
        const uint32_t *taken;
        size_t n = calls_taken(c->calls[i], &taken);
        for (size_t k = 0; k < n; k++)
            reach(&r, i, taken[k]);
        const char *const *symbols;
        n = calls_taken_symbols(c->calls[i], &symbols);
        for (size_t k = 0; k < n; k++)
            reach_symbol(c, &r, symbols[k]);
    }
    close_over(c, &r);
    free(r.work);
    c->indirect = r.seen;
}

static uint32_t image_number(const struct checker *c, const struct image *image)
{
    for (uint32_t i = 0; i < c->image_count; i++)
        if (c->image_of[i] == image)
            return i;
    return MAX_IMAGES;
}

/* --- The verdict --- */

enum verdict { RIGHT, OPEN, NO_SITE, OTHER_OFFSET, VERDICTS };

static enum verdict judge_offset(const struct call_site *site, const struct pair *pair)
{
    if (!site)
        return NO_SITE;
    if (site->open)
        return OPEN;
    return pair->offset == (uint64_t)site->offset ? RIGHT : OTHER_OFFSET;
}

static bool may_call(const struct checker *c, uint32_t image, const struct call_site *site,
                     const struct pair *pair)
{
    struct reached r = {.seen = not_null(table_new())};
    reach_site(c, &r, image, site);
    close_over(c, &r);
    uint64_t called = key_of((struct node){image_number(c, pair->called), pair->function});
    bool may = table_find(r.seen, called) || (r.indirect && table_find(c->indirect, called));
    table_free(r.seen);
    free(r.work);
    return may;
}

static int by_count(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    return (x->count < y->count) - (x->count > y->count);
}

static void list_faults(struct checker *c)
{
    char name[256];
    qsort(c->pairs, c->count, sizeof *c->pairs, by_count);
    for (size_t i = 0, listed = 0; i < c->count && listed < 20; i++) {
        const struct pair *p = &c->pairs[i];
        if (!p->fault)
            continue;
        listed++;
        image_function_format(p->called, p->function, name, sizeof name);
        fprintf(stderr, "%8lu  %s: back to %s+%lx from %s of %s, %lu bytes below\n", (unsigned long)p->count,
                p->fault, image_name(p->image), (unsigned long)p->address, name, image_name(p->called),
                (unsigned long)p->offset);
    }
}

static double share(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

static int judge(struct checker *c, double least_offsets, double least_targets)
{
    static const char *const faults[VERDICTS] = {NULL, NULL, "no call", "another offset"};
    uint64_t verdicts[VERDICTS] = {0}, total = 0, targets = 0;
    for (size_t i = 0; i < c->count; i++) {
        struct pair *pair = &c->pairs[i];
        uint32_t image = image_number(c, pair->image);
        const struct call_site *site = calls_before(c->calls[image], pair->address);
        enum verdict verdict = judge_offset(site, pair);
        pair->fault = faults[verdict];
        verdicts[verdict] += pair->count;
        total += pair->count;
        if (site && may_call(c, image, site, pair))
            targets += pair->count;
        else if (!pair->fault)
            pair->fault = "another function";
    }
    double offsets = share(verdicts[RIGHT], total - verdicts[OPEN]);
    printf("%lu frames: %.3f%% of known offsets right, %.3f%% open, %.3f%% of targets right\n",
           (unsigned long)total, offsets, share(verdicts[OPEN], total), share(targets, total));
    list_faults(c);
    return total == 0 || offsets < least_offsets || share(targets, total) < least_targets;
}

int main(int argc, char **argv)
{
    struct fathom_error err = {0};
    struct reader *reader;
    struct checker c = {.images = not_null(image_cache_new(NULL)), .index = not_null(table_new())};
    if (argc != 4) {
        fprintf(stderr, "usage: check_calls FILE OFFSETS TARGETS\n");
        return 2;
    }
    c.processes = not_null(processes_new(c.images, NULL));
    if (reader_open(argv[1], NULL, &reader, &err) < 0 || reader_run(reader, see, &c, &err) < 0)
        fail(&err);
    for (struct image *image; (image = image_cache_at(c.images, c.image_count)); c.image_count++) {
        if (c.image_count == MAX_IMAGES || calls_build(image, &c.calls[c.image_count], &err) < 0)
            fail(&err);
        c.image_of[c.image_count] = image;
    }
    find_indirect(&c);
    int status = judge(&c, atof(argv[2]), atof(argv[3]));
    for (uint32_t i = 0; i < c.image_count; i++)
        calls_free(c.calls[i]);
    table_free(c.indirect);
    table_free(c.index);
    free(c.pairs);
    reader_close(reader);
    processes_free(c.processes);
    image_cache_free(c.images);
    return status;
}
