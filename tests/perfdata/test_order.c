/* Order of time over random rounds: the same as a stable sort of everything. */
#include <criterion/criterion.h>

#include <errno.h>
#include <stdlib.h>

#include "build.h"
#include "perfdata/order.h"

struct got {
    uint64_t time, mark;
};

struct seen {
    struct got *all;
    size_t count, stop_at;
};

static int collect(void *context, const struct record *record, struct fathom_error *err)
{
    struct seen *seen = context;
    if (seen->count == seen->stop_at)
        return error_set(err, EINTR, "stopped");
    seen->all[seen->count++] = (struct got){record->time, record->sample.ip};
    return 0;
}

static const struct event event = {
    .attr = {.size = sizeof event.attr, .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME}};

static void make_sample(struct build *b, uint64_t mark, uint64_t time)
{
    b->size = 0;
    record_start(b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
    put64(b, mark);
    put64(b, time);
    record_end(b);
}

static int by_time(const void *a, const void *b)
{
    const struct got *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->mark < y->mark ? -1 : x->mark > y->mark;
}

static uint64_t next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

/* Rings are drained one after the other; what a ring gets after it was drained comes in the next round. */
static void one_recording(uint64_t seed, bool copy)
{
    enum { RINGS = 5, SAMPLES = 3000 };
    struct build scratch = {0};
    uint8_t *stay = malloc(SAMPLES * 24);
    struct got *expected = calloc(SAMPLES, sizeof *expected);
    struct seen seen = {.all = calloc(SAMPLES, sizeof *seen.all), .stop_at = SIZE_MAX};
    uint64_t waiting[RINGS][SAMPLES]; /* indices into expected */
    size_t filled[RINGS] = {0}, drained[RINGS] = {0};

    struct decoder *decoder;
    cr_assert_eq(decoder_new(&event, 1, &decoder, NULL), 0);
    struct order *order = order_new(decoder, copy, collect, &seen);
    size_t made = 0;
    uint64_t now = 1;
    while (made < SAMPLES) {
        for (int ring = 0; ring < RINGS; ring++) {
            /* time goes on while the rings are drained */
            for (uint64_t k = next(&seed) % 40; k && made < SAMPLES; k--) {
                int to = (int)(next(&seed) % RINGS);
                now += next(&seed) % 3;
                expected[made] = (struct got){now, 0};
                waiting[to][filled[to]++] = made++;
            }
            for (; drained[ring] < filled[ring]; drained[ring]++) {
                static uint64_t pushed;
                struct got *sample = &expected[waiting[ring][drained[ring]]];
                sample->mark = ++pushed; /* ties keep the order of push */
                make_sample(&scratch, sample->mark, sample->time);
                uint8_t *at = stay + 24 * waiting[ring][drained[ring]];
                memcpy(at, scratch.bytes, 24);
                cr_assert_eq(order_push(order, copy ? scratch.bytes : at, 24, NULL), 0);
            }
        }
        cr_assert_eq(order_round(order, NULL), 0);
    }
    for (int ring = 0; ring < RINGS; ring++)
        for (; drained[ring] < filled[ring]; drained[ring]++) {
            struct got *sample = &expected[waiting[ring][drained[ring]]];
            sample->mark = UINT64_MAX / 2 + waiting[ring][drained[ring]];
            make_sample(&scratch, sample->mark, sample->time);
            uint8_t *at = stay + 24 * waiting[ring][drained[ring]];
            memcpy(at, scratch.bytes, 24);
            cr_assert_eq(order_push(order, copy ? scratch.bytes : at, 24, NULL), 0);
        }
    cr_assert_lt(seen.count, SAMPLES);
    cr_assert_gt(seen.count, SAMPLES / 2); /* rounds deliver: not all waits for the end */
    cr_assert_eq(order_flush(order, NULL), 0);

    cr_assert_eq(seen.count, SAMPLES);
    for (size_t i = 1; i < SAMPLES; i++)
        cr_assert_leq(seen.all[i - 1].time, seen.all[i].time, "record %zu", i);
    qsort(expected, SAMPLES, sizeof *expected, by_time);
    qsort(seen.all, SAMPLES, sizeof *seen.all, by_time);
    for (size_t i = 0; i < SAMPLES; i++)
        cr_assert_eq(seen.all[i].mark, expected[i].mark);
    order_free(order);
    decoder_free(decoder);
    free(seen.all);
    free(expected);
    free(stay);
}

Test(order, random_rounds_come_out_in_order)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        one_recording(seed, false);
        one_recording(seed, true);
    }
}

static void push(struct order *order, uint64_t mark, uint64_t time)
{
    struct build b = {0};
    make_sample(&b, mark, time);
    cr_assert_eq(order_push(order, b.bytes, b.size, NULL), 0);
}

Test(order, without_rounds_all_is_sorted_and_equal_times_keep_their_order)
{
    enum { N = 10000 };
    struct decoder *decoder;
    struct seen seen = {.all = calloc(N, sizeof *seen.all), .stop_at = SIZE_MAX};
    cr_assert_eq(decoder_new(&event, 1, &decoder, NULL), 0);
    struct order *order = order_new(decoder, true, collect, &seen);
    uint64_t seed = 5;
    for (uint64_t i = 0; i < N; i++)
        push(order, i, 1 + next(&seed) % 100);
    cr_assert_eq(seen.count, 0);
    cr_assert_eq(order_flush(order, NULL), 0);
    cr_assert_eq(seen.count, N);
    for (size_t i = 1; i < N; i++) {
        cr_assert_leq(seen.all[i - 1].time, seen.all[i].time);
        if (seen.all[i - 1].time == seen.all[i].time)
            cr_assert_lt(seen.all[i - 1].mark, seen.all[i].mark);
    }
    order_free(order);
    decoder_free(decoder);
    free(seen.all);
}

Test(order, records_without_time_do_not_wait)
{
    struct got all[8];
    struct seen seen = {.all = all, .stop_at = SIZE_MAX};
    struct decoder *decoder;
    cr_assert_eq(decoder_new(&event, 1, &decoder, NULL), 0);
    struct order *order = order_new(decoder, true, collect, &seen);
    push(order, 1, 0);
    push(order, 2, 500);
    push(order, 3, 400);
    push(order, 4, 0);
    cr_assert_eq(seen.count, 2);
    cr_assert_eq(all[0].mark, 1);
    cr_assert_eq(all[1].mark, 4);
    cr_assert_eq(order_flush(order, NULL), 0);
    cr_assert_eq(seen.count, 4);
    cr_assert_eq(all[2].mark, 3);
    cr_assert_eq(all[3].mark, 2);
    order_free(order);
    decoder_free(decoder);
}

Test(order, a_sink_that_fails_ends_the_delivery_and_loses_nothing)
{
    struct got all[8];
    struct seen seen = {.all = all, .stop_at = 2};
    struct decoder *decoder;
    struct fathom_error err;
    cr_assert_eq(decoder_new(&event, 1, &decoder, NULL), 0);
    struct order *order = order_new(decoder, true, collect, &seen);
    for (uint64_t i = 1; i <= 5; i++)
        push(order, i, 10 - i);
    cr_assert_eq(order_flush(order, &err), -EINTR);
    cr_assert_str_eq(err.text, "stopped");
    cr_assert_eq(seen.count, 2);
    seen.stop_at = SIZE_MAX;
    cr_assert_eq(order_flush(order, &err), 0);
    cr_assert_eq(seen.count, 4); /* the one that was refused is gone */
    cr_assert_eq(all[1].mark, 4);
    cr_assert_eq(all[2].mark, 2);
    order_free(order);
    decoder_free(decoder);
}

Test(order, damaged_records_are_counted)
{
    struct got all[8];
    struct seen seen = {.all = all, .stop_at = SIZE_MAX};
    struct decoder *decoder;
    cr_assert_eq(decoder_new(&event, 1, &decoder, NULL), 0);
    struct order *order = order_new(decoder, false, collect, &seen);
    struct build b = {0};
    make_sample(&b, 1, 100);
    cr_assert_eq(order_push(order, b.bytes, 16, NULL), 0); /* not the size that it says */
    cr_assert_eq(order_push(order, b.bytes, 4, NULL), 0);
    struct build shorter = {0};
    record_start(&shorter, PERF_RECORD_SAMPLE, 0);
    put64(&shorter, 1);
    record_end(&shorter);
    cr_assert_eq(order_push(order, shorter.bytes, shorter.size, NULL), 0);
    cr_assert_eq(order_push(order, b.bytes, b.size, NULL), 0);
    cr_assert_eq(order_flush(order, NULL), 0);
    cr_assert_eq(order_damaged(order), 3);
    cr_assert_eq(seen.count, 1);
    order_free(order);
    decoder_free(decoder);
}
