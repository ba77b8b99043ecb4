/* Stack records as they are read and written. */
#include <criterion/criterion.h>

#include <string.h>

#include "perfdata/stack_parts.h"

static uint8_t raw[2 * sizeof(struct stack_record_read)];
static uint64_t values[3] = {0xb0, 0x7ff0, 0x401234};

/* A record with 16 bytes of a stack and BP, SP and IP; returns its size. */
static size_t make(uint64_t mask)
{
    const struct stack_parts parts = {
        .head = {.magic = STACK_RECORD_MAGIC, .kind = STACK_RECORD_NEW, .number = 5, .sp = 0x7ff0},
        .size = 16,
        .registers = (const uint8_t *)values,
        .mask = mask};
    memset(raw, 0xee, sizeof raw);
    size_t size = stack_parts_write(&parts, raw);
    memcpy(raw + size, "0123456789abcdef", 16);
    return size + 16;
}

Test(stack_parts, come_back)
{
    struct stack_parts parts;
    const size_t size = make(0x1c0);
    cr_assert(stack_parts_read(raw, size, &parts));
    cr_expect_eq(parts.head.number, 5u);
    cr_expect_eq(parts.size, 16u);
    cr_expect_arr_eq(parts.bytes, "0123456789abcdef", 16);
    cr_expect_eq(parts.mask, 0x1c0u);
    cr_expect_arr_eq(parts.registers, values, sizeof values);
    cr_expect_null(parts.below);
    cr_assert(stack_parts_read(raw, make(0), &parts));
    cr_expect_null(parts.registers);
    cr_expect_arr_eq(parts.bytes, "0123456789abcdef", 16);
}

Test(stack_parts, as_the_program_writes_them)
{
    struct {
        struct stack_record_read record;
        uint8_t bytes[STACK_RECORD_BELOW + 16];
    } whole = {
        .record = {.head = {.magic = STACK_RECORD_MAGIC,
                            .version = STACK_RECORD_VERSION,
                            .size = sizeof whole - sizeof whole.record.head},
                   .registers_part = {STACK_PART_REGISTERS, 0,
                                      sizeof whole.record.mask + sizeof whole.record.registers},
                   .mask = STACK_RECORD_REGISTERS,
                   .registers = {[16] = 15},
                   .bytes_part = {STACK_PART_BYTES, 0, sizeof whole.record.offset + sizeof whole.bytes},
                   .offset = -(int64_t)STACK_RECORD_BELOW},
        .bytes = {[127] = 9, [128] = 10}};
    struct stack_parts parts;
    uint64_t last;
    cr_assert(stack_parts_read((const uint8_t *)&whole, sizeof whole, &parts));
    memcpy(&last, parts.registers + 8 * 16, 8);
    cr_expect_eq(last, 15u);
    cr_assert(parts.below);
    cr_expect_eq(parts.below[127], 9);
    cr_assert_eq(parts.size, 16u);
    cr_expect_eq(parts.bytes[0], 10);
    cr_expect_not(parts.cut);
    whole.record.offset = 0;
    cr_assert(stack_parts_read((const uint8_t *)&whole, sizeof whole, &parts));
    cr_expect_null(parts.below);
    cr_expect_eq(parts.size, STACK_RECORD_BELOW + 16);
}

/* Of a stack that is larger than a record. */
Test(stack_parts, outermost_bytes)
{
    static uint8_t record[sizeof(struct stack_record_read) + STACK_RECORD_OUTER + 100];
    static const uint8_t last[STACK_RECORD_OUTER] = {[0] = 3, [STACK_RECORD_OUTER - 1] = 4};
    struct stack_parts parts;
    const size_t size = make(0x1c0);
    const struct stack_part part = {STACK_PART_BYTES, 0, 8 + STACK_RECORD_OUTER};
    const uint32_t whole = (uint32_t)(size - sizeof parts.head + sizeof part + part.size);
    for (int64_t offset = 0; offset <= 0x10000; offset += 0x8000) {
        memcpy(record, raw, size);
        memcpy(record + offsetof(struct stack_record, size), &whole, sizeof whole);
        memcpy(record + size, &part, sizeof part);
        memcpy(record + size + sizeof part, &offset, sizeof offset);
        memcpy(record + size + sizeof part + sizeof offset, last, sizeof last);
        cr_assert(stack_parts_read(record, sizeof parts.head + whole, &parts));
        cr_expect_eq(parts.size, 16u);
        cr_expect_eq(parts.cut, offset > 0);
        cr_assert_eq(parts.outer != NULL, offset > 0, "it is where the first bytes are");
        if (offset) {
            cr_expect_eq(parts.outer_at, 0x7ff0u + (uint64_t)offset);
            cr_expect_arr_eq(parts.outer, last, sizeof last);
        }
    }
}

/* 48 bytes, 5 times the words at 16 and 24, the second of which is an address, and 16 bytes more. */
struct run_record {
    struct stack_record head;
    struct stack_part bytes_part;
    int64_t offset;
    uint64_t bytes[6];
    struct stack_part run_part;
    struct stack_run run;
    struct stack_part rest_part;
    int64_t rest_at;
    uint64_t rest[2];
};
static const struct run_record run_record = {
    .head = {.magic = STACK_RECORD_MAGIC,
             .version = STACK_RECORD_VERSION,
             .kind = STACK_RECORD_NEW,
             .number = 5,
             .size = sizeof run_record - sizeof run_record.head,
             .sp = 0x7ff0},
    .bytes_part = {STACK_PART_BYTES, 0, 56},
    .bytes = {1, 2, 3, 4, 5, 6},
    .run_part = {STACK_PART_RUN, 0, sizeof(struct stack_run)},
    .run = {.period = 24, .times = 5, .count = 2, .at = {16, 24 + STACK_RUN_RELATIVE}},
    .rest_part = {STACK_PART_BYTES, 0, 24},
    .rest_at = 112,
    .rest = {7, 8},
};

Test(stack_parts, words_that_repeat_are_put_back)
{
    const uint64_t hole = UINT64_C(0xfdfdfdfdfdfdfdfd),
                   want[] = {1, 2, 3, 4, 5, 6, 28, hole, 3, 52, hole, 3, 76, hole, 7, 8};
    struct stack_parts parts;
    uint64_t whole[16];
    cr_assert(stack_parts_read((const uint8_t *)&run_record, sizeof run_record, &parts));
    cr_assert_eq(stack_parts_whole(&parts), sizeof whole);
    stack_parts_unfold(&parts, (uint8_t *)whole);
    cr_expect_arr_eq(whole, want, sizeof want);
    cr_expect_not(parts.cut);
}

Test(stack_parts, damaged_runs_are_refused)
{
    const struct stack_run damaged[] = {
        {.period = 24, .times = 5, .count = 25, .at = {16}},
        {.period = 8, .times = 5, .count = 2, .at = {16, 24}}, /* they overlap */
        {.period = 0, .times = 5, .count = 0},
        {.period = 24, .times = 0, .count = 1, .at = {16}},
        {.period = 24, .times = 3000, .count = 1, .at = {16}},
        {.period = UINT32_MAX, .times = 2, .count = 1, .at = {16}},
        {.period = 24, .times = 5, .count = 1, .at = {48}}, /* not in the bytes before */
        {.period = 24, .times = 5, .count = 1, .at = {UINT32_MAX}},
    };
    const int64_t rests[] = {40, STACK_RECORD_MAX - 8, INT64_MAX};
    struct stack_parts parts;
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        struct run_record r = run_record;
        r.run = damaged[i];
        cr_expect_not(stack_parts_read((const uint8_t *)&r, sizeof r, &parts), "run %zu", i);
    }
    for (size_t i = 0; i < sizeof rests / sizeof *rests; i++) {
        struct run_record r = run_record;
        r.rest_at = rests[i];
        cr_expect_not(stack_parts_read((const uint8_t *)&r, sizeof r, &parts), "rest %zu", i);
    }
    struct run_record r = run_record;
    r.rest_part.type = 99;
    cr_expect_not(stack_parts_read((const uint8_t *)&r, sizeof r, &parts), "nothing follows the run");
}

/* 16 bytes, and two words of the rest. */
struct words_record {
    struct stack_record head;
    struct stack_part bytes_part;
    int64_t offset;
    uint64_t bytes[2];
    struct stack_part words_part;
    struct stack_words known;
    struct stack_word_at words[2];
};
static const struct words_record words_record = {
    .head = {.magic = STACK_RECORD_MAGIC,
             .version = STACK_RECORD_VERSION,
             .kind = STACK_RECORD_NEW,
             .number = 5,
             .size = sizeof words_record - sizeof words_record.head,
             .sp = 0x7ff0},
    .bytes_part = {STACK_PART_BYTES, 0, 24},
    .bytes = {1, 2},
    .words_part = {STACK_PART_WORDS, 0, sizeof(struct stack_words) + 2 * sizeof(struct stack_word_at)},
    .known = {.whole = 48, .count = 2},
    .words = {{.at = 40, .value = 6}, {.at = 24, .value = 4}},
};

Test(stack_parts, a_known_stacks_words_follow)
{
    const uint64_t hole = UINT64_C(0xfdfdfdfdfdfdfdfd), want[] = {1, 2, hole, 4, hole, 6};
    struct words_record r = words_record;
    struct stack_parts parts;
    uint64_t whole[6];
    cr_assert(stack_parts_read((const uint8_t *)&r, sizeof r, &parts));
    cr_expect(stack_parts_folded(&parts));
    cr_assert_eq(stack_parts_whole(&parts), sizeof whole);
    stack_parts_unfold(&parts, (uint8_t *)whole);
    cr_expect_arr_eq(whole, want, sizeof want);
    r.known.whole = 2 * STACK_RECORD_MAX; /* of a stack that no record has room for */
    r.words[0].at = 2 * STACK_RECORD_MAX - 8;
    static uint64_t large[2 * STACK_RECORD_MAX / 8];
    cr_assert(stack_parts_read((const uint8_t *)&r, sizeof r, &parts));
    cr_assert_eq(stack_parts_whole(&parts), sizeof large);
    stack_parts_unfold(&parts, (uint8_t *)large);
    cr_expect_eq(large[sizeof large / 8 - 1], 6u);
    r = words_record;
    r.words[1].at = 8; /* the bytes have it */
    cr_assert(stack_parts_read((const uint8_t *)&r, sizeof r, &parts));
    stack_parts_unfold(&parts, (uint8_t *)whole);
    cr_expect_eq(whole[1], 2u);
}

Test(stack_parts, damaged_words_are_refused)
{
    const struct stack_words damaged[] = {{48, 3}, {48, UINT32_MAX},         {8, 2},
                                          {40, 2}, {STACK_WORDS_MAX + 8, 2}, {UINT32_MAX, 2}};
    struct stack_parts parts;
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        struct words_record r = words_record;
        r.known = damaged[i];
        cr_expect_not(stack_parts_read((const uint8_t *)&r, sizeof r, &parts), "words %zu", i);
    }
    struct words_record r = words_record;
    r.words[0].at = UINT32_MAX - 3;
    cr_expect_not(stack_parts_read((const uint8_t *)&r, sizeof r, &parts));
    r = words_record;
    r.bytes_part.type = 99;
    cr_expect_not(stack_parts_read((const uint8_t *)&r, sizeof r, &parts), "nothing is before the words");
}

/* 48 bytes, of which those from `at` on are another stack's. */
Test(stack_parts, another_stack)
{
    struct {
        struct stack_record head;
        struct stack_part bytes_part;
        int64_t offset;
        uint64_t bytes[6];
        struct stack_part switch_part;
        struct stack_switch at;
    } r = {.head = run_record.head,
           .bytes_part = {STACK_PART_BYTES, 0, 56},
           .switch_part = {STACK_PART_SWITCH, 0, sizeof r.at}};
    struct stack_parts parts;
    r.head.size = sizeof r - sizeof r.head;
    for (uint32_t at = 0; at <= 64; at += 4) {
        r.at.at = at;
        const bool read = stack_parts_read((const uint8_t *)&r, sizeof r, &parts);
        cr_expect_eq(read, at % 8 == 0 && at < 48, "%u", at);
        cr_expect(!read || parts.switch_at == at);
    }
    r.at.at = 8;
    r.switch_part.size = 2;
    r.head.size -= 6;
    cr_expect_not(stack_parts_read((const uint8_t *)&r, sizeof r - 6, &parts));
}

Test(stack_parts, of_the_earlier_version)
{
    const struct stack_record head = {.magic = STACK_RECORD_MAGIC, .version = STACK_RECORD_BARE, .size = 16};
    struct stack_parts parts;
    memcpy(raw, &head, sizeof head);
    memcpy(raw + sizeof head, "0123456789abcdef", 16);
    cr_assert(stack_parts_read(raw, sizeof head + 16, &parts));
    cr_expect_arr_eq(parts.bytes, "0123456789abcdef", 16);
    cr_expect_null(parts.registers);
}

Test(stack_parts, unknown_parts_are_passed_over)
{
    struct stack_parts parts;
    const size_t size = make(0x1c0), head = sizeof(struct stack_record),
                 added = sizeof(struct stack_part) + 8;
    const struct stack_part part = {99, 0, 8};
    const uint32_t longer = (uint32_t)(size - head - 16 + 16 + added);
    memmove(raw + head + added, raw + head, size - head);
    memcpy(raw + head, &part, sizeof part);
    memcpy(raw + offsetof(struct stack_record, size), &longer, sizeof longer);
    cr_assert(stack_parts_read(raw, size + added, &parts));
    cr_expect_arr_eq(parts.bytes, "0123456789abcdef", 16);
    cr_expect_eq(parts.mask, 0x1c0u);
}

Test(stack_parts, damaged_ones_are_refused)
{
    struct stack_parts parts;
    const size_t size = make(0x1c0);
    for (size_t shorter = 0; shorter < size; shorter++)
        cr_expect_not(stack_parts_read(raw, shorter, &parts), "%zu bytes", shorter);
    raw[offsetof(struct stack_record, version)] = STACK_RECORD_VERSION + 1;
    cr_expect_not(stack_parts_read(raw, size, &parts));
    make(0x1c0);
    memset(raw + sizeof(struct stack_record) + sizeof(struct stack_part), 0xff,
           8); /* more registers than bytes */
    cr_expect_not(stack_parts_read(raw, size, &parts));
    make(0x1c0);
    raw[sizeof(struct stack_record) + 7] = 0xff; /* a part that is larger than the record */
    cr_expect_not(stack_parts_read(raw, size, &parts));
    cr_expect_not(stack_parts_read(NULL, 0, &parts));
}
