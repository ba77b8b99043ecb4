/* placed.c - see placed.h. */
#include "report/export/placed.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/saturate.h"
#include "base/vec.h"

/* The number of the metric that the event counts. */
static uint32_t find_weight(const struct metrics *metrics)
{
    uint32_t m = 0;
    while (m < metrics->count && metrics->at[m] != metric_table)
        m++;
    return m < metrics->count ? m : 0;
}

static uint64_t weight_of(const struct contexts *c, size_t number)
{
    return c->sample_values[number * c->metrics->count + find_weight(c->metrics)];
}

/* A wait and the time after it, in which its thread is ready to run, are two samples with the same end time (collector/waits.c). */
static uint64_t ready_after(const struct contexts *c, size_t number)
{
    const struct placed_sample *s = &c->samples[number], *next = s + 1;
    return s->wait && s->wait != WAIT_RUNNABLE && number + 1 < c->sample_count &&
                   next->wait == WAIT_RUNNABLE && next->time == s->time && next->tid == s->tid &&
                   next->pid == s->pid
               ? weight_of(c, number + 1)
               : 0;
}

bool placed_lasting(const struct contexts *c)
{
    return c->samples && c->metrics->event && attr_is_waits(&c->metrics->event->attr);
}

uint64_t placed_began(const struct contexts *c, size_t number)
{
    const uint64_t time = c->samples[number].time,
                   took =
                       placed_lasting(c) ? add_saturating(weight_of(c, number), ready_after(c, number)) : 0;
    return took < time ? time - took : 0;
}

/* End times of a thread's samples: of the last one, and of the last one before that with another time. */
struct ends {
    uint64_t last, before;
};

struct adding {
    const struct contexts *contexts;
    struct placed_samples *to;
    const struct placing *placing;
    struct table *known;   /* hash of a struct placed -> its number */
    struct table *threads; /* PID << 32 | TID -> its number */
    size_t capacity, value_capacity, thread_capacity, ends_capacity;
    struct ends (*ends)[2]; /* of each thread: with and without a CPU */
    bool lasting;           /* samples weigh the time that they take: */
    uint32_t weight;        /* the metric with this number */
};

static bool find_thread(struct adding *a, const struct placed_sample *s, uint32_t *out)
{
    struct placed_samples *to = a->to;
    bool added;
    uint64_t *number = table_put(a->threads, (uint64_t)s->pid << 32 | s->tid, &added);
    if (!number)
        return false;
    if (added) {
        *number = to->thread_count;
        if (!vec_push(to->threads, to->thread_count, a->thread_capacity,
                      (struct placed_thread){s->pid, s->tid, s->comm}) ||
            !vec_reserve(a->ends, *number, a->ends_capacity, 1))
            return false;
        memset(a->ends[*number], 0, sizeof *a->ends);
    }
    to->threads[*number].comm = s->comm;
    *out = (uint32_t)*number;
    return true;
}

static uint16_t slice_of(const struct adding *a, uint64_t time)
{
    const uint64_t length = a->to->last - a->to->first;
    const unsigned slices = a->placing->slices;
    if (time <= a->to->first || !length)
        return 0;
    const double slice = (double)(time - a->to->first) / (double)length * slices;
    return (uint16_t)(slice < slices ? slice : slices - 1);
}

/* The time that a sample covers, ns. */
struct interval {
    uint64_t from, to;
};

/* A sample that stands for others weighs more than its own time, so its begin is limited by the end of the thread's last sample. */
static struct interval interval_of(const struct adding *a, size_t number, uint32_t thread)
{
    const struct placed_sample *s = &a->contexts->samples[number];
    if (!a->lasting)
        return (struct interval){s->time, s->time};
    struct ends *ends = &a->ends[thread][s->wait != 0];
    if (s->time > ends->last)
        *ends = (struct ends){s->time, ends->last};
    const uint64_t least = ends->before > a->to->first ? ends->before : a->to->first,
                   most = s->time > least ? s->time - least : 0, ready = ready_after(a->contexts, number),
                   room = ready < most ? most - ready : most, to = ready < most ? s->time - ready : s->time,
                   weight = weight_of(a->contexts, number);
    return (struct interval){to - (weight < room ? weight : room), to};
}

/* The part of `whole`, spread evenly over the interval, that is in `ns` of it. */
static uint64_t part_of(uint64_t whole, struct interval in, double ns)
{
    const double part = (double)whole * (ns / (double)(in.to - in.from));
    return part <= 0 ? 0 : part < (double)whole ? (uint64_t)part : whole;
}

/* Adds a sample's part in a slice. */
static bool add_part(struct adding *a, size_t number, struct placed p, uint64_t weight, bool is_last)
{
    struct placed_samples *to = a->to;
    const uint32_t metrics = a->contexts->metrics->count;
    bool added;
    uint64_t *place =
        table_put(a->known,
                  hash_u64(hash_u64(hash_u64((uintptr_t)p.node) + p.place) +
                           hash_u64((uint64_t)p.thread << 32 | (uint32_t)p.slice << 16 | p.span) +
                           ((unsigned)p.wait << 8 | p.sure)),
                  &added);
    if (!place)
        return false;
    if (added) {
        *place = to->count;
        if (!vec_reserve(to->values, to->count * metrics, a->value_capacity, metrics) ||
            !vec_push(to->at, to->count, a->capacity, p))
            return false;
        memset(to->values + *place * metrics, 0, metrics * sizeof *to->values);
    }
    for (uint32_t m = 0; m < metrics; m++) {
        uint64_t *value = &to->values[*place * metrics + m];
        const uint64_t whole = is_last ? a->contexts->sample_values[number * metrics + m] : 0;
        *value = add_saturating(*value, m == a->weight ? weight : whole);
    }
    return true;
}

static bool add_sample(struct adding *a, size_t number)
{
    struct placed_samples *to = a->to;
    const struct placed_sample *s = &a->contexts->samples[number];
    struct placed p = {.node = s->node,
                       .place = a->placing->places ? a->placing->places[number] : 0,
                       .span = 1,
                       .sure = (uint8_t)(s->probability * PLACED_SURE_STEPS + 0.5f),
                       .wait = s->wait};
    if (!find_thread(a, s, &p.thread))
        return false;
    to->thread_of[number] = p.thread;
    const struct interval in = interval_of(a, number, p.thread);
    const uint16_t first = slice_of(a, in.from), last = slice_of(a, in.to);
    const double slice = (double)(to->last - to->first) / a->placing->slices;
    const uint64_t weight = weight_of(a->contexts, number);
    uint64_t left = weight;
    for (uint16_t at = first; at <= last; at += p.span) {
        p.slice = at;
        p.span = at > first && at < last ? last - at : 1;
        const double begins = at == first ? (double)(in.from - to->first) : at * slice;
        uint64_t part = at == last ? left : part_of(weight, in, (at + p.span) * slice - begins);
        part = part < left ? part : left;
        left -= part;
        if (!add_part(a, number, p, part, at == last))
            return false;
    }
    return true;
}

int placed_add_up(const struct contexts *contexts, const struct placing *placing, struct placed_samples *out,
                  struct fathom_error *err)
{
    struct placed_samples placed = {.first = contexts->sample_count ? UINT64_MAX : 0,
                                    .thread_of =
                                        calloc(contexts->sample_count + 1, sizeof *placed.thread_of)};
    struct adding a = {.contexts = contexts,
                       .to = &placed,
                       .placing = placing,
                       .known = table_new(),
                       .threads = table_new(),
                       .weight = find_weight(contexts->metrics),
                       .lasting = placing->slices > 1 && placed_lasting(contexts)};
    for (size_t i = 0; i < contexts->sample_count && !placing->last; i++) {
        uint64_t time = contexts->samples[i].time;
        placed.first = time < placed.first ? time : placed.first;
        placed.last = time > placed.last ? time : placed.last;
    }
    if (placing->last) {
        placed.first = placing->first;
        placed.last = placing->last;
    }
    bool good = a.known && a.threads && placed.thread_of;
    for (size_t i = 0; i < contexts->sample_count && good; i++)
        good = add_sample(&a, i);
    table_free(a.known);
    table_free(a.threads);
    free(a.ends);
    if (!good) {
        placed_clear(&placed);
        return error_memory(err);
    }
    *out = placed;
    return 0;
}

size_t *placed_by_thread(const struct placed_samples *placed, size_t count, size_t **begins)
{
    const size_t threads = placed->thread_count;
    size_t *sorted = malloc((count + 1) * sizeof *sorted), *at = calloc(threads + 2, sizeof *at);
    *begins = at;
    if (!sorted || !at) {
        free(sorted);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        at[placed->thread_of[i] + 2]++;
    for (size_t t = 2; t < threads + 2; t++)
        at[t] += at[t - 1];
    for (size_t i = 0; i < count; i++)
        sorted[at[placed->thread_of[i] + 1]++] = i;
    return sorted;
}

void placed_clear(struct placed_samples *p)
{
    free(p->at);
    free(p->values);
    free(p->threads);
    free(p->thread_of);
    *p = (struct placed_samples){0};
}
