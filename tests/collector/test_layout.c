/* The fields of a sample record, the cutting of its dump, and the search for clone's return address. */
#include <criterion/criterion.h>

#include <string.h>

#include "collector/events/layout.h"
#include "collector/targets/threadroot.h"

/* A sample with a 32-byte dump of which 13 bytes are valid. */
static const struct perf_event_attr attr = {
    .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                   PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_INTR,
    .sample_regs_user = 0x1c0,
    .sample_regs_intr = 0x1c0};

static size_t make(uint64_t record[32])
{
    const uint64_t words[] = {0, /* header */
                              77,   0x401000, 9ULL << 32 | 8, 1234,   2,
                              0xb0, 0x7ff0,   0x401000, /* user: abi, bp, sp, ip */
                              32,   0x1111,   0x2222,         0x3333, 0x4444,
                              13,   2,        0xb0,           0x7ff8, 0x401002 /* at the interrupt */};
    memcpy(record, words, sizeof words);
    struct perf_event_header header = {.type = PERF_RECORD_SAMPLE, .size = sizeof words};
    memcpy(record, &header, sizeof header);
    return sizeof words;
}

Test(layout, fields_are_found)
{
    uint64_t record[32], id;
    size_t size = make(record);
    struct layout_sample s;
    cr_assert(layout_sample_id(record, size, &id));
    cr_assert_eq(id, 77);
    cr_assert(layout_sample(&attr, record, size, &s));
    cr_assert_eq(s.ip, 0x401000);
    cr_assert_eq(s.pid, 8);
    cr_assert_eq(s.tid, 9);
    cr_assert_eq(s.time, 1234);
    cr_assert_eq(s.sp, 0x7ff0);
    cr_assert_eq(s.dump, 72);
    cr_assert_eq(s.dump_bytes, 32);
    cr_assert_eq(s.dump_valid, 13);
}

Test(layout, a_record_that_ends_early_is_refused)
{
    uint64_t record[32];
    size_t size = make(record);
    struct layout_sample s;
    for (size_t cut = 8; cut <= size; cut += 8)
        cr_assert(!layout_sample(&attr, record, size - cut, &s), "%zu bytes less", cut);
}

Test(layout, a_dump_is_cut_to_its_valid_bytes)
{
    uint64_t record[32];
    size_t size = make(record);
    struct layout_sample s, again;
    cr_assert(layout_sample(&attr, record, size, &s));
    size_t cut = layout_cut_dump(record, size, &s, s.dump_valid);
    cr_assert_eq(cut, size - 16);
    struct perf_event_header header;
    memcpy(&header, record, sizeof header);
    cr_assert_eq(header.size, cut);
    cr_assert_eq(record[9], 16);
    cr_assert_eq(record[10], 0x1111);
    cr_assert_eq(record[11], 0x2222);
    cr_assert_eq(record[12], 13);
    cr_assert_eq(record[13], 2);
    cr_assert_eq(record[16], 0x401002);
    cr_assert(layout_sample(&attr, record, cut, &again));
    cr_assert_eq(again.dump_valid, 13);
}

Test(layout, an_empty_dump_loses_its_dynamic_size)
{
    uint64_t record[32];
    size_t size = make(record);
    struct layout_sample s, again;
    cr_assert(layout_sample(&attr, record, size, &s));
    size_t cut = layout_cut_dump(record, size, &s, 0);
    cr_assert_eq(cut, size - 40);
    cr_assert_eq(record[9], 0);
    cr_assert_eq(record[10], 2);
    cr_assert_eq(record[13], 0x401002);
    cr_assert(layout_sample(&attr, record, cut, &again));
    cr_assert_eq(again.dump, 0);
}

Test(threadroot, clone3_and_clone_by_their_code_and_fork_left_out)
{
    const uint8_t code[] = {0x90, 0xb8, 0xb3, 1, 0, 0,    0x0f, 5,    0x48, 0x85, 0xc0, 0x31,
                            0xed, 0xff, 0xd2,                                                 /* clone3 */
                            0x48, 0x89, 0xc7,                                                 /* 15 */
                            0xb8, 0x38, 0,    0, 0, 0x0f, 5,    0x58, 0x5f, 0x41, 0xff, 0xd1, /* clone */
                            0xb8, 0x38, 0,    0, 0, 0x0f, 5,    0x90, 0x0f, 5,    0xff, 0xd0, /* fork */
                            0,    0,    0,    0};
    size_t found[THREADROOT_MAX];
    cr_assert_eq(threadroots_search(code, sizeof code, found), 2);
    cr_assert_eq(found[0], 15);
    cr_assert_eq(found[1], 30);
    for (size_t size = 0; size < sizeof code; size++) /* no read past the end, at any length */
        threadroots_search(code, size, found);
}
