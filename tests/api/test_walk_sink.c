/* New stacks on their way to a file: each waits, with its sample, until it was walked. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "api/record/walk_sink.h"
#include "perfdata/announced.h"
#include "perfdata/order.h"
#include "perfdata/stack_parts.h"
#include "perfdata/walks.h"
#include "tests/perfdata/build.h"

enum { MAIN, STACKS, EVENTS };

#define TYPE  (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME)
#define REGS  0x1c0
#define SP    0x7ff0u
#define ROUND 68

static uint64_t ids[EVENTS] = {1, 2};
static const struct event events[EVENTS] = {
    [MAIN] = {.attr = {.sample_type = TYPE | PERF_SAMPLE_REGS_INTR,
                       .sample_regs_intr = REGS,
                       .sample_period = 1},
              .ids = &ids[MAIN],
              .id_count = 1},
    [STACKS] = {.attr = {.sample_type = TYPE | PERF_SAMPLE_RAW},
                .ids = &ids[STACKS],
                .id_count = 1,
                .stacks = true},
};

static struct walk_sink *sink;
static struct build in;
static struct decoder *decoder;
static struct announced *announced;
static struct order *order;
static char seen[4096]; /* a letter for each record that was passed on */
static char read[4096]; /* and for each sample, as a reader has it */
static struct unwind_frame frames[3] = {{.pc = 0x401234, .cfa = SP + 16},
                                        {.pc = 0x401300, .cfa = SP + 64, .interrupted = true},
                                        {.pc = 0x401400, .cfa = SP + 256, .derived = true}};

static void add_letter(char *to, size_t size, char letter)
{
    const size_t count = strlen(to);
    cr_assert(count + 1 < size);
    to[count] = letter;
    to[count + 1] = 0;
}

/* A stack with frames, with bytes, or with both. */
static char letter_of(const struct sample *sample)
{
    struct stack_parts parts;
    if (!events[sample->event].stacks)
        return 'm';
    if (!stack_parts_read(sample->raw, sample->raw_size, &parts))
        return '!';
    if (parts.head.kind == STACK_RECORD_MORE)
        return '+';
    return parts.frames ? parts.bytes ? 'b' : 'f' : parts.bytes ? 's' : '-';
}

static int note(void *context, const void *records, size_t size, struct fathom_error *err)
{
    const uint8_t *at = records, *end = at + size;
    (void)context;
    (void)err;
    while (at < end) {
        struct perf_event_header header;
        struct record record;
        memcpy(&header, at, sizeof header);
        cr_assert(header.size >= sizeof header && header.size <= (size_t)(end - at) && header.size % 8 == 0);
        int rc = decoder_decode(decoder, at, header.size, &record, NULL);
        const bool sample = rc == 0 && record.kind == RECORD_SAMPLE;
        add_letter(seen, sizeof seen, header.type == ROUND ? '.' : sample ? letter_of(&record.sample) : 'o');
        if (header.type == ROUND)
            cr_assert_eq(order_round(order, NULL), 0);
        else
            cr_assert_eq(order_push_copy(order, at, header.size, NULL), 0);
        at += header.size;
    }
    return 0;
}

static int read_record(void *context, const struct record *given, struct fathom_error *err)
{
    struct record record = *given;
    (void)context;
    if (announced_take(announced, &record, err) || record.kind != RECORD_SAMPLE)
        return 0;
    const struct sample *s = &record.sample;
    if (s->walk && s->walk->count == 3) {
        cr_expect_eq(s->walk->frames[2].pc, frames[0].pc);
        cr_expect_eq(s->walk->frames[1].marks, WALKED_INTERRUPTED);
        cr_expect_eq(s->walk->frames[0].cfa, SP + 256u);
    }
    add_letter(read, sizeof read,
               s->known == SAMPLE_STACK_KEPT && s->walk && s->placed ? 'k'
               : s->known == SAMPLE_STACK_SAME && s->placed          ? '='
               : s->known != SAMPLE_STACK_NEW                        ? '?'
               : s->walk                                             ? s->stack ? 'b' : 'f'
               : s->stack_size == 1024                               ? 'l'
               : s->stack                                            ? 's'
                                                                     : '!');
    return 0;
}

static void put_sample(uint32_t tid, uint64_t time)
{
    sample_start(&in, ids[MAIN], tid, time);
    put64(&in, PERF_SAMPLE_REGS_ABI_64);
    put64(&in, 0xb0);
    put64(&in, SP);
    put64(&in, 0x401234);
    record_end(&in);
}

static void put_stack_at(uint8_t kind, uint32_t number, uint32_t tid, uint64_t time, uint32_t offset,
                         uint32_t bytes)
{
    static const uint8_t zero[60000];
    const struct stack_part part = {STACK_PART_BYTES, 0, 8 + bytes};
    const struct stack_record head = {.magic = STACK_RECORD_MAGIC,
                                      .version = STACK_RECORD_VERSION,
                                      .kind = kind,
                                      .page_bits = 12,
                                      .number = number,
                                      .size = bytes ? (uint32_t)sizeof part + part.size : 0,
                                      .ip = 0x401234,
                                      .sp = SP};
    sample_start(&in, ids[STACKS], tid, time);
    put32(&in, (uint32_t)sizeof head + head.size + 4);
    put(&in, &head, sizeof head);
    if (bytes) {
        put(&in, &part, sizeof part);
        put64(&in, offset);
        put(&in, zero, bytes);
    }
    put32(&in, 0);
    record_end(&in);
}

static void put_stack(uint8_t kind, uint32_t number, uint32_t tid, uint64_t time, uint32_t bytes)
{
    put_stack_at(kind, number, tid, time, 0, bytes);
}

static void put_new(uint32_t number, uint32_t tid, uint64_t time)
{
    put_stack(STACK_RECORD_NEW, number, tid, time, 512);
    put_sample(tid, time);
}

/* A stack of 1024 bytes, of which 512 come before its record. */
static void put_large(uint32_t number, uint32_t tid, uint64_t time)
{
    put_stack_at(STACK_RECORD_MORE, number, tid, time, 512, 400);
    put_stack_at(STACK_RECORD_MORE, number, tid, time, 912, 112);
    put_new(number, tid, time);
}

static void put_same(uint32_t number, uint32_t tid, uint64_t time)
{
    const struct {
        struct stack_record head;
        struct stack_part part;
        struct stack_placed placed;
        uint64_t at;
        uint32_t zero[2];
    } record = {.head = {.magic = STACK_RECORD_MAGIC,
                         .version = STACK_RECORD_VERSION,
                         .kind = STACK_RECORD_SAME,
                         .page_bits = 12,
                         .number = number,
                         .size = sizeof record.part + sizeof record.placed + sizeof record.at,
                         .ip = 0x401234,
                         .sp = SP},
                .part = {.type = STACK_PART_PLACED, .size = sizeof record.placed + sizeof record.at},
                .placed = {.base = SP + 256, .depth = 256, .count = 1},
                .at = 0x400000};
    sample_start(&in, ids[STACKS], tid, time);
    put32(&in, sizeof record - 4);
    put(&in, &record, sizeof record - 4);
    record_end(&in);
    put_sample(tid, time);
}

static void put_mark(void)
{
    record_start(&in, ROUND, 0);
    record_end(&in);
}

static void pass(uint64_t looked)
{
    cr_assert_eq(walk_sink_add(sink, looked, in.bytes, in.size, NULL), 0);
    in.size = 0;
}

static void walk_to(uint32_t number, uint32_t tid, uint64_t time, enum unwind_end end)
{
    static const uint8_t stack[512];
    const struct sample sample = {.tid = tid,
                                  .time = time,
                                  .stack_number = number,
                                  .sp = SP,
                                  .stack = stack,
                                  .stack_size = sizeof stack};
    walk_sink_walked(sink, &sample, number, frames, 3, end);
}

static void walk(uint32_t number, uint32_t tid, uint64_t time)
{
    walk_to(number, tid, time, UNWIND_ROOT);
}

static void start(void)
{
    in.size = 0;
    *seen = *read = 0;
    cr_assert_eq(walk_sink_new(events, EVENTS, note, NULL, &sink, NULL), 0);
    cr_assert_eq(decoder_new(events, EVENTS, &decoder, NULL), 0);
    cr_assert(announced = announced_new(events, EVENTS));
    cr_assert(order = order_new(decoder, true, read_record, NULL));
}

static void finish(void)
{
    cr_assert_eq(walk_sink_finish(sink, NULL), 0);
    cr_assert_eq(order_flush(order, NULL), 0);
}

static void end(void)
{
    walk_sink_free(sink);
    order_free(order);
    announced_free(announced);
    decoder_free(decoder);
}

TestSuite(walk_sink, .init = start, .fini = end);

Test(walk_sink, a_stack_waits_with_its_sample)
{
    put_sample(8, 1);
    put_new(1, 8, 2);
    put_sample(8, 3);
    pass(0);
    cr_expect_str_eq(seen, "mm");
    walk(1, 8, 2);
    pass(0);
    cr_expect_str_eq(seen, "mmfm");
    finish();
    cr_expect_str_eq(read, "?f?");
}

Test(walk_sink, one_in_two_calls)
{
    put_stack(STACK_RECORD_NEW, 1, 8, 2, 512);
    pass(0);
    put_sample(8, 2);
    put_stack(STACK_RECORD_AGAIN, 2, 8, 3, 512);
    put_sample(8, 3);
    pass(0);
    cr_expect_str_eq(seen, "");
    walk(1, 8, 2);
    walk(2, 8, 3);
    pass(0);
    finish();
    cr_expect_str_eq(read, "ff");
}

/* What was not walked is passed on as its copy: once the learner has looked at it, and at the end. */
Test(walk_sink, not_walked)
{
    put_new(1, 8, 1);
    pass(0);
    put_new(2, 8, 2);
    pass(0);
    cr_expect_str_eq(seen, "");
    pass(1);
    cr_expect_str_eq(seen, "sm");
    walk(1, 8, 1); /* too late */
    pass(1);
    cr_expect_str_eq(seen, "sm");
    finish();
    cr_expect_str_eq(seen, "smsm");
    cr_expect_str_eq(read, "ss");
}

Test(walk_sink, a_walk_of_another_stack)
{
    put_new(1, 8, 1);
    pass(0);
    walk(1, 9, 1);
    walk(1, 8, 2);
    pass(0);
    cr_expect_str_eq(seen, "");
    pass(1);
    cr_expect_str_eq(seen, "sm");
}

static void count_untold(void *untold, uint32_t number)
{
    *(uint32_t *)untold += number;
}

/* The first record that announces a stack of an earlier recording becomes that of a new one. */
Test(walk_sink, kept_stacks)
{
    enum { KEPT = STACK_NUMBER_KEPT + 2 };
    uint32_t untold = 0;
    walk_sink_untold(sink, count_untold, &untold);
    cr_expect(walk_sink_wants(sink, KEPT));
    put_same(KEPT, 8, 1);
    put_same(KEPT, 9, 2);
    pass(0);
    cr_expect_str_eq(seen, "", "both wait");
    walk_sink_walked(sink, &(struct sample){.tid = 9, .time = 2, .stack_number = KEPT, .sp = SP}, KEPT + 1,
                     frames, 3, UNWIND_ROOT);
    pass(0);
    cr_expect_str_eq(seen, "fm");
    cr_expect(walk_sink_wants(sink, KEPT), "another number was written");
    walk(KEPT, 8, 1);
    pass(0);
    cr_expect_str_eq(seen, "fmfm");
    cr_expect_not(walk_sink_wants(sink, KEPT));
    put_same(KEPT, 8, 3);
    pass(0);
    cr_expect_str_eq(seen, "fmfm-m", "it does not wait");
    put_same(KEPT + 2, 8, 4);
    pass(0);
    pass(5);
    cr_expect_str_eq(seen, "fmfm-m-m", "of which the learner knew nothing");
    cr_expect_eq(untold, KEPT + 2u);
    put_sample(9, 5); /* as it was told last: of the places, too */
    pass(5);
    finish();
    cr_expect_str_eq(read, "kk===");
}

Test(walk_sink, what_has_no_copy_or_no_sample_passes)
{
    put_stack(STACK_RECORD_SAME, 1, 8, 1, 0);
    put_sample(8, 1);
    put_stack(STACK_RECORD_NONE, 0, 8, 2, 0);
    put_sample(8, 2);
    put_stack(STACK_RECORD_NEW, 3, 8, 3, 512);
    put_stack(STACK_RECORD_NEW, 4, 8, 4, 512);
    put_sample(9, 4);
    put_stack(STACK_RECORD_NEW, 5, 8, 5, 512);
    put_sample(8, 6);
    put_stack(STACK_RECORD_NEW, 6, 8, 7, 512);
    pass(0);
    cr_expect_str_eq(seen, "-m-mssmsm");
    finish();
    cr_expect_str_eq(seen, "-m-mssmsms");
}

/* The collector passes a stack record and its sample on in one round. */
Test(walk_sink, a_round_without_the_sample)
{
    put_stack(STACK_RECORD_NEW, 1, 8, 1, 512);
    put_mark();
    put_sample(8, 1);
    pass(0);
    cr_expect_str_eq(seen, "s.m");
}

/* Readers may deliver what is as old as the youngest at the mark before: what waited at the mark behind that one must come first. */
Test(walk_sink, marks)
{
    put_mark();
    put_new(1, 8, 1);
    put_mark();
    pass(0);
    cr_expect_str_eq(seen, ".");
    put_sample(9, 2);
    put_mark();
    put_mark();
    pass(0);
    cr_expect_str_eq(seen, ".m");
    walk(1, 8, 1);
    put_sample(9, 3);
    put_mark();
    pass(0);
    cr_expect_str_eq(seen, ".mfmm.");
    put_new(2, 8, 4);
    pass(0);
    walk(2, 8, 4);
    put_new(3, 8, 5);
    put_mark();
    pass(0);
    put_new(4, 8, 6);
    put_mark();
    pass(0);
    cr_expect_str_eq(seen, ".mfmm.fm");
    walk(3, 8, 5);
    put_mark();
    pass(0);
    cr_expect_str_eq(seen, ".mfmm.fmfm.");
    finish();
    cr_expect_str_eq(read, "f??ffs");
}

/* A round may have a record that is older than the youngest of the round before. */
Test(walk_sink, older_than_the_round_before)
{
    put_sample(9, 2);
    put_mark();
    put_new(1, 8, 1);
    put_mark();
    pass(0);
    walk(1, 8, 1);
    pass(0);
    finish();
    cr_expect_str_eq(read, "f?");
}

/* Each is read as the stack that it was, whatever the order in which they were walked. */
Test(walk_sink, random_orders)
{
    srandom(1);
    uint32_t number = 0, walked[64];
    uint64_t time = 0;
    for (int round = 0; round < 200; round++) {
        const uint32_t first = number;
        for (long i = random() % 4; i >= 0; i--) {
            number++;
            put_new(number, 1 + number % 3, ++time);
        }
        put_mark();
        pass(0);
        size_t count = number - first;
        for (uint32_t i = 0; i < count; i++)
            walked[i] = first + 1 + i;
        for (; count; count--) {
            const size_t k = (size_t)random() % count;
            walk(walked[k], 1 + walked[k] % 3, walked[k]);
            walked[k] = walked[count - 1];
        }
    }
    finish();
    cr_expect_eq(strlen(read), number);
    cr_expect_null(strpbrk(read, "?s!"));
    cr_expect_eq(announced_damaged(announced), 0u);
}

static unsigned count_seen(char letter)
{
    unsigned count = 0;
    for (const char *at = seen; *at; at++)
        count += *at == letter;
    *seen = 0;
    return count;
}

static void put_early(uint32_t number, uint64_t time)
{
    put_stack(STACK_RECORD_NEW, number, 8, time, 59992);
    put_sample(8, time);
    pass(0);
    walk_to(number, 8, time, UNWIND_CUT);
    pass(0);
}

/* The copy of one in a hundred is kept, and those of walks that ended early, up to a limit that grows with time. */
Test(walk_sink, kept_copies)
{
    const uint64_t later = UINT64_C(10000000000); /* ns */
    for (uint32_t i = 1; i <= 200; i++) {
        put_new(i, 8, i);
        pass(0);
        walk(i, 8, i);
        pass(0);
    }
    cr_expect_eq(count_seen('b'), 2u);
    for (uint32_t i = 201; i <= 300; i++)
        put_early(i, i);
    cr_expect_eq(count_seen('s'), (4u << 20) / 60100);
    cr_expect_eq(walk_sink_left_out(sink), 100 - (4u << 20) / 60100);
    for (uint32_t i = 301; i <= 310; i++)
        put_early(i, later + i);
    cr_expect_eq(count_seen('s'), 3u);
    finish();
    cr_expect_eq(strlen(read), 310u);
    cr_expect_null(strpbrk(read, "?!"));
}

/* What was walked between two calls takes no more memory than it may: the rest stay copies. */
Test(walk_sink, many_deep_walks)
{
    enum { COUNT = 300, DEEP = 4000 };
    static struct unwind_frame deep[DEEP];
    for (uint32_t i = 0; i < DEEP; i++)
        deep[i] = (struct unwind_frame){.pc = 0x401234, .cfa = SP + 16 * (i + 1)};
    for (uint32_t i = 1; i <= COUNT; i++) {
        put_new(i, 8, i);
        pass(0);
    }
    for (uint32_t i = 1; i <= COUNT; i++)
        walk_sink_walked(sink, &(struct sample){.tid = 8, .time = i, .stack_number = i, .sp = SP}, i, deep,
                         DEEP, UNWIND_ROOT);
    pass(COUNT);
    const size_t copies = COUNT - strspn(seen, "fbm") / 2;
    cr_expect_eq(copies, COUNT - 700000 / DEEP);
    cr_expect_eq(count_seen('s'), copies);
    finish();
    cr_expect_eq(strlen(read), (size_t)COUNT);
    cr_expect_null(strpbrk(read, "?!"));
}

static int refuse(void *context, const void *records, size_t size, struct fathom_error *err)
{
    (void)context;
    (void)records;
    (void)size;
    (void)err;
    return -5;
}

Test(walk_sink, a_failed_write_is_told)
{
    struct walk_sink *other;
    cr_assert_eq(walk_sink_new(events, EVENTS, refuse, NULL, &other, NULL), 0);
    put_new(1, 8, 1);
    cr_expect_eq(walk_sink_add(other, 0, in.bytes, in.size, NULL), 0);
    cr_expect_eq(walk_sink_finish(other, NULL), -5);
    walk_sink_free(other);
}

/* A stack that comes in several records: all wait, and the frames take the place of all. */
Test(walk_sink, a_stack_larger_than_a_record)
{
    put_large(1, 8, 1);
    put_large(2, 8, 2);
    put_sample(9, 3);
    pass(0);
    cr_expect_str_eq(seen, "m");
    walk(1, 8, 1);
    pass(0);
    cr_expect_str_eq(seen, "mfm");
    finish();
    cr_expect_str_eq(seen, "mfm++sm");
    cr_expect_str_eq(read, "fl?");
}

/* What belongs to no record, or to none that waits, is passed on. */
Test(walk_sink, more_of_another_stack)
{
    put_stack_at(STACK_RECORD_MORE, 1, 8, 1, 512, 400);
    put_stack_at(STACK_RECORD_MORE, 2, 8, 1, 512, 400);
    put_new(3, 8, 1);
    put_stack_at(STACK_RECORD_MORE, 4, 8, 2, 512, 400);
    put_sample(8, 2);
    put_stack_at(STACK_RECORD_MORE, 5, 8, 3, 512, 400);
    put_stack(STACK_RECORD_NONE, 0, 8, 3, 0);
    put_sample(8, 3);
    put_stack_at(STACK_RECORD_MORE, 6, 8, 4, 512, 400);
    pass(0);
    walk(3, 8, 1);
    finish();
    cr_expect_str_eq(seen, "+++m+-mfm+");
}
