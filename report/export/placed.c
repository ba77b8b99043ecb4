/* placed.c - see placed.h. */
#include "report/export/placed.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/saturate.h"
#include "base/vec.h"

struct adding {
    const struct contexts *contexts;
    struct placed_samples *to;
    const struct placing *placing;
    struct table *known;   /* a hash of a struct placed -> its number */
    struct table *threads; /* PID << 32 | TID -> its number */
    size_t capacity, value_capacity, thread_capacity;
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
                      (struct placed_thread){s->pid, s->tid, s->comm}))
            return false;
    }
    to->threads[*number].comm = s->comm;
    *out = (uint32_t)*number;
    return true;
}

static uint16_t slice_of(const struct adding *a, uint64_t time)
{
    uint64_t length = a->to->last - a->to->first;
    return length ? (uint16_t)((double)(time - a->to->first) / (double)length * (a->placing->slices - 1)) : 0;
}

static bool add_sample(struct adding *a, size_t number)
{
    struct placed_samples *to = a->to;
    const struct placed_sample *s = &a->contexts->samples[number];
    uint32_t metrics = a->contexts->metrics->count;
    struct placed p = {.node = s->node,
                       .place = a->placing->places ? a->placing->places[number] : 0,
                       .slice = slice_of(a, s->time),
                       .sure = (uint8_t)(s->probability * PLACED_SURE_STEPS + 0.5f)};
    if (!find_thread(a, s, &p.thread))
        return false;
    to->thread_of[number] = p.thread;
    bool added;
    uint64_t *place = table_put(a->known,
                                hash_u64(hash_u64(hash_u64((uintptr_t)p.node) + p.place) +
                                         ((uint64_t)p.thread << 32) + ((uint64_t)p.slice << 8 | p.sure)),
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
        *value = add_saturating(*value, a->contexts->sample_values[number * metrics + m]);
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
                       .threads = table_new()};
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
