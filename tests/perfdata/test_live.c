/* A recording that is read while it is made. */
#include "recording.h"

#include <errno.h>

static struct kept live, again;

static struct reader *begin(const struct event *events)
{
    struct reader *reader = NULL;
    struct fathom_error err;
    struct reader_live options = {
        .events = events, .count = 2, .command = "record -- x", .sink = keep, .context = &live};
    cr_assert_eq(reader_open_live(&options, &reader, &err), 0, "%s", err.text);
    return reader;
}

static void append(struct reader *reader, struct build *b)
{
    struct fathom_error err;
    cr_assert_eq(reader_append(reader, b->bytes, b->size, &err), 0, "%s", err.text);
    /* The bytes are the caller's. */
    memset(b->bytes, 0xaa, b->size);
    b->size = 0;
}

static void check_again(struct reader *reader)
{
    struct fathom_error err;
    struct reader_summary summary;
    for (int pass = 0; pass < 2; pass++) {
        again.count = 0;
        cr_assert_eq(reader_run(reader, keep, &again, &err), 0, "%s", err.text);
        cr_assert_eq(again.count, live.count);
        for (size_t i = 0; i < live.count; i++)
            cr_expect_arr_eq(&again.records[i], &live.records[i], sizeof live.records[i]);
        reader_summary(reader, &summary);
        cr_expect_eq(summary.records, live.count);
        cr_expect(!summary.truncated && !summary.pipe);
    }
}

Test(live, records_come_in_order_as_soon_as_that_is_known)
{
    struct event events[2];
    struct build b = {0};
    struct fathom_error err;
    two_events(events);
    struct reader *reader = begin(events);
    memset(events, 0, sizeof events); /* they were copied */
    put_comm(&b, "first", 0);
    put_sample(&b, 11, 2000, 0x1000);
    append(reader, &b);
    cr_expect_eq(live.count, 1, "one without time does not wait");
    put_sample(&b, 21, 3000, 0x1001);
    put_round(&b);
    append(reader, &b);
    cr_expect_eq(live.count, 1, "younger ones of the other rings may follow");
    put_sample(&b, 12, 1000, 0x1002);
    put_sample(&b, 12, 4000, 0x1003);
    put_round(&b);
    append(reader, &b);
    cr_expect_eq(live.count, 4);
    cr_assert_eq(reader_finish(reader, &err), 0, "%s", err.text);
    const uint64_t times[] = {0, 1000, 2000, 3000, 4000}, ips[] = {0, 0x1002, 0x1000, 0x1001, 0x1003};
    cr_assert_eq(live.count, 5);
    for (size_t i = 0; i < 5; i++) {
        cr_expect_eq(live.records[i].time, times[i]);
        cr_expect_eq(live.records[i].ip, ips[i]);
    }
    check_again(reader);
    cr_expect_str_eq(reader_command(reader), "record -- x");
    reader_close(reader);
}

Test(live, grows_beyond_its_first_capacity)
{
    struct event events[2];
    struct build b = {0};
    struct fathom_error err;
    two_events(events);
    struct reader *reader = begin(events);
    for (uint64_t i = 1; i < KEPT_MAX; i++) {
        put_sample(&b, 21, i * 10, 0x1000 + i);
        for (int filler = 0; filler < 40; filler++)
            put_round(&b);
        append(reader, &b);
    }
    cr_assert_eq(reader_finish(reader, &err), 0);
    cr_expect_eq(live.count, KEPT_MAX - 1);
    check_again(reader);
    reader_close(reader);
}

Test(live, what_is_not_whole_is_refused)
{
    struct event events[2];
    struct build b = {0};
    struct fathom_error err;
    two_events(events);
    struct reader *reader = begin(events);
    put_sample(&b, 11, 1000, 0x1000);
    cr_expect_eq(reader_append(reader, b.bytes, b.size - 8, &err), -EINVAL);
    cr_expect_eq(reader_append(reader, b.bytes, 4, &err), -EINVAL);
    reader_close(reader);
}

/* What is known of the stacks of samples, in the order in which they come. */
struct heard {
    uint8_t known[8];
    uint32_t numbers[8];
    size_t count, audits;
};

static int hear(void *context, const struct record *record, struct fathom_error *err)
{
    struct heard *heard = context;
    (void)err;
    if (record->kind == RECORD_SAMPLE && record->sample.event == 1)
        heard->audits++;
    if (record->kind != RECORD_SAMPLE || record->sample.event != 0)
        return 0;
    heard->known[heard->count] = record->sample.known;
    heard->numbers[heard->count++] = record->sample.stack_number;
    return 0;
}

Test(live, is_told_what_to_say_of_stacks)
{
    struct event events[2];
    struct build b = {0};
    struct fathom_error err;
    two_events(events);
    events[1].audit = true;
    struct reader *reader = begin(events);
    put_sample(&b, 11, 1000, 0x1000);
    put_sample(&b, 21, 2000, 0x1001);
    put_sample(&b, 12, 3000, 0x1002);
    put_sample(&b, 12, 4000, 0x1003);
    append(reader, &b);
    cr_assert_eq(reader_finish(reader, &err), 0, "%s", err.text);
    const struct stack_verdict verdicts[] = {{.known = SAMPLE_STACK_NEW, .stack_number = 7},
                                             {.known = SAMPLE_STACK_SAME, .stack_number = 7}};
    reader_set_stacks(reader, 0, verdicts, 2);
    for (int pass = 0; pass < 2; pass++) {
        struct heard heard = {0};
        cr_assert_eq(reader_run(reader, hear, &heard, &err), 0, "%s", err.text);
        cr_assert_eq(heard.count, 3);
        cr_expect_eq(heard.audits, 0, "they are left out");
        cr_expect_eq(heard.known[0], SAMPLE_STACK_NEW);
        cr_expect_eq(heard.known[1], SAMPLE_STACK_SAME);
        cr_expect_eq(heard.numbers[1], 7u);
        cr_expect_eq(heard.known[2], SAMPLE_STACK_UNKNOWN, "nothing is said of it");
    }
    reader_close(reader);
}
