/* Stack records and their samples, made samples that other tools unwind. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "perfdata/announced.h"
#include "perfdata/stack_record.h"
#include "perfdata/stack_sample.h"

enum { MAIN, STACKS, NEW_STACKS, EVENTS };

static uint64_t ids[EVENTS] = {1, 2, 3};
static struct event events[EVENTS] = {
    [MAIN] = {.attr = {.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME, .sample_id_all = 1},
              .ids = &ids[MAIN],
              .id_count = 1},
    [STACKS] = {.attr = {.type = PERF_TYPE_SOFTWARE,
                         .config = PERF_COUNT_SW_BPF_OUTPUT,
                         .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW,
                         .sample_id_all = 1},
                .ids = &ids[STACKS],
                .id_count = 1,
                .stacks = true},
};

static const struct sample own = {.pid = 7,
                                  .tid = 8,
                                  .time = 1234,
                                  .period = 1000000,
                                  .ip = 0xffffffff81000000,
                                  .has_regs = true,
                                  .reg_ip = 0x401234,
                                  .sp = 0x7ff0,
                                  .bp = 0xb0};

struct raw {
    struct stack_record head;
    uint8_t stack[STACK_RECORD_MAX + 8];
};

static struct raw raw;
static _Alignas(8) uint8_t made[STACK_SAMPLE_MAX];

static struct sample stack_of(uint8_t kind, uint32_t size)
{
    memset(raw.stack, 7, sizeof raw.stack);
    raw.head = (struct stack_record){.magic = STACK_RECORD_MAGIC,
                                     .version = STACK_RECORD_BARE,
                                     .kind = kind,
                                     .page_bits = 12,
                                     .compared = 3,
                                     .number = 5,
                                     .size = size,
                                     .ip = 0x401234,
                                     .sp = 0x7ff0};
    return (struct sample){.event = STACKS,
                           .pid = 7,
                           .tid = 8,
                           .time = 1234,
                           .raw = (const uint8_t *)&raw,
                           .raw_size = (uint32_t)sizeof raw.head + size};
}

static size_t make(const struct sample *stack, const struct sample *sample)
{
    return stack_sample_make(stack, sample, ids[NEW_STACKS], made);
}

static struct record decode(size_t size)
{
    struct decoder *decoder;
    struct record record;
    cr_assert_eq(decoder_new(events, EVENTS, &decoder, NULL), 0);
    cr_assert_eq(decoder_decode(decoder, made, size, &record, NULL), 0);
    decoder_free(decoder);
    return record;
}

static void start(void)
{
    stack_sample_event(&events[STACKS], &ids[NEW_STACKS], &events[NEW_STACKS]);
}

TestSuite(stack_sample, .init = start);

Test(stack_sample, has_the_registers_and_the_stack)
{
    static const uint32_t sizes[] = {1, 7, 8, 9, 4096, STACK_RECORD_MAX - 1, STACK_RECORD_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct sample stack = stack_of(i % 2 ? STACK_RECORD_NEW : STACK_RECORD_AGAIN, sizes[i]);
        memset(made, 0xee, sizeof made);
        size_t size = make(&stack, &own);
        cr_assert(size > sizes[i] && size <= STACK_SAMPLE_MAX && size % 8 == 0);
        struct sample sample = decode(size).sample;
        cr_expect_eq(sample.event, NEW_STACKS);
        cr_expect_eq(sample.pid, 7u);
        cr_expect_eq(sample.tid, 8u);
        cr_expect_eq(sample.time, 1234u);
        cr_expect_eq(sample.period, 1000000u);
        cr_expect_eq(sample.ip, 0x401234u);
        cr_expect_eq(sample.mode, SAMPLE_MODE_USER);
        cr_expect(sample.has_regs && sample.user_regs);
        cr_expect_eq(sample.reg_ip, 0x401234u);
        cr_expect_eq(sample.sp, 0x7ff0u);
        cr_expect_eq(sample.bp, 0xb0u);
        cr_assert_eq(sample.stack_size, sizes[i]);
        cr_expect_eq(sample.stack_cut, sizes[i] == STACK_RECORD_MAX);
        cr_expect_eq(memcmp(sample.stack, raw.stack, sizes[i]), 0);
    }
}

/* For Fathom it is the stack record that it was. */
Test(stack_sample, announces_what_the_stack_record_did)
{
    struct announced *a = announced_new(events, EVENTS);
    for (uint32_t number = 5; number < 7; number++) {
        struct sample stack = stack_of(number == 5 ? STACK_RECORD_NEW : STACK_RECORD_AGAIN, 64);
        raw.head.number = number;
        struct record record = decode(make(&stack, &own)), sample = {.kind = RECORD_SAMPLE, .sample = own};
        cr_expect_eq(announced_take(a, &record, NULL), 1);
        cr_expect_eq(announced_take(a, &sample, NULL), 0);
        cr_expect_eq(sample.sample.known, SAMPLE_STACK_NEW);
        cr_expect_eq(sample.sample.stack_number, number);
        cr_expect_eq(sample.sample.checks_number, number == 5 ? 0u : 5u);
        cr_expect_eq(sample.sample.compared, 3u);
        cr_assert_eq(sample.sample.stack_size, 64u);
        cr_expect_eq(memcmp(sample.sample.stack, raw.stack, 64), 0);
    }
    cr_expect_eq(announced_damaged(a), 0u);
    announced_free(a);
}

Test(stack_sample, is_of_its_own_sample_alone)
{
    struct sample stack = stack_of(STACK_RECORD_NEW, 64);
    struct sample others[6] = {own, own, own, own, own, own};
    others[1].pid++;
    others[2].tid++;
    others[3].time++;
    others[4].sp++;
    others[5].has_regs = false;
    cr_expect_neq(make(&stack, &others[0]), 0u);
    for (int i = 1; i < 6; i++)
        cr_expect_eq(make(&stack, &others[i]), 0u, "%d", i);
}

Test(stack_sample, is_not_made_of_damaged_records_or_those_without_a_stack)
{
    static const struct {
        size_t at;
        uint8_t value;
    } damages[] = {
        {offsetof(struct stack_record, magic), 0},
        {offsetof(struct stack_record, version), STACK_RECORD_VERSION + 1},
        {offsetof(struct stack_record, kind), 0},
        {offsetof(struct stack_record, kind), STACK_RECORD_SAME},
        {offsetof(struct stack_record, kind), STACK_RECORD_NONE},
        {offsetof(struct stack_record, kind), 255},
        {offsetof(struct stack_record, size), 0},
        {offsetof(struct stack_record, size), 65},
        {offsetof(struct stack_record, size) + 3, 255},
        {offsetof(struct stack_record, sp), 0},
    };
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        struct sample stack = stack_of(STACK_RECORD_NEW, 64);
        ((uint8_t *)&raw)[damages[i].at] = damages[i].value;
        cr_expect_eq(make(&stack, &own), 0u, "damage %zu", i);
    }
    struct sample large = stack_of(STACK_RECORD_NEW, STACK_RECORD_MAX + 1);
    cr_expect_eq(make(&large, &own), 0u);
    large.raw = NULL;
    cr_expect_eq(make(&large, &own), 0u);
}

Test(stack_sample, is_not_made_of_short_records)
{
    for (uint32_t size = 0; size < sizeof raw.head + 64; size++) {
        struct sample stack = stack_of(STACK_RECORD_NEW, 64);
        uint8_t *exact = malloc(size + !size);
        memcpy(exact, &raw, size);
        stack.raw = exact;
        stack.raw_size = size;
        cr_expect_eq(make(&stack, &own), 0u, "%u bytes", size);
        free(exact);
    }
}

/* Whatever the bytes are, nothing is read but them, and what is made can be decoded. */
Test(stack_sample, random_records_harm_nothing)
{
    srandom(1);
    for (int i = 0; i < 50000; i++) {
        struct sample stack = stack_of((uint8_t)(1 + random() % 4), (uint32_t)(random() % 64));
        uint8_t *exact = malloc(stack.raw_size);
        memcpy(exact, &raw, stack.raw_size);
        for (long k = random() % 3; k > 0; k--)
            exact[(size_t)random() % stack.raw_size] = (uint8_t)random();
        stack.raw = exact;
        size_t size = make(&stack, &own);
        if (size)
            cr_assert_eq(decode(size).sample.event, NEW_STACKS);
        free(exact);
    }
}

Test(stack_sample, is_told_by_its_attr)
{
    struct event other = events[NEW_STACKS];
    cr_expect(stack_sample_is(&other.attr));
    cr_expect_not(stack_sample_is(&events[STACKS].attr));
    other.attr.config1 = 0;
    cr_expect_not(stack_sample_is(&other.attr));
    other = events[NEW_STACKS];
    other.attr.sample_type &= ~(uint64_t)PERF_SAMPLE_STACK_USER;
    cr_expect_not(stack_sample_is(&other.attr));
}
