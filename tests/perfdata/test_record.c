/* The decoder: known bytes, known fields. */
#include <criterion/criterion.h>

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "build.h"
#include "perfdata/head.h"
#include "perfdata/record.h"

#define USER   PERF_RECORD_MISC_USER
#define KERNEL PERF_RECORD_MISC_KERNEL

static const uint64_t fields = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;

static struct event event_with(uint64_t sample_type)
{
    return (struct event){.attr = {.type = PERF_TYPE_SOFTWARE,
                                   .size = sizeof(struct perf_event_attr),
                                   .config = PERF_COUNT_SW_CPU_CLOCK,
                                   .sample_type = sample_type,
                                   .sample_period = 1000,
                                   .sample_id_all = 1},
                          .name = "cpu-clock"};
}

static struct decoder *decoder_of(const struct event *events, size_t count)
{
    struct decoder *decoder = NULL;
    struct fathom_error err;
    cr_assert_eq(decoder_new(events, count, &decoder, &err), 0, "%s", err.text);
    return decoder;
}

/* Decodes the one record in b. */
static struct record decode(const struct event *events, size_t count, const struct build *b)
{
    struct decoder *decoder = decoder_of(events, count);
    struct record record;
    struct fathom_error err;
    cr_assert_eq(decoder_decode(decoder, b->bytes, b->size, &record, &err), 0, "%s", err.text);
    cr_assert_eq(decoder_time(decoder, b->bytes, b->size), record.time);
    decoder_free(decoder);
    return record;
}

static void put_trailer(struct build *b, uint32_t pid, uint32_t tid, uint64_t time, uint64_t id)
{
    put32(b, pid);
    put32(b, tid);
    put64(b, time);
    put64(b, id);
}

Test(record, a_72_byte_sample_of_ours)
{
    struct event event = event_with(fields | PERF_SAMPLE_REGS_INTR);
    event.attr.sample_regs_intr = 1 << 6 | 1 << 7 | 1 << 8;
    struct build b = {0};
    record_start(&b, PERF_RECORD_SAMPLE, USER);
    put64(&b, 77);       /* identifier */
    put64(&b, 0x401136); /* ip */
    put32(&b, 1000);
    put32(&b, 1001);
    put64(&b, 123456789); /* time */
    put64(&b, PERF_SAMPLE_REGS_ABI_64);
    put64(&b, 0xb9);  /* bp */
    put64(&b, 0x59);  /* sp */
    put64(&b, 0x1b9); /* ip */
    record_end(&b);
    cr_assert_eq(b.size, 72);
    struct record r = decode(&event, 1, &b);
    cr_assert_eq(r.kind, RECORD_SAMPLE);
    cr_assert_eq(r.pid, 1000);
    cr_assert_eq(r.tid, 1001);
    cr_assert_eq(r.time, 123456789);
    cr_assert_eq(r.sample.pid, 1000);
    cr_assert_eq(r.sample.tid, 1001);
    cr_assert_eq(r.sample.time, 123456789);
    cr_assert_eq(r.sample.ip, 0x401136);
    cr_assert_eq(r.sample.mode, SAMPLE_MODE_USER);
    cr_assert(r.sample.has_regs);
    cr_assert(!r.sample.user_regs);
    cr_assert_eq(r.sample.bp, 0xb9);
    cr_assert_eq(r.sample.sp, 0x59);
    cr_assert_eq(r.sample.reg_ip, 0x1b9);
    cr_assert_eq(r.sample.period, 1000);
    cr_assert_null(r.sample.stack);
    cr_assert_null(r.sample.callchain);
}

/* A sample of IP, maybe a chain, and the registers at an interrupt. */
static struct record decode_exact(const struct event *event, uint16_t misc)
{
    struct build b = {0};
    record_start(&b, PERF_RECORD_SAMPLE, misc);
    put64(&b, 77);       /* identifier */
    put64(&b, 0x401136); /* ip */
    put32(&b, 1000);
    put32(&b, 1001);
    put64(&b, 123456789); /* time */
    if (event->attr.sample_type & PERF_SAMPLE_CALLCHAIN) {
        put64(&b, 2);
        put64(&b, (uint64_t)PERF_CONTEXT_USER);
        put64(&b, 0x401199);
    }
    put64(&b, PERF_SAMPLE_REGS_ABI_64);
    put64(&b, 0xb9);     /* bp */
    put64(&b, 0x59);     /* sp */
    put64(&b, 0x401136); /* ip */
    record_end(&b);
    return decode(event, 1, &b);
}

Test(record, registers_of_exact_samples)
{
    struct event pebs = event_with(fields | PERF_SAMPLE_REGS_INTR);
    pebs.attr.type = PERF_TYPE_RAW;
    pebs.attr.sample_regs_intr = 0x1c0;
    pebs.attr.precise_ip = 2;
    cr_assert(decode_exact(&pebs, USER | PERF_RECORD_MISC_EXACT_IP).sample.regs_after);
    cr_assert(!decode_exact(&pebs, USER).sample.regs_after, "the kernel found no exact IP");
    pebs.attr.precise_ip = 1;
    cr_assert(!decode_exact(&pebs, USER | PERF_RECORD_MISC_EXACT_IP).sample.regs_after);
    struct event ibs = event_with(fields | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_INTR);
    ibs.attr.type = 11; /* a PMU's own */
    ibs.attr.sample_regs_intr = 0x1c0;
    struct record r = decode_exact(&ibs, USER | PERF_RECORD_MISC_EXACT_IP);
    cr_assert_eq(r.sample.ip, 0x401136);
    cr_assert_eq(r.sample.reg_ip, 0x401199, "that of the interrupt");
    cr_assert(!r.sample.regs_after);
    cr_assert_eq(decode_exact(&ibs, USER).sample.reg_ip, 0x401136);
    ibs.attr.type = PERF_TYPE_SOFTWARE;
    cr_assert_eq(decode_exact(&ibs, USER | PERF_RECORD_MISC_EXACT_IP).sample.reg_ip, 0x401136);
}

/* Every field, each with a value of its own. Order: perf_output_sample() of the kernel. */
static struct event full_event(void)
{
    struct event event = event_with(
        fields | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
        PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW |
        PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_WEIGHT |
        PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_PHYS_ADDR |
        PERF_SAMPLE_CGROUP | PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE | PERF_SAMPLE_AUX);
    event.attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
                             PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID | 1 << 4;
    event.attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_HW_INDEX;
    event.attr.sample_regs_user = 0xfff; /* AX .. GS: twelve */
    event.attr.sample_regs_intr = 1 << 0 | 1 << 6 | 1 << 7 | 1 << 8 | 1 << 20;
    event.attr.sample_stack_user = 64;
    return event;
}

static void put_full_sample(struct build *b, uint16_t misc)
{
    record_start(b, PERF_RECORD_SAMPLE, misc);
    put64(b, 9);      /* identifier */
    put64(b, 0x1111); /* ip */
    put32(b, 5);
    put32(b, 6);
    put64(b, 777);    /* time */
    put64(b, 0x2222); /* addr */
    put64(b, 9);      /* id */
    put64(b, 10);     /* stream id */
    put64(b, 3);      /* cpu */
    put64(b, 4242);   /* period */
    put64(b, 2);      /* read: group of two, enabled, running, 2 x (value, id, lost) */
    for (int i = 0; i < 8; i++)
        put64(b, 50 + i);
    put64(b, 3); /* callchain */
    put64(b, PERF_CONTEXT_USER);
    put64(b, 0x1111);
    put64(b, 0x3333);
    put32(b, 12); /* raw */
    put(b, "raw raw raw.", 12);
    put64(b, 1); /* branches: hw_idx, one entry */
    put64(b, 0);
    for (int i = 0; i < 3; i++)
        put64(b, 60 + i);
    put64(b, PERF_SAMPLE_REGS_ABI_64); /* user registers: value = 100 + number */
    for (int i = 0; i < 12; i++)
        put64(b, 100 + i);
    put64(b, 64); /* stack dump, 40 bytes of it valid */
    for (int i = 0; i < 8; i++)
        put64(b, 200 + i);
    put64(b, 40);
    put64(b, 0x4444);                  /* weight */
    put64(b, 0x5555);                  /* data source */
    put64(b, 0x6666);                  /* transaction */
    put64(b, PERF_SAMPLE_REGS_ABI_64); /* registers at the interrupt: AX BP SP IP R12 */
    for (int i = 0; i < 5; i++)
        put64(b, 300 + i);
    for (int i = 0; i < 4; i++)
        put64(b, 400 + i); /* physical address, cgroup, page sizes */
    put64(b, 8);           /* aux */
    put64(b, 0xaa);
    record_end(b);
}

Test(record, every_field_of_a_sample)
{
    struct event event = full_event();
    struct build b = {0};
    put_full_sample(&b, USER);
    struct record r = decode(&event, 1, &b);
    cr_assert_eq(r.sample.ip, 0x1111);
    cr_assert_eq(r.sample.tid, 6);
    cr_assert_eq(r.sample.time, 777);
    cr_assert_eq(r.sample.addr, 0x2222);
    cr_assert_eq(r.sample.period, 4242);
    cr_assert_eq(r.sample.callchain_count, 3);
    cr_assert_eq(r.sample.callchain[2], 0x3333);
    cr_assert_eq(r.sample.branch_count, 1);
    cr_assert_eq(r.sample.branches[0], 60);
    cr_assert_eq(r.sample.branches[8], 61);
    cr_assert_eq(r.sample.stack_size, 40);
    cr_assert_eq(r.sample.stack[8], 201);
    cr_assert(!r.sample.stack_cut);
    cr_assert_eq(r.sample.weight, 0x4444);
    cr_assert_eq(r.sample.data_src, 0x5555);
    cr_assert_eq(r.sample.cgroup, 401);
    cr_assert(r.sample.has_regs);
    cr_assert(!r.sample.user_regs);
    cr_assert_eq(r.sample.bp, 301);
    cr_assert_eq(r.sample.sp, 302);
    cr_assert_eq(r.sample.reg_ip, 303);
}

Test(record, of_a_sample_in_the_kernel_the_user_registers_count)
{
    struct event event = full_event();
    struct build b = {0};
    put_full_sample(&b, KERNEL);
    struct record r = decode(&event, 1, &b);
    cr_assert_eq(r.sample.mode, SAMPLE_MODE_KERNEL);
    cr_assert(r.sample.has_regs);
    cr_assert(r.sample.user_regs);
    cr_assert_eq(r.sample.bp, 106);
    cr_assert_eq(r.sample.sp, 107);
    cr_assert_eq(r.sample.reg_ip, 108);
}

Test(record, every_cut_of_a_sample_is_damaged)
{
    struct event event = full_event();
    struct build b = {0};
    put_full_sample(&b, USER);
    struct decoder *decoder = decoder_of(&event, 1);
    for (size_t size = 0; size < b.size; size++) {
        /* a copy of just that size, so that a sanitizer sees reads behind it */
        uint8_t *copy = malloc(size ? size : 1);
        memcpy(copy, b.bytes, size);
        struct record r = {.pid = 4711};
        cr_assert_eq(decoder_decode(decoder, copy, size, &r, NULL), -EBADMSG, "%zu bytes", size);
        cr_assert_eq(r.pid, 4711); /* untouched */
        free(copy);
    }
    decoder_free(decoder);
}

Test(record, counts_beyond_the_record_are_damaged)
{
    struct event event = event_with(PERF_SAMPLE_CALLCHAIN);
    struct decoder *decoder = decoder_of(&event, 1);
    const uint64_t counts[] = {3, 1 << 13, UINT64_C(1) << 32, UINT64_C(1) << 61, UINT64_MAX};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct build b = {0};
        record_start(&b, PERF_RECORD_SAMPLE, USER);
        put64(&b, counts[i]);
        put64(&b, 1);
        put64(&b, 2);
        record_end(&b);
        struct record r;
        cr_assert_eq(decoder_decode(decoder, b.bytes, b.size, &r, NULL), -EBADMSG);
    }
    decoder_free(decoder);
}

/* A sample with a dump of `size` bytes of which `valid` hold stack. */
static struct record stack_sample(uint32_t asked, uint32_t size, uint64_t valid)
{
    struct event event = event_with(fields | PERF_SAMPLE_STACK_USER);
    event.attr.sample_stack_user = asked;
    struct build *b = calloc(1, sizeof *b);
    record_start(b, PERF_RECORD_SAMPLE, USER);
    for (int i = 0; i < 4; i++)
        put64(b, 1);
    put64(b, size);
    b->size += size;
    put64(b, valid);
    record_end(b);
    struct record r = decode(&event, 1, b);
    free(b);
    return r;
}

Test(record, a_dump_is_cut_when_it_is_as_large_as_asked_for)
{
    cr_assert(stack_sample(8192, 8192, 8192).sample.stack_cut);
    cr_assert(!stack_sample(8192, 8192, 8184).sample.stack_cut);
    /* trimmed to its valid bytes by our collector */
    cr_assert(!stack_sample(8192, 4096, 4096).sample.stack_cut);
}

Test(record, a_dump_is_cut_when_the_kernel_lowered_it)
{
    /* 8 + 4 * 8 bytes before the dump and 16 for its sizes: 65535 - 56 - 8, rounded up to 8, is 65472 */
    cr_assert(stack_sample(65528, 65472, 65472).sample.stack_cut);
    cr_assert(!stack_sample(65528, 65472, 65464).sample.stack_cut);
    cr_assert(!stack_sample(65528, 32768, 32768).sample.stack_cut);
}

Test(record, registers_that_the_kernel_did_not_have)
{
    struct event event = event_with(PERF_SAMPLE_IP | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_REGS_INTR);
    event.attr.sample_regs_user = event.attr.sample_regs_intr = 0x1c0;
    struct build b = {0};
    record_start(&b, PERF_RECORD_SAMPLE, USER);
    put64(&b, 0x1234);
    put64(&b, PERF_SAMPLE_REGS_ABI_NONE);
    put64(&b, PERF_SAMPLE_REGS_ABI_32);
    put64(&b, 1);
    put64(&b, 2);
    put64(&b, 3);
    record_end(&b);
    struct sample sample = decode(&event, 1, &b).sample;
    cr_assert(!sample.has_regs);
    cr_assert_eq(sample.sp, 2); /* of a 32-bit process: its stack's base can be found all the same */

    /* a mask without BP */
    event = event_with(PERF_SAMPLE_IP | PERF_SAMPLE_REGS_INTR);
    event.attr.sample_regs_intr = 0x180;
    b.size = 0;
    record_start(&b, PERF_RECORD_SAMPLE, USER);
    put64(&b, 0x1234);
    put64(&b, PERF_SAMPLE_REGS_ABI_64);
    put64(&b, 1);
    put64(&b, 2);
    record_end(&b);
    cr_assert(!decode(&event, 1, &b).sample.has_regs);
}

Test(record, read_formats)
{
    const struct {
        uint64_t format;
        int words; /* after the group's count */
        bool group;
    } cases[] = {
        {0, 1, false},
        {PERF_FORMAT_ID, 2, false},
        {PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_ID, 3, false},
        {PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID | 1 << 4, 5, false},
        {PERF_FORMAT_GROUP, 2, true},
        {PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_RUNNING, 5, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct event event = event_with(PERF_SAMPLE_READ | PERF_SAMPLE_WEIGHT_STRUCT);
        event.attr.read_format = cases[i].format;
        struct build b = {0};
        record_start(&b, PERF_RECORD_SAMPLE, USER);
        if (cases[i].group)
            put64(&b, 2);
        for (int k = 0; k < cases[i].words; k++)
            put64(&b, 0xdead);
        put32(&b, 123); /* weight: the lowest word of three */
        put32(&b, 0x10002);
        record_end(&b);
        cr_assert_eq(decode(&event, 1, &b).sample.weight, 123, "case %zu", i);
    }
}

Test(record, periods_that_the_sample_does_not_tell)
{
    struct build b = {0};
    record_start(&b, PERF_RECORD_SAMPLE, USER);
    put64(&b, 1);
    record_end(&b);
    struct event event = event_with(PERF_SAMPLE_IP);
    cr_assert_eq(decode(&event, 1, &b).sample.period, 1000);
    event.attr.freq = 1; /* 1000 Hz of a clock in ns */
    cr_assert_eq(decode(&event, 1, &b).sample.period, 1000000);
    event.attr.type = PERF_TYPE_HARDWARE;
    cr_assert_eq(decode(&event, 1, &b).sample.period, 1);
    event.attr.freq = 0;
    event.attr.sample_period = 0;
    cr_assert_eq(decode(&event, 1, &b).sample.period, 1);
}

Test(record, events_are_told_apart_by_their_ids)
{
    uint64_t first[] = {1, 2}, second[] = {3};
    struct event events[] = {event_with(fields), event_with(fields | PERF_SAMPLE_PERIOD)};
    events[0].ids = first;
    events[0].id_count = 2;
    events[1].ids = second;
    events[1].id_count = 1;
    struct decoder *decoder = decoder_of(events, 2);
    for (uint64_t id = 0; id < 5; id++) {
        struct build b = {0};
        record_start(&b, PERF_RECORD_SAMPLE, USER);
        put64(&b, id);
        put64(&b, 0x1234);
        put64(&b, 0);
        put64(&b, 99);
        put64(&b, 5); /* a period, if it is the second */
        record_end(&b);
        struct record r = {0};
        int rc = decoder_decode(decoder, b.bytes, b.size, &r, NULL);
        cr_assert_eq(rc, id >= 1 && id <= 3 ? 0 : -EBADMSG);
        if (rc == 0) {
            cr_assert_eq(r.sample.event, id == 3);
            cr_assert_eq(r.sample.period, id == 3 ? 5 : 1000);
        }
    }
    decoder_free(decoder);
}

Test(record, an_event_of_two_kinds_of_cores_is_one)
{
    uint64_t first_id[] = {1}, second_id[] = {3};
    struct event events[] = {event_with(fields), event_with(fields)};
    events[0].ids = first_id;
    events[1].ids = second_id;
    events[0].id_count = events[1].id_count = 1;
    events[0].attr.type = PERF_TYPE_RAW;
    events[1].attr.type = 10;
    strcpy(events[0].name, "cpu_core/cycles/");
    strcpy(events[1].name, "cpu_atom/cycles/");
    struct decoder *decoder = decoder_of(events, 2);
    cr_assert_eq(decoder_first(decoder, 1), 0);
    decoder_free(decoder);
    static const struct {
        const char *first, *second;
        uint32_t is;
    } pairs[] = {{"cpu_core/cycles/", "cpu_atom/instructions/", 1},
                 {"cpu_core/cycles/u", "cpu_lowpower/cycles/u", 0},
                 {"cycles:uppp", "cycles:upp", 0},
                 {"cycles:u", "cycles:upp", 0},
                 {"stop:u", "sto:u", 1},
                 {"stopp", "stop", 1},
                 {"cpu_core/cycles/ppp", "cpu_atom/cycles/p", 0}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        strcpy(events[0].name, pairs[i].first);
        strcpy(events[1].name, pairs[i].second);
        decoder = decoder_of(events, 2);
        cr_assert_eq(decoder_first(decoder, 1), pairs[i].is, "%s, %s", pairs[i].first, pairs[i].second);
        decoder_free(decoder);
    }
}

Test(record, ids_behind_the_same_fields_or_not)
{
    const uint64_t id_form = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID;
    uint64_t first = 1, second = 2;
    struct event events[] = {event_with(id_form), event_with(id_form | PERF_SAMPLE_CALLCHAIN)};
    events[0].ids = &first;
    events[1].ids = &second;
    events[0].id_count = events[1].id_count = 1;
    struct build b = {0};
    record_start(&b, PERF_RECORD_SAMPLE, USER);
    put64(&b, 0x1234);
    put64(&b, 0);
    put64(&b, 99);
    put64(&b, 2); /* ID */
    put64(&b, 1); /* callchain */
    put64(&b, 0x1234);
    record_end(&b);
    struct record r = decode(events, 2, &b);
    cr_assert_eq(r.sample.event, 1);
    cr_assert_eq(r.sample.callchain_count, 1);
    cr_assert_eq(r.time, 99);

    struct decoder *decoder = NULL;
    struct fathom_error err;
    events[1].attr.sample_type |= PERF_SAMPLE_ADDR;
    cr_assert_eq(decoder_new(events, 2, &decoder, &err), -ENOTSUP);
    events[1].attr.sample_type = fields;
    cr_assert_eq(decoder_new(events, 2, &decoder, &err), -ENOTSUP);
    events[0].attr.sample_type = events[1].attr.sample_type = PERF_SAMPLE_IP;
    cr_assert_eq(decoder_new(events, 2, &decoder, &err), -ENOTSUP);
    cr_assert_eq(decoder_new(events, 0, &decoder, &err), -EINVAL);
    cr_assert_null(decoder);
}

Test(record, mappings)
{
    struct event event = event_with(fields);
    struct build b = {0};
    record_start(&b, PERF_RECORD_MMAP2, USER | PERF_RECORD_MISC_MMAP_BUILD_ID);
    put32(&b, 20);
    put32(&b, 21);
    put64(&b, 0x7f0000000000);
    put64(&b, 0x5000);
    put64(&b, 0x1000);
    put(&b, "\x14\0\0\0abcdefghijklmnopqrst", 24);
    put32(&b, PROT_READ | PROT_EXEC);
    put32(&b, MAP_PRIVATE);
    put_text(&b, "/usr/lib/libz.so");
    put_trailer(&b, 20, 21, 555, 0);
    record_end(&b);
    struct record r = decode(&event, 1, &b);
    cr_assert_eq(r.kind, RECORD_MMAP);
    cr_assert_eq(r.pid, 20);
    cr_assert_eq(r.tid, 21);
    cr_assert_eq(r.time, 555);
    cr_assert_eq(r.mmap.address, 0x7f0000000000);
    cr_assert_eq(r.mmap.length, 0x5000);
    cr_assert_eq(r.mmap.offset, 0x1000);
    cr_assert(r.mmap.executable);
    cr_assert_eq(r.mmap.build_id_size, 20);
    cr_assert_arr_eq(r.mmap.build_id, "abcdefghijklmnopqrst", 20);
    cr_assert_str_eq(r.mmap.path, "/usr/lib/libz.so");

    /* the same with device and inode, and for data */
    b.bytes[5] &= (uint8_t) ~(PERF_RECORD_MISC_MMAP_BUILD_ID >> 8);
    b.bytes[8 + 32 + 24] = PROT_READ;
    r = decode(&event, 1, &b);
    cr_assert_eq(r.mmap.build_id_size, 0);
    cr_assert(!r.mmap.executable);

    for (int data = 0; data < 2; data++) {
        b.size = 0;
        record_start(&b, PERF_RECORD_MMAP, (uint16_t)(USER | (data ? PERF_RECORD_MISC_MMAP_DATA : 0)));
        put32(&b, 20);
        put32(&b, 21);
        put64(&b, 0x400000);
        put64(&b, 0x2000);
        put64(&b, 0);
        put_text(&b, "/bin/true");
        put_trailer(&b, 20, 21, 556, 0);
        record_end(&b);
        r = decode(&event, 1, &b);
        cr_assert_eq(r.mmap.executable, !data);
        cr_assert_str_eq(r.mmap.path, "/bin/true");
    }
}

Test(record, damaged_mappings)
{
    struct event event = event_with(fields);
    struct decoder *decoder = decoder_of(&event, 1);
    struct record r;
    /* a path whose end would be in the trailer */
    struct build b = {0};
    record_start(&b, PERF_RECORD_MMAP, USER);
    put64(&b, 0);
    put64(&b, 0x400000);
    put64(&b, 0x2000);
    put64(&b, 0);
    put(&b, "/bin/tru", 8);
    put_trailer(&b, 20, 21, 556, 0);
    record_end(&b);
    cr_assert_eq(decoder_decode(decoder, b.bytes, b.size, &r, NULL), -EBADMSG);
    /* a build-id of 200 bytes */
    b.size = 0;
    record_start(&b, PERF_RECORD_MMAP2, USER | PERF_RECORD_MISC_MMAP_BUILD_ID);
    for (int i = 0; i < 4; i++)
        put64(&b, 0);
    put(&b, "\xc8\0\0\0abcdefghijklmnopqrst", 24);
    put64(&b, 0);
    put_text(&b, "x");
    put_trailer(&b, 20, 21, 556, 0);
    record_end(&b);
    cr_assert_eq(decoder_decode(decoder, b.bytes, b.size, &r, NULL), -EBADMSG);
    /* smaller than its trailer */
    b.size = 0;
    record_start(&b, PERF_RECORD_COMM, USER);
    put64(&b, 0);
    record_end(&b);
    cr_assert_eq(decoder_decode(decoder, b.bytes, b.size, &r, NULL), -EBADMSG);
    decoder_free(decoder);
}

Test(record, cgroups)
{
    struct event event = event_with(fields);
    struct build b = {0};
    record_start(&b, PERF_RECORD_CGROUP, 0);
    put64(&b, UINT64_C(0x100000002));
    put_text(&b, "/system.slice/nginx.service");
    put_trailer(&b, 30, 31, 600, 0);
    record_end(&b);
    struct record r = decode(&event, 1, &b);
    cr_assert_eq(r.kind, RECORD_CGROUP);
    cr_assert_eq(r.cgroup.id, UINT64_C(0x100000002));
    cr_assert_str_eq(r.cgroup.path, "/system.slice/nginx.service");
    cr_assert_eq(r.pid, 30);
    /* a path without an end; none at all */
    for (int i = 0; i < 2; i++) {
        b.size = 0;
        record_start(&b, PERF_RECORD_CGROUP, 0);
        put64(&b, 2);
        put(&b, "/system.slice/12", i ? 0 : 16);
        put_trailer(&b, UINT32_MAX, UINT32_MAX, UINT64_MAX, UINT64_MAX);
        record_end(&b);
        struct decoder *decoder = decoder_of(&event, 1);
        cr_assert_eq(decoder_decode(decoder, b.bytes, b.size, &r, NULL), -EBADMSG);
        decoder_free(decoder);
    }
}

Test(record, tasks)
{
    struct event event = event_with(fields);
    struct build b = {0};
    record_start(&b, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
    put32(&b, 30);
    put32(&b, 31);
    put_text(&b, "sqlite3");
    put_trailer(&b, 30, 31, 600, 0);
    record_end(&b);
    struct record r = decode(&event, 1, &b);
    cr_assert_eq(r.kind, RECORD_COMM);
    cr_assert_str_eq(r.comm.name, "sqlite3");
    cr_assert(r.comm.exec);
    cr_assert_eq(r.pid, 30);
    cr_assert_eq(r.tid, 31);

    for (int i = 0; i < 2; i++) {
        b.size = 0;
        record_start(&b, i ? PERF_RECORD_EXIT : PERF_RECORD_FORK, 0);
        put32(&b, 40); /* pid, ppid, tid, ptid */
        put32(&b, 41);
        put32(&b, 42);
        put32(&b, 43);
        put64(&b, 700);
        put_trailer(&b, 1, 2, 701, 0);
        record_end(&b);
        r = decode(&event, 1, &b);
        cr_assert_eq(r.kind, i ? RECORD_EXIT : RECORD_FORK);
        cr_assert_eq(r.pid, 40);
        cr_assert_eq(r.fork.parent_pid, 41);
        cr_assert_eq(r.tid, 42);
        cr_assert_eq(r.fork.parent_tid, 43);
        cr_assert_eq(r.time, 701);
    }
}

Test(record, totals)
{
    struct event event = event_with(fields);
    for (int lost = 0; lost <= 1; lost++)
        for (uint32_t pid = 0; pid <= 7; pid += 7) {
            event.attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
                                     (lost ? (uint64_t)PERF_FORMAT_LOST : 0);
            struct build b = {0};
            record_start(&b, PERF_RECORD_READ, 0);
            put32(&b, pid);
            put32(&b, pid);
            put64(&b, 1000);
            put64(&b, 900);
            put64(&b, 450);
            if (lost)
                put64(&b, 3);
            put_trailer(&b, pid, pid, 0, 0);
            record_end(&b);
            struct record r = decode(&event, 1, &b);
            cr_assert_eq(r.kind, pid ? RECORD_OTHER : RECORD_TOTALS, "one thread's are none");
            cr_assert(pid || (r.totals.value == 1000 && r.totals.enabled == 900 && r.totals.running == 450));
        }
}

Test(record, losses_and_throttling)
{
    struct event event = event_with(fields);
    struct build b = {0};
    record_start(&b, PERF_RECORD_LOST, 0);
    put64(&b, 1);  /* ID */
    put64(&b, 17); /* lost */
    put_trailer(&b, 1, 2, 800, 0);
    record_end(&b);
    struct record r = decode(&event, 1, &b);
    cr_assert_eq(r.kind, RECORD_LOST);
    cr_assert_eq(r.lost, 17);
    cr_assert_eq(r.tid, 2);

    b.size = 0;
    record_start(&b, PERF_RECORD_LOST_SAMPLES, 0);
    put64(&b, 18);
    put_trailer(&b, 1, 2, 801, 0);
    record_end(&b);
    r = decode(&event, 1, &b);
    cr_assert_eq(r.kind, RECORD_LOST);
    cr_assert_eq(r.lost, 18);

    b.size = 0;
    record_start(&b, PERF_RECORD_THROTTLE, 0);
    put64(&b, 900);
    put64(&b, 1);
    put64(&b, 1);
    put_trailer(&b, 1, 2, 901, 0);
    record_end(&b);
    r = decode(&event, 1, &b);
    cr_assert_eq(r.kind, RECORD_THROTTLE);
    cr_assert_eq(r.time, 901);
}

Test(record, trailers_have_the_layout_of_their_event)
{
    uint64_t first = 1, second = 2;
    struct event events[] = {event_with(fields), event_with(fields | PERF_SAMPLE_CPU)};
    events[0].ids = &first;
    events[1].ids = &second;
    events[0].id_count = events[1].id_count = 1;
    for (uint64_t id = 0; id < 3; id++) {
        struct build b = {0};
        record_start(&b, PERF_RECORD_COMM, 0);
        put64(&b, 0);
        put_text(&b, "abc");
        put32(&b, 1);
        put32(&b, 2);
        put64(&b, 1000 + id);
        if (id == 2)
            put64(&b, 1); /* cpu */
        put64(&b, id);
        record_end(&b);
        struct record r = decode(events, 2, &b);
        cr_assert_eq(r.time, 1000 + id);
        cr_assert_str_eq(r.comm.name, "abc");
    }
}

Test(record, unknown_types_are_other)
{
    struct event event = event_with(fields);
    struct build b = {0};
    record_start(&b, 60, 0); /* of a later kernel: it has a trailer */
    put64(&b, 1);
    put_trailer(&b, 1, 2, 900, 0);
    record_end(&b);
    struct record r = decode(&event, 1, &b);
    cr_assert_eq(r.kind, RECORD_OTHER);
    cr_assert_eq(r.time, 900);
    b.size = 0;
    record_start(&b, 79, 0); /* of perf: it has none */
    record_end(&b);
    r = decode(&event, 1, &b);
    cr_assert_eq(r.kind, RECORD_OTHER);
    cr_assert_eq(r.time, 0);
}

Test(record, events_without_a_name_get_one_by_their_attr)
{
    static const struct {
        struct perf_event_attr attr;
        const char *name;
    } known[] = {
        {{.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS}, "page-faults"},
        {{.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CGROUP_SWITCHES, .exclude_kernel = 1},
         "cgroup-switches:u"},
        {{.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_BPF_OUTPUT}, "bpf-output"},
        {{.type = PERF_TYPE_SOFTWARE, .config = 1000}, "type 1 config 0x3e8"},
        {{.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES, .exclude_user = 1}, "cycles:k"},
    };
    char name[64];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        event_default_name(&known[i].attr, name, sizeof name);
        cr_expect_str_eq(name, known[i].name);
    }
}
