/* run_time.c - see run_time.h. */
#include "infer/samples/run_time.h"

#include <errno.h>
#include <stdlib.h>

#include "base/allocate.h"
#include "base/hash.h"
#include "base/vec.h"

struct thread {
    uint64_t clock;  /* run time at its last sample of the clock */
    uint64_t period; /* of that */
    uint64_t ran;    /* run time at its last sample of any event */
    uint64_t time;   /* timestamp of that */
};

struct run_times {
    uint32_t clock;
    struct table *index; /* thread_key -> index in threads + 1 */
    struct thread *threads;
    uint32_t count, capacity;
    uint64_t last_key; /* of threads[last]; valid if there are any */
    uint32_t last;
};

struct run_times *run_times_new(uint32_t clock)
{
    struct run_times *r = allocate(struct run_times, .clock = clock, .index = table_new());
    return whole_or_free(r, r->index, free);
}

void run_times_free(struct run_times *r)
{
    if (!r)
        return;
    table_free(r->index);
    free(r->threads);
    free(r);
}

static struct thread *thread_of(struct run_times *r, uint64_t thread_key, const struct sample *sample)
{
    if (r->count && thread_key == r->last_key)
        return &r->threads[r->last];
    const size_t index = table_index(r->index, thread_key, r->threads, r->count, r->capacity,
                                     (struct thread){.time = sample->time});
    if (index == SIZE_MAX)
        return NULL;
    r->last_key = thread_key;
    r->last = (uint32_t)index;
    return &r->threads[index];
}

int run_times_pass(struct run_times *r, const struct sample *sample, struct run_time *run)
{
    run->ran = sample->time;
    if (r->clock == RUN_TIME_NO_CLOCK)
        return 0;
    struct thread *t = thread_of(r, run->thread_key, sample);
    if (!t)
        return -ENOMEM;
    if (sample->event == r->clock) {
        t->period = sample->period;
        t->clock += t->period;
        t->ran = t->clock;
    } else if (sample->time > t->time) {
        uint64_t rest = t->clock + t->period - t->ran, passed = sample->time - t->time;
        t->ran += passed < rest ? passed : rest;
    }
    t->time = sample->time;
    run->ran = t->ran;
    return 0;
}
