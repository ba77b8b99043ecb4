/* Where a sample's stack dump is, and its trimming. */
#include <criterion/criterion.h>

#include <string.h>

#include "perfdata/record.h"
#include "perfdata/stack_dump.h"

/* A sample with a 32-byte dump of which 13 bytes are valid. */
static const struct event event = {
    .attr = {.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                            PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_INTR,
             .sample_regs_user = 0x1c0,
             .sample_regs_intr = 0x1c0,
             .sample_stack_user = 32}};

static size_t make(uint64_t record[32], uint64_t valid)
{
    const uint64_t words[] = {0, /* header */
                              77,    0x401000, 9ULL << 32 | 8, 1234,   2,
                              0xb0,  0x7ff0,   0x401000, /* user: abi, bp, sp, ip */
                              32,    0x1111,   0x2222,         0x3333, 0x4444,
                              valid, 2,        0xb0,           0x7ff0, 0x401000 /* at the interrupt */};
    memcpy(record, words, sizeof words);
    struct perf_event_header header = {
        .type = PERF_RECORD_SAMPLE, .misc = PERF_RECORD_MISC_USER, .size = sizeof words};
    memcpy(record, &header, sizeof header);
    return sizeof words;
}

static struct sample decode(const uint64_t record[32], size_t size)
{
    struct decoder *decoder = NULL;
    struct record out;
    struct fathom_error err;
    cr_assert_eq(decoder_new(&event, 1, &decoder, &err), 0, "%s", err.text);
    cr_assert_eq(decoder_decode(decoder, record, size, &out, &err), 0, "%s", err.text);
    decoder_free(decoder);
    return out.sample;
}

static size_t header_size(const uint64_t record[32])
{
    struct perf_event_header header;
    memcpy(&header, record, sizeof header);
    return header.size;
}

Test(stack_dump, is_found_with_its_capacity)
{
    uint64_t record[32];
    struct sample s = decode(record, make(record, 13));
    cr_assert_eq(s.stack_at, 72);
    cr_assert_eq(s.stack_capacity, 32);
    cr_assert_eq(s.stack_size, 13);
    cr_assert_eq((const uint64_t *)(const void *)s.stack, record + 10);
}

Test(stack_dump, is_found_without_valid_bytes)
{
    uint64_t record[32];
    size_t size = make(record, 0);
    struct sample s = decode(record, size);
    cr_assert_null(s.stack);
    cr_assert_eq(s.stack_at, 72);
    cr_assert_eq(s.stack_capacity, 32);
    cr_assert_eq(stack_dump_trim(record, size, &s, 0), size - 40);
}

Test(stack_dump, is_trimmed_to_its_valid_bytes)
{
    uint64_t record[32];
    size_t size = make(record, 13);
    struct sample s = decode(record, size);
    size_t cut = stack_dump_trim(record, size, &s, s.stack_size);
    cr_assert_eq(cut, size - 16);
    cr_assert_eq(header_size(record), cut);
    cr_assert_eq(record[9], 16);
    cr_assert_eq(record[10], 0x1111);
    cr_assert_eq(record[11], 0x2222);
    cr_assert_eq(record[12], 13);
    cr_assert_eq(record[13], 2);
    cr_assert_eq(record[16], 0x401000);
    struct sample again = decode(record, cut);
    cr_assert_eq(again.stack_size, 13);
    cr_assert_eq(again.stack_capacity, 16);
    cr_assert_eq(again.sp, 0x7ff0);
}

Test(stack_dump, trimmed_to_nothing_loses_its_dynamic_size)
{
    uint64_t record[32];
    size_t size = make(record, 13);
    struct sample s = decode(record, size);
    size_t cut = stack_dump_trim(record, size, &s, 0);
    cr_assert_eq(cut, size - 40);
    cr_assert_eq(header_size(record), cut);
    cr_assert_eq(record[9], 0);
    cr_assert_eq(record[10], 2);
    cr_assert_eq(record[13], 0x401000);
    cr_assert_eq(decode(record, cut).stack_capacity, 0);
}
