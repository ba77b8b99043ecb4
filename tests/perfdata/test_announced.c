/* Stack records joined with their samples. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "perfdata/announced.h"
#include "perfdata/stack_record.h"
#include "perfdata/walks.h"

enum { MAIN, STACKS, AUDIT, EVENTS };

static const struct event events[EVENTS] = {
    [MAIN] = {.attr.sample_period = 1}, [STACKS] = {.stacks = true}, [AUDIT] = {.audit = true}};

struct raw {
    struct stack_record head;
    uint8_t stack[64];
};

static struct announced *a;
static struct sample last_sample; /* as it was filled in */

static int take(struct record *record)
{
    int rc = announced_take(a, record, NULL);
    last_sample = record->sample;
    return rc;
}

static void tell_raw(uint32_t tid, uint64_t ip, uint64_t time, const void *raw, uint32_t size)
{
    struct record record = {
        .kind = RECORD_SAMPLE,
        .sample = {.event = STACKS, .tid = tid, .ip = ip, .time = time, .raw = raw, .raw_size = size}};
    cr_expect_eq(take(&record), 1);
}

static const struct raw *make(uint8_t kind, uint32_t number, uint64_t sp)
{
    static struct raw raw;
    memset(&raw, 7, sizeof raw);
    raw.head = (struct stack_record){.magic = STACK_RECORD_MAGIC,
                                     .version = STACK_RECORD_BARE,
                                     .kind = kind,
                                     .page_bits = 12,
                                     .compared = 3,
                                     .number = number,
                                     .ip = 0x401234,
                                     .sp = sp};
    if (kind == STACK_RECORD_NEW || kind == STACK_RECORD_AGAIN)
        raw.head.size = sizeof raw.stack;
    return &raw;
}

static void tell(uint8_t kind, uint32_t number, uint32_t tid, uint64_t sp, uint64_t time)
{
    const struct raw *raw = make(kind, number, sp);
    tell_raw(tid, 0x401234, time, raw, (uint32_t)sizeof raw->head + raw->head.size);
}

static uint8_t ask_at(uint32_t tid, uint64_t ip, uint64_t sp, uint64_t time)
{
    struct record record = {
        .kind = RECORD_SAMPLE,
        .sample = {.event = MAIN, .tid = tid, .reg_ip = ip, .sp = sp, .time = time, .has_regs = true}};
    cr_expect_eq(take(&record), 0);
    return last_sample.known;
}

static uint8_t ask(uint32_t tid, uint64_t sp, uint64_t time)
{
    return ask_at(tid, 0x401567, sp, time);
}

static void start(void)
{
    a = announced_new(events, EVENTS);
    cr_assert(a);
}

static void end(void)
{
    announced_free(a);
}

TestSuite(announced, .init = start, .fini = end);

Test(announced, a_sample_has_the_stack_told_last_for_its_thread_page_and_sp)
{
    cr_expect_eq(ask(1, 100, 1), SAMPLE_STACK_UNKNOWN);
    tell(STACK_RECORD_NEW, 5, 1, 100, 2);
    cr_expect_eq(ask(1, 100, 2), SAMPLE_STACK_NEW);
    cr_expect_eq(last_sample.stack_number, 5u);
    cr_expect_eq(last_sample.stack_size, 64u);
    cr_expect_eq(last_sample.stack[0], 7u);
    cr_expect_eq(last_sample.compared, 3u);
    cr_expect_eq(ask(1, 100, 3), SAMPLE_STACK_SAME);
    cr_expect_eq(last_sample.stack_number, 5u);
    cr_expect_null(last_sample.stack);
    cr_expect_eq(ask(2, 100, 3), SAMPLE_STACK_UNKNOWN);
    cr_expect_eq(ask(1, 108, 3), SAMPLE_STACK_UNKNOWN);
    cr_expect_eq(ask_at(1, 0x402000, 100, 3), SAMPLE_STACK_UNKNOWN);
    tell(STACK_RECORD_NONE, 0, 1, 100, 4);
    cr_expect_eq(ask(1, 100, 4), SAMPLE_STACK_REFUSED);
    cr_expect_eq(ask(1, 100, 5), SAMPLE_STACK_REFUSED);
    tell(STACK_RECORD_RETURNED, STACK_RECORD_LATE, 1, 100, 5);
    cr_expect_eq(ask(1, 100, 5), SAMPLE_STACK_RETURNED);
    cr_expect_eq(last_sample.stack_number, 0u);
    cr_expect_eq(ask(1, 100, 5), SAMPLE_STACK_RETURNED);
    tell(STACK_RECORD_GONE, STACK_RECORD_NOWHERE, 1, 100, 5);
    cr_expect_eq(ask(1, 100, 5), SAMPLE_STACK_GONE);
    cr_expect_eq(last_sample.stack_number, 0u);
    tell(STACK_RECORD_SAME, 5, 1, 100, 6);
    cr_expect_eq(ask(1, 100, 6), SAMPLE_STACK_SAME);
    cr_expect_eq(last_sample.stack_number, 5u);
    tell(STACK_RECORD_AGAIN, 9, 1, 100, 7);
    cr_expect_eq(ask(1, 100, 7), SAMPLE_STACK_NEW);
    cr_expect_eq(last_sample.stack_number, 9u);
    cr_expect_eq(last_sample.checks_number, 5u);
    cr_expect_eq(ask(1, 100, 8), SAMPLE_STACK_SAME);
    cr_expect_eq(last_sample.checks_number, 0u);
    cr_expect_eq(announced_damaged(a), 0u);
}

/* A stack's bytes are those of the very next sample of its thread, if that has its time. */
Test(announced, the_bytes_of_a_lost_sample_go_to_no_other)
{
    tell(STACK_RECORD_NEW, 5, 1, 100, 2);
    cr_expect_eq(ask(2, 100, 2), SAMPLE_STACK_UNKNOWN);
    cr_expect_eq(ask(1, 100, 3), SAMPLE_STACK_SAME); /* its own was lost */
    cr_expect_eq(ask(1, 100, 2), SAMPLE_STACK_SAME);
    tell(STACK_RECORD_NEW, 6, 1, 100, 4);
    tell(STACK_RECORD_SAME, 5, 1, 100, 4);
    cr_expect_eq(ask(1, 100, 4), SAMPLE_STACK_SAME);
    cr_expect_eq(last_sample.stack_number, 5u);
}

/* The program read 64 bytes. */
Test(announced, what_was_read_of_a_stack_is_no_more_than_the_record_has)
{
    static const uint8_t own[100];
    struct record record = {.kind = RECORD_SAMPLE,
                            .sample = {.tid = 1,
                                       .reg_ip = 0x401000,
                                       .sp = 100,
                                       .time = 2,
                                       .has_regs = true,
                                       .stack = own,
                                       .stack_size = sizeof own}};
    tell(STACK_RECORD_NEW, 5, 1, 100, 2);
    cr_assert_eq(take(&record), 0);
    cr_expect_eq(last_sample.stack_size, 100u);
    struct sample read = announced_as_read(&last_sample);
    cr_expect_eq(read.stack_size, 64u);
    cr_expect_eq(read.stack, own);
    last_sample.known = SAMPLE_STACK_SAME;
    cr_expect_eq(announced_as_read(&last_sample).stack_size, 100u);
}

/* A record with the frames that a walk found, and with the stack's bytes, too. */
static uint32_t make_walk(struct walks *writer, uint32_t number, bool copy, uint8_t *raw)
{
    static struct walked_frame frames[20];
    for (size_t i = 0; i < 20; i++)
        frames[i] = (struct walked_frame){0x401000 + i, 10000 - 16 * i, 0};
    frames[19].pc = number;
    const struct walked walked = {.frames = frames, .count = 20, .back = 0x77, .has_back = true};
    struct stack_record head = make(STACK_RECORD_SAME, number, 100)->head;
    struct stack_part part = {.type = STACK_PART_FRAMES}, bytes = {STACK_PART_BYTES, 0, 16};
    part.size =
        (uint32_t)walks_write(writer, 1, number, number, &walked, raw + sizeof head + sizeof part, 1000);
    cr_assert(part.size);
    head.kind = STACK_RECORD_NEW;
    head.version = STACK_RECORD_VERSION;
    head.size = (uint32_t)sizeof part + part.size;
    memcpy(raw + sizeof head, &part, sizeof part);
    if (copy) {
        memcpy(raw + sizeof head + head.size, &bytes, sizeof bytes);
        memset(raw + sizeof head + head.size + sizeof bytes, 0, 16);
        head.size += sizeof bytes + 16;
    }
    memcpy(raw, &head, sizeof head);
    return (uint32_t)sizeof head + head.size;
}

Test(announced, a_stack_that_was_walked)
{
    struct walks *writer = walks_new();
    uint8_t raw[2000];
    tell_raw(1, 0x401234, 3, raw, make_walk(writer, 3, false, raw));
    cr_assert_eq(ask(1, 100, 3), SAMPLE_STACK_NEW);
    cr_assert(last_sample.walk);
    cr_expect_eq(last_sample.walk->count, 20u);
    cr_expect_eq(last_sample.walk->frames[19].pc, 3u);
    cr_expect_eq(last_sample.walk->back, 0x77u);
    cr_expect_null(last_sample.stack);
    cr_expect_eq(ask(1, 100, 4), SAMPLE_STACK_SAME);
    cr_expect_null(last_sample.walk);
    tell_raw(1, 0x401234, 4, raw, make_walk(writer, 4, true, raw));
    cr_assert_eq(ask(1, 100, 4), SAMPLE_STACK_NEW);
    cr_expect_eq(last_sample.walk->frames[19].pc, 4u);
    cr_expect_eq(last_sample.stack_size, 8u);
    /* One is lost: the next, which refers to it, has its number, and nothing else is known of it. */
    make_walk(writer, 5, false, raw);
    tell_raw(1, 0x401234, 6, raw, make_walk(writer, 6, false, raw));
    cr_expect_eq(ask(1, 100, 6), SAMPLE_STACK_SAME);
    cr_expect_eq(last_sample.stack_number, 6u);
    cr_expect_null(last_sample.walk);
    cr_expect_eq(announced_damaged(a), 0u);
    cr_expect_eq(announced_unresolved(a), 1u);
    tell_raw(1, 0x401234, 7, raw, make_walk(writer, 7, true, raw));
    cr_expect_eq(ask(1, 100, 7), SAMPLE_STACK_NEW);
    cr_expect_eq(announced_unresolved(a), 1u, "its bytes are there");
    walks_free(writer);
}

Test(announced, a_sample_keeps_its_own_dump)
{
    static const uint8_t own[8];
    struct record record = {.kind = RECORD_SAMPLE,
                            .sample = {.tid = 1,
                                       .reg_ip = 0x401000,
                                       .sp = 100,
                                       .time = 2,
                                       .has_regs = true,
                                       .stack = own,
                                       .stack_size = sizeof own}};
    tell(STACK_RECORD_NEW, 5, 1, 100, 2);
    take(&record);
    cr_expect_eq(last_sample.known, SAMPLE_STACK_NEW);
    cr_expect_eq(last_sample.stack, own);
}

Test(announced, other_events_have_nothing_told)
{
    tell(STACK_RECORD_NEW, 5, 1, 100, 2);
    struct record audit = {
        .kind = RECORD_SAMPLE,
        .sample = {.event = AUDIT, .tid = 1, .reg_ip = 0x401000, .sp = 100, .time = 2, .has_regs = true}};
    cr_expect_eq(take(&audit), 0);
    cr_expect_eq(last_sample.known, SAMPLE_STACK_UNKNOWN);
    audit.sample.event = EVENTS;
    cr_expect_eq(take(&audit), 0);
    cr_expect_eq(last_sample.known, SAMPLE_STACK_UNKNOWN);
    cr_expect_eq(ask(1, 100, 2), SAMPLE_STACK_NEW);
}

static void task(enum record_kind kind, uint32_t pid, uint32_t tid, bool exec)
{
    struct record record = {.kind = kind, .pid = pid, .tid = tid};
    if (kind == RECORD_COMM)
        record.comm.exec = exec;
    cr_expect_eq(announced_take(a, &record, NULL), 0);
}

/* The program may not follow the new one yet, and is silent then, too. */
Test(announced, a_new_thread_has_nothing_of_an_earlier_one_with_its_number)
{
    for (int i = 0; i < 3; i++) {
        uint64_t time = 10 * (uint64_t)i;
        tell(STACK_RECORD_NEW, 5 + i, 7, 100, time);
        cr_expect_eq(ask(7, 100, time), SAMPLE_STACK_NEW);
        tell(STACK_RECORD_NONE, 0, 7, 108, time + 1);
        cr_expect_eq(ask(7, 108, time + 1), SAMPLE_STACK_REFUSED);
        tell(STACK_RECORD_NEW, 50 + i, 8, 100, time + 2);
        task(RECORD_COMM, 7, 7, false); /* a new name */
        cr_expect_eq(ask(7, 100, time + 3), SAMPLE_STACK_SAME);
        if (i == 1)
            task(RECORD_COMM, 7, 7, true);
        else
            task(RECORD_FORK, 3, 7, false);
        cr_expect_eq(ask(7, 100, time + 4), SAMPLE_STACK_UNKNOWN);
        cr_expect_eq(ask(7, 108, time + 4), SAMPLE_STACK_UNKNOWN);
        cr_expect_eq(ask(8, 100, time + 4), SAMPLE_STACK_SAME);
        tell(STACK_RECORD_AGAIN, 90 + i, 7, 100, time + 5);
        cr_expect_eq(ask(7, 100, time + 5), SAMPLE_STACK_NEW);
        cr_expect_eq(last_sample.checks_number, 0u);
    }
    cr_expect_eq(announced_damaged(a), 0u);
}

/* What a damaged record told is not known: neither for its sample nor for later ones is an earlier one true. */
Test(announced, after_a_damaged_record_nothing_earlier_counts)
{
    static const struct {
        size_t at;
        uint8_t value;
        bool quiet; /* it may be another program's, and is not counted */
    } damages[] = {
        {offsetof(struct stack_record, magic), 0, true},
        {offsetof(struct stack_record, version), 0, false},
        {offsetof(struct stack_record, version), 3, false},
        {offsetof(struct stack_record, kind), 0, false},
        {offsetof(struct stack_record, kind), STACK_RECORD_NONE, false},     /* with a number */
        {offsetof(struct stack_record, kind), STACK_RECORD_RETURNED, false}, /* with another number */
        {offsetof(struct stack_record, kind), STACK_RECORD_GONE, false},
        {offsetof(struct stack_record, kind), STACK_RECORD_GONE + 1, false},
        {offsetof(struct stack_record, kind), 255, false},
        {offsetof(struct stack_record, page_bits), 64, false},
        {offsetof(struct stack_record, page_bits), 13, false},
        {offsetof(struct stack_record, page_bits), 0, false},
        {offsetof(struct stack_record, compared), 4, false},
        {offsetof(struct stack_record, number), 0, false},
        {offsetof(struct stack_record, size), 65, false},
        {offsetof(struct stack_record, size) + 3, 255, false},
        {offsetof(struct stack_record, sp), 0, false}, /* not the sample's */
        {offsetof(struct stack_record, sp) + 7, 255, false},
    };
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        uint64_t time = 10 * i + 10, before = announced_damaged(a);
        tell(STACK_RECORD_NEW, 5, 1, 100, time);
        cr_expect_eq(ask(1, 100, time), SAMPLE_STACK_NEW, "before %zu", i);
        cr_expect_eq(announced_damaged(a), before);
        struct raw raw = *make(STACK_RECORD_NEW, 6, 100);
        ((uint8_t *)&raw)[damages[i].at] = damages[i].value;
        tell_raw(1, 0x401234, time + 1, &raw, sizeof raw);
        cr_expect_eq(ask(1, 100, time + 1), SAMPLE_STACK_UNKNOWN, "damage %zu", i);
        cr_expect_eq(ask(1, 100, time + 2), SAMPLE_STACK_UNKNOWN, "after %zu", i);
        cr_expect_eq(announced_damaged(a), before + !damages[i].quiet, "damage %zu", i);
    }
    for (uint32_t size = 0; size < sizeof(struct raw); size++) {
        uint64_t time = 1000 + 10 * size;
        tell(STACK_RECORD_NEW, 5, 1, 100, time);
        const struct raw *raw = make(STACK_RECORD_NEW, 6, 100);
        uint8_t *exact = malloc(size + !size);
        memcpy(exact, raw, size);
        tell_raw(1, 0x401234, time + 1, size ? exact : NULL, size);
        cr_expect_eq(ask(1, 100, time + 1), SAMPLE_STACK_UNKNOWN);
        free(exact);
    }
}

/* Whatever the bytes are, nothing is read but them. */
Test(announced, an_event_that_the_program_does_not_see_has_no_stacks)
{
    enum { OTHER = EVENTS };
    struct event both[EVENTS + 1];
    memcpy(both, events, sizeof events);
    both[OTHER] = events[MAIN];
    end();
    a = announced_new(both, EVENTS + 1);
    tell(STACK_RECORD_NEW, 5, 1, 100, 2);
    cr_expect_eq(ask(1, 100, 2), SAMPLE_STACK_NEW);
    struct record record = {
        .kind = RECORD_SAMPLE,
        .sample = {.event = OTHER, .tid = 1, .reg_ip = 0x401567, .sp = 100, .time = 3, .has_regs = true}};
    take(&record);
    cr_expect_eq(last_sample.known, SAMPLE_STACK_UNKNOWN);
    tell(STACK_RECORD_SAME, 5, 1, 100, 4);
    record.sample.time = 4;
    take(&record);
    cr_expect_eq(last_sample.known, SAMPLE_STACK_SAME, "it had a record: the program sees it");
    record.sample.known = SAMPLE_STACK_UNKNOWN;
    record.sample.time = 5;
    take(&record);
    cr_expect_eq(last_sample.known, SAMPLE_STACK_SAME);
}

Test(announced, random_records_harm_nothing)
{
    srandom(1);
    for (uint64_t i = 0; i < 200000; i++) {
        const struct raw *good = make((uint8_t)(1 + random() % 4), (uint32_t)random() % 3, 100);
        uint32_t size = (uint32_t)(random() % (long)(sizeof *good + 1));
        uint8_t *raw = malloc(size + !size);
        memcpy(raw, good, size);
        for (long k = random() % 3; size && k > 0; k--)
            raw[random() % size] = (uint8_t)random();
        tell_raw((uint32_t)random() % 4, 0x401234, i, raw, size);
        uint64_t sum = 0;
        if (ask((uint32_t)random() % 4, 100, i - (uint64_t)(random() % 2)) == SAMPLE_STACK_NEW)
            for (uint32_t k = 0; k < last_sample.stack_size; k++)
                sum += last_sample.stack[k];
        cr_assert(sum < UINT64_MAX);
        free(raw);
    }
}

/* A stack that is larger than a record: bytes of it before that, each byte of which tells where it is. */
#define INNER 4096u

static uint8_t byte_at(uint32_t at)
{
    return (uint8_t)(at * 31 + at / 251);
}

static uint32_t put_bytes(uint8_t *raw, int64_t offset, uint32_t size)
{
    const struct stack_part part = {STACK_PART_BYTES, 0, 8 + size};
    memcpy(raw, &part, sizeof part);
    memcpy(raw + sizeof part, &offset, sizeof offset);
    for (uint32_t i = 0; i < size; i++)
        raw[sizeof part + sizeof offset + i] = byte_at((uint32_t)offset + i);
    return (uint32_t)(sizeof part + sizeof offset) + size;
}

static void tell_bytes(uint8_t kind, uint32_t number, uint32_t tid, int64_t offset, uint32_t size,
                       int64_t outer)
{
    static uint8_t raw[65536];
    struct stack_record head = make(STACK_RECORD_SAME, number, 800)->head;
    head.kind = kind;
    head.version = STACK_RECORD_VERSION;
    head.size = put_bytes(raw + sizeof head, offset, size);
    if (outer)
        head.size += put_bytes(raw + sizeof head + head.size, outer, STACK_RECORD_OUTER);
    memcpy(raw, &head, sizeof head);
    tell_raw(tid, 0x401234, 5, raw, (uint32_t)sizeof head + head.size);
}

static void tell_more(uint32_t number, uint32_t tid, uint32_t offset, uint32_t size)
{
    tell_bytes(STACK_RECORD_MORE, number, tid, offset, size, 0);
}

static void tell_large(uint32_t number, int64_t outer)
{
    tell_bytes(STACK_RECORD_NEW, number, 1, 0, INNER, outer);
}

static void expect_stack(uint32_t size, bool cut)
{
    cr_assert_eq(ask(1, 800, 5), SAMPLE_STACK_NEW);
    cr_expect_eq(last_sample.stack_number, 6u);
    cr_assert_eq(last_sample.stack_size, size);
    cr_expect_eq(last_sample.stack_cut, cut);
    for (uint32_t i = 0; i < size; i++)
        cr_assert_eq(last_sample.stack[i], byte_at(i), "byte %u", i);
}

Test(announced, a_stack_larger_than_a_record)
{
    const uint32_t full = 61440;
    for (int i = 0; i < 2; i++) {
        tell_more(6, 1, INNER, full);
        tell_more(6, 1, INNER + full, full);
        tell_more(6, 1, INNER + 2 * full, 1000);
        tell_large(6, INNER + 2 * full + 1000);
        expect_stack(INNER + 2 * full + 1000 + STACK_RECORD_OUTER, false);
    }
    tell_more(6, 1, INNER, 8);
    tell_large(6, INNER + 16);
    expect_stack(INNER + 8, true);
    tell_more(6, 1, INNER, full);
    tell_large(6, 0);
    expect_stack(INNER + full, true);
    cr_expect_eq(announced_damaged(a), 0u);
    tell_large(6, 0);
    expect_stack(INNER, false);
}

Test(announced, more_of_another_stack_is_ignored)
{
    tell_more(5, 1, INNER, 800); /* by its number */
    tell_large(6, 0);
    expect_stack(INNER, false);
    tell_more(6, 2, INNER, 800); /* by its thread */
    tell_large(6, 0);
    expect_stack(INNER, false);
    tell_more(6, 1, INNER, 800); /* another record comes first */
    tell(STACK_RECORD_NONE, 0, 1, 800, 5);
    tell_large(6, 0);
    expect_stack(INNER, false);
    tell_more(5, 1, INNER, 1600); /* a later one's */
    tell_more(6, 1, INNER, 800);
    tell_large(6, 0);
    expect_stack(INNER + 800, true);
    cr_expect_eq(announced_damaged(a), 0u);
}

Test(announced, damaged_more)
{
    static const struct {
        uint32_t offset, size; /* of what follows 800 bytes in place; or of the first, if that is `alone` */
        bool alone;
        uint32_t damaged, left;
    } tries[] = {{INNER + 808, 800, false, 1, INNER}, /* a gap */
                 {INNER + 792, 800, false, 1, INNER}, /* an overlap */
                 {INNER, 800, false, 1, INNER},       /* twice */
                 {INNER - 8, 800, true, 1, INNER},    /* not what follows the record's bytes */
                 {INNER + 8, 800, true, 1, INNER},
                 {STACK_WORDS_MAX, 8, true, 1, INNER}, /* too far out */
                 {STACK_WORDS_MAX - 8, 16, true, 1, INNER},
                 {INNER, 0, true, 1, INNER}, /* none */
                 {0, 800, true, 1, INNER}};
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        const uint64_t before = announced_damaged(a);
        if (!tries[i].alone)
            tell_more(6, 1, INNER, 800);
        tell_more(6, 1, tries[i].offset, tries[i].size);
        tell_large(6, 0);
        cr_expect_eq(announced_damaged(a) - before, tries[i].damaged, "%zu", i);
        expect_stack(tries[i].left, false);
    }
    tell_bytes(STACK_RECORD_MORE, 6, 1, -8, 800, 0);
    tell_bytes(STACK_RECORD_MORE, 6, 1, INT64_MAX - 8, 800, 0);
    tell_bytes(STACK_RECORD_MORE, 6, 1, INNER, 800, INNER + 800); /* two parts */
    tell_large(6, 0);
    expect_stack(INNER, false);
    tell(STACK_RECORD_MORE, 6, 1, 800, 5); /* without parts */
    cr_expect_eq(announced_damaged(a), sizeof tries / sizeof *tries + 4);
}
