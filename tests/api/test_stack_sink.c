/* Stack records on their way to a file: each waits for its sample. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "api/record/stack_sink.h"
#include "perfdata/stack_record.h"
#include "tests/perfdata/build.h"

enum { MAIN, STACKS, AUDIT, EVENTS };

#define TYPE (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME)
#define REGS 0x1c0

static uint64_t ids[EVENTS] = {1, 2, 3};
static const struct event events[EVENTS] = {
    [MAIN] = {.attr = {.sample_type = TYPE | PERF_SAMPLE_REGS_INTR, .sample_regs_intr = REGS},
              .ids = &ids[MAIN],
              .id_count = 1},
    [STACKS] = {.attr = {.sample_type = TYPE | PERF_SAMPLE_RAW},
                .ids = &ids[STACKS],
                .id_count = 1,
                .stacks = true},
    [AUDIT] = {.attr = {.sample_type = TYPE | PERF_SAMPLE_REGS_INTR, .sample_regs_intr = REGS},
               .ids = &ids[AUDIT],
               .id_count = 1,
               .audit = true},
};

static struct stack_sink *sink;
static struct build in;
static struct decoder *decoder;
static char seen[64]; /* a letter for each record that was passed on */

/* The letter of a record: main sample, stack record, audit sample, new-stacks, or other. */
static int note(void *context, const void *records, size_t size, struct fathom_error *err)
{
    const uint8_t *at = records, *end = at + size;
    (void)context;
    (void)err;
    while (at < end) {
        struct perf_event_header header;
        struct record record;
        memcpy(&header, at, sizeof header);
        cr_assert(header.size >= sizeof header && header.size <= (size_t)(end - at));
        int rc = decoder_decode(decoder, at, header.size, &record, NULL);
        bool sample = rc == 0 && record.kind == RECORD_SAMPLE;
        size_t count = strlen(seen);
        cr_assert(count + 1 < sizeof seen);
        seen[count] = sample ? "msan"[record.sample.event] : 'o';
        seen[count + 1] = 0;
        at += header.size;
    }
    return 0;
}

static void put_sample(int event, uint32_t tid, uint64_t time)
{
    sample_start(&in, ids[event], tid, time);
    put64(&in, PERF_SAMPLE_REGS_ABI_64);
    put64(&in, 0xb0);
    put64(&in, 0x7ff0);
    put64(&in, 0x401234);
    record_end(&in);
}

static void put_stack(uint8_t kind, uint32_t tid, uint64_t time)
{
    const struct stack_record head = {.magic = STACK_RECORD_MAGIC,
                                      .version = STACK_RECORD_BARE,
                                      .kind = kind,
                                      .page_bits = 12,
                                      .number = kind != STACK_RECORD_NONE,
                                      .size = 16,
                                      .ip = 0x401234,
                                      .sp = 0x7ff0};
    sample_start(&in, ids[STACKS], tid, time);
    put32(&in, sizeof head + 20);
    put(&in, &head, sizeof head);
    put(&in, "0123456789abcdefpad", 20);
    record_end(&in);
}

static void put_other(void)
{
    record_start(&in, PERF_RECORD_MMAP, 0);
    record_end(&in);
}

static void pass(void)
{
    cr_assert_eq(stack_sink_add(sink, in.bytes, in.size, NULL), 0);
    in.size = 0;
}

static void start(void)
{
    const struct event *all;
    in.size = 0;
    *seen = 0;
    cr_assert_eq(stack_sink_new(events, EVENTS, &sink, NULL), 0);
    cr_assert_eq(stack_sink_events(sink, &all), EVENTS + 1);
    cr_assert_eq(decoder_new(all, EVENTS + 1, &decoder, NULL), 0);
    stack_sink_to(sink, note, NULL);
}

static void end(void)
{
    stack_sink_free(sink);
    decoder_free(decoder);
}

TestSuite(stack_sink, .init = start, .fini = end);

Test(stack_sink, a_stack_record_becomes_a_sample_before_its_own)
{
    put_sample(MAIN, 8, 1);
    put_stack(STACK_RECORD_NEW, 8, 2);
    put_sample(MAIN, 8, 2);
    put_stack(STACK_RECORD_AGAIN, 8, 3);
    put_sample(MAIN, 8, 3);
    put_other();
    pass();
    cr_expect_str_eq(seen, "mnmnmo");
}

Test(stack_sink, a_stack_record_waits_for_the_next_call)
{
    put_stack(STACK_RECORD_NEW, 8, 2);
    pass();
    put_other();
    pass();
    cr_expect_str_eq(seen, "o");
    put_sample(MAIN, 8, 2);
    pass();
    cr_expect_str_eq(seen, "onm");
}

Test(stack_sink, a_record_without_a_stack_stays)
{
    put_stack(STACK_RECORD_SAME, 8, 2);
    put_sample(MAIN, 8, 2);
    put_stack(STACK_RECORD_NONE, 8, 3);
    put_sample(MAIN, 8, 3);
    pass();
    cr_expect_str_eq(seen, "smsm");
}

Test(stack_sink, a_stack_record_whose_sample_was_lost_stays)
{
    put_stack(STACK_RECORD_NEW, 8, 2);
    put_stack(STACK_RECORD_NEW, 8, 3);
    put_sample(MAIN, 9, 3);
    put_stack(STACK_RECORD_NEW, 8, 4);
    put_sample(AUDIT, 8, 4);
    put_stack(STACK_RECORD_NEW, 8, 5);
    put_sample(MAIN, 8, 6);
    put_stack(STACK_RECORD_NEW, 8, 7);
    pass();
    cr_expect_str_eq(seen, "ssmsasm");
    cr_assert_eq(stack_sink_finish(sink, NULL), 0);
    cr_expect_str_eq(seen, "ssmsasms");
    cr_assert_eq(stack_sink_finish(sink, NULL), 0);
    cr_expect_str_eq(seen, "ssmsasms");
}

/* Records that end early are passed on: a reader counts them as damaged. */
Test(stack_sink, short_records_pass)
{
    put_stack(STACK_RECORD_NEW, 8, 2);
    const size_t whole = in.size;
    for (size_t size = 8; size < whole; size += 8) {
        in.size = size;
        record_end(&in);
        uint64_t *exact = malloc(size);
        memcpy(exact, in.bytes, size);
        *seen = 0;
        cr_assert_eq(stack_sink_add(sink, exact, size, NULL), 0);
        free(exact);
        in.size = in.start = 0;
        put_sample(MAIN, 8, 2);
        pass();
        cr_expect_eq(seen[strlen(seen) - 1], 'm');
        cr_expect_eq(strlen(seen), 2u, "%zu bytes: %s", size, seen);
        cr_expect_null(strchr(seen, 'n'));
        put_stack(STACK_RECORD_NEW, 8, 2);
    }
}

static int refuse(void *context, const void *records, size_t size, struct fathom_error *err)
{
    (void)context;
    (void)records;
    (void)size;
    (void)err;
    return -5;
}

Test(stack_sink, a_failed_write_is_told)
{
    stack_sink_to(sink, refuse, NULL);
    put_stack(STACK_RECORD_NEW, 8, 2);
    pass();
    put_sample(MAIN, 8, 2);
    cr_expect_eq(stack_sink_add(sink, in.bytes, in.size, NULL), -5);
}

Test(stack_sink, needs_an_event_of_stack_records)
{
    struct stack_sink *none;
    struct fathom_error err = {0};
    cr_expect_lt(stack_sink_new(events, 1, &none, &err), 0);
}
