/* What is made of the records of waits (collector/waits.h), in whichever order the rings give them. */
#include <criterion/criterion.h>
#include <string.h>

#include "collector/rings/records.h"
#include "collector/waits.h"

#define ID        77u
#define STACKS_ID 78u
#define PID       500u
#define TID       501u
#define START     1000000000u /* of the times below */
#define LONG      (UINT64_C(10) * VERIFY_WAIT_LONG)

/* As waits.c writes them. */
struct made {
    struct sample_record sample;
    uint64_t address, period;
    uint32_t raw_size, reason, number, zero;
    uint64_t abi, bp, sp, ip;
};

static struct waits *waits;
static struct event event;
static struct batch batch;
static struct made made[4096];
static size_t made_count, stack_count;

static int sink(void *context, const void *records, size_t size, struct fathom_error *err)
{
    (void)context;
    (void)err;
    for (const uint8_t *at = records, *end = at + size; at < end;) {
        struct made m = {0};
        struct perf_event_header header;
        memcpy(&header, at, sizeof header);
        memcpy(&m, at, header.size < sizeof m ? header.size : sizeof m);
        if (m.sample.id == STACKS_ID) {
            stack_count++;
        } else {
            cr_assert_eq(m.sample.id, ID);
            cr_assert_eq(header.size, sizeof m);
            cr_assert_lt(made_count, sizeof made / sizeof *made);
            made[made_count++] = m;
        }
        at += header.size;
    }
    return 0;
}

static void start(void)
{
    struct fathom_error err;
    const struct waits_options options = {.id = ID, .stacks_id = STACKS_ID, .compared = STACK_RECORD_ALL};
    if (waits_new(&options, &event, &waits, &err) < 0)
        cr_skip_test("%s", err.text);
    cr_assert_eq(batch_init(&batch, &err), 0);
    batch.sink = sink;
}

static void stop(void)
{
    waits_free(waits);
    free(event.ids);
    batch_free(&batch);
}

TestSuite(waits, .init = start, .fini = stop);

/* What waits_take() returns; samples that it made are in made[]. */
static int take(const void *raw, size_t size, uint64_t time)
{
    struct fathom_error err;
    unsigned count;
    const size_t before = made_count;
    size_t weighing = 0;
    const struct sample sample = {.pid = 1, .tid = 1, .time = time, .raw = raw, .raw_size = (uint32_t)size};
    const int rc = waits_take(waits, &sample, &batch, &count, &err);
    cr_assert_eq(batch_flush(&batch, &err), 0);
    for (size_t i = before; i < made_count; i++)
        weighing += made[i].period > 0;
    cr_expect_eq(count, weighing);
    return rc;
}

static int tell(struct wait_record r, uint64_t time)
{
    r.magic = WAIT_RECORD_MAGIC;
    r.pid = PID;
    r.tid = TID;
    r.ip = 0x1000;
    r.sp = 0x2000;
    r.bp = 0x3000;
    return take(&r, sizeof r, START + time);
}

static struct wait_record begins(uint32_t number, uint32_t scale)
{
    return (struct wait_record){.kind = WAIT_BEGINS, .reason = WAIT_LOCK, .number = number, .scale = scale};
}

static struct wait_record ends(uint32_t number, uint64_t length, uint64_t ready)
{
    return (struct wait_record){.kind = WAIT_ENDS,
                                .reason = WAIT_LOCK,
                                .number = number,
                                .length = length,
                                .ready = ready,
                                .shorts = length - ready,
                                .ready_shorts = ready};
}

static void expect(size_t index, unsigned reason, uint64_t period, uint64_t time)
{
    cr_assert_lt(index, made_count);
    const struct made *m = &made[index];
    cr_expect_eq(m->reason, reason, "%zu", index);
    cr_expect_eq(m->period, period, "%zu: %llu", index, (unsigned long long)m->period);
    cr_expect_eq(m->sample.time, period ? START + time : time);
    cr_expect(m->sample.pid == PID && m->sample.tid == TID && m->sample.ip == 0x1000 && m->ip == 0x1000 &&
              m->sp == 0x2000 && m->bp == 0x3000);
}

Test(waits, a_long_one_weighs_itself_and_the_time_in_which_it_could_run)
{
    cr_assert(attr_is_waits(&event.attr));
    cr_expect_eq(tell(begins(1, 64 * WAIT_SCALE_ONE), 10), 1);
    cr_expect_eq(made_count, 0u);
    cr_expect_eq(tell(ends(1, LONG, 1000), 20), 1);
    cr_expect_eq(made_count, 2u);
    expect(0, WAIT_LOCK, LONG - 1000, 20);
    expect(1, WAIT_RUNNABLE, 1000, 20);
    cr_expect_eq(stack_count, 0u);
}

Test(waits, those_in_two_rings_find_each_other)
{
    cr_expect_eq(tell(ends(2, LONG + 2, 0), 40), 1);
    cr_expect_eq(tell(begins(3, WAIT_SCALE_ONE), 50), 1);
    cr_expect_eq(tell(begins(1, WAIT_SCALE_ONE), 10), 1);
    cr_expect_eq(tell(ends(1, LONG + 1, 0), 20), 1);
    cr_expect_eq(tell(begins(2, WAIT_SCALE_ONE), 30), 1);
    cr_expect_eq(tell(ends(3, LONG + 3, 0), 60), 1);
    cr_assert_eq(made_count, 3u);
    expect(0, WAIT_LOCK, LONG + 1, 20);
    expect(1, WAIT_LOCK, LONG + 2, 40);
    expect(2, WAIT_LOCK, LONG + 3, 60);
}

Test(waits, a_stack_that_was_just_written_gets_a_sample)
{
    waits_note_stack(waits, TID, 7);
    cr_expect_eq(tell(begins(1, WAIT_SCALE_ONE), 10), 1);
    waits_note_stack(waits, TID + 1, 8);
    cr_expect_eq(tell(begins(2, WAIT_SCALE_ONE), 11), 1);
    cr_assert_eq(made_count, 1u);
    expect(0, WAIT_LOCK, 0, 7);
}

Test(waits, one_that_was_not_read_says_so)
{
    struct wait_record r = ends(0, LONG, 0);
    r.kind = WAIT_UNREAD;
    cr_expect_eq(tell(r, 20), 1);
    cr_expect_eq(stack_count, 0u, "what was announced before stays");
    expect(0, WAIT_LOCK, LONG, 20);
    cr_expect_eq(made[0].number, WAIT_UNNUMBERED);
}

/* Of 64 waits of 1 us one is told, and that lasts twice as long. */
Test(waits, short_ones_add_up_to_what_was_counted)
{
    uint64_t all = 0, sum = 0;
    for (uint32_t i = 1; i <= 1000; i++) {
        all += 63 * 1000 + 2000;
        struct wait_record r = ends(i, 2000, 0);
        r.shorts = all;
        cr_assert_eq(tell(begins(i, 64 * WAIT_SCALE_ONE), 2 * i), 1);
        cr_assert_eq(tell(r, 2 * i + 1), 1);
    }
    for (size_t i = 0; i < made_count; i++)
        sum += made[i].period;
    cr_expect_eq(made_count, 1000u);
    cr_expect(sum > all - all / 100 && sum < all + all / 100, "%llu of %llu", (unsigned long long)sum,
              (unsigned long long)all);
}

/* One in 64 is told. Of each two, one lasts 1 us and the other 19, in an order that is as good as random. */
Test(waits, short_ones_weigh_what_they_are_beside_longer_ones)
{
    uint64_t all = 0, sums[2] = {0, 0}, random = 1;
    unsigned counts[2] = {0, 0};
    for (uint32_t i = 1; i <= 4000; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const bool is_long = random >> 63;
        struct wait_record r = ends(i, is_long ? 19000 : 1000, 0);
        all += 64 * 10000;
        r.shorts = all;
        cr_assert_eq(tell(begins(i, 64 * WAIT_SCALE_ONE), 2 * i), 1);
        cr_assert_eq(tell(r, 2 * i + 1), 1);
        cr_assert_eq(made_count, i);
        sums[is_long] += made[i - 1].period;
        counts[is_long]++;
    }
    const double ratio = (double)sums[1] / counts[1] / ((double)sums[0] / counts[0]);
    cr_expect(ratio > 18 && ratio < 20, "19 times as long weighs %g times as much", ratio);
}

Test(waits, what_lies_outside_of_the_recording_does_not_count)
{
    waits_begin(waits);
    waits_end(waits);
    cr_expect_eq(tell(begins(1, WAIT_SCALE_ONE), 10), 1);
    cr_expect_eq(tell(ends(1, LONG, 1000), UINT64_MAX / 2), 1);
    cr_expect_eq(made_count, 0u, "behind its end");
    cr_expect_eq(tell(begins(2, WAIT_SCALE_ONE), 10), 1);
    cr_expect_eq(tell(ends(2, LONG, 1000), 20), 1);
    cr_expect_eq(made_count, 0u, "before it begins");
}

Test(waits, what_is_odd_is_no_wait_or_a_bounded_one)
{
    struct wait_record r = {.magic = WAIT_RECORD_MAGIC, .kind = 99, .reason = 255, .tid = TID};
    cr_expect_eq(take("short", 5, 1), 0);
    cr_expect_eq(take(NULL, 0, 1), 0);
    cr_expect_eq(take(&(struct wait_record){.magic = STACK_RECORD_MAGIC}, sizeof r, 1), 0);
    cr_expect_eq(take(&r, sizeof r, 1), 1);
    cr_expect_eq(tell(begins(5, UINT32_MAX), 1), 1);
    cr_expect_eq(tell(ends(5, UINT64_MAX, UINT64_MAX), 2), 1);
    cr_assert_eq(made_count, 1u);
    cr_expect_eq(made[0].reason, (unsigned)WAIT_RUNNABLE);
}
