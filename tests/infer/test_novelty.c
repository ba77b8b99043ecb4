/* Which of the samples' CIDs are new, by raw records of this program. */
#include <criterion/criterion.h>

#include <string.h>
#include <unistd.h>

#include "infer/live/novelty.h"
#include "tests/infer/world.h"
#include "tests/process/maps.h"

enum { MAIN_ID = 7, DUMP_ID = 8, SMALL = 1024, LARGE = 4096 };

static uint64_t ids[] = {MAIN_ID, DUMP_ID};
static struct event events[] = {
    {.attr = {.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                             PERF_SAMPLE_REGS_USER,
              .sample_regs_user = 0x1c0},
     .ids = &ids[0],
     .id_count = 1},
    {.attr = {.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                             PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
              .sample_regs_user = 0x1c0},
     .ids = &ids[1],
     .id_count = 1,
     .audit = true},
};

static void add(struct novelty *novelty, const void *record, size_t size)
{
    struct fathom_error err;
    cr_assert_eq(novelty_add(novelty, record, size, &err), 0);
}

static void add_mapping(struct novelty *novelty, uint32_t prot, uint64_t address, uint64_t length,
                        uint64_t offset, const char *path)
{
    struct {
        struct perf_event_header header;
        uint32_t pid, tid;
        uint64_t address, length, offset, device[3];
        uint32_t prot, flags;
        char path[512];
    } r = {.header = {PERF_RECORD_MMAP2, prot & 4 ? 0 : PERF_RECORD_MISC_MMAP_DATA, sizeof r},
           .pid = (uint32_t)getpid(),
           .tid = (uint32_t)getpid(),
           .address = address,
           .length = length,
           .offset = offset,
           .prot = prot};
    strncpy(r.path, path, sizeof r.path - 1);
    add(novelty, &r, sizeof r);
}

static int map(void *novelty, const struct record *record, struct fathom_error *err)
{
    (void)err;
    if (record->mmap.executable)
        add_mapping(novelty, 5, record->mmap.address, record->mmap.length, record->mmap.offset,
                    record->mmap.path);
    return 0;
}

/* At the entry of fun(number), `depth` bytes below the base; with a dump of `dump` bytes unless 0. */
static void add_sample(struct novelty *novelty, unsigned number, uint64_t depth, uint64_t dump)
{
    static uint64_t time = 1000;
    struct {
        struct perf_event_header header;
        uint64_t id, ip;
        uint32_t pid, tid;
        uint64_t time, abi, bp, sp, reg_ip, capacity;
        uint8_t dump[LARGE];
        uint64_t size;
    } r = {.header = {PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, sizeof r},
           .id = dump ? DUMP_ID : MAIN_ID,
           .ip = fun(number),
           .pid = (uint32_t)getpid(),
           .tid = (uint32_t)getpid(),
           .time = time++,
           .abi = PERF_SAMPLE_REGS_ABI_64,
           .sp = BASE - depth,
           .reg_ip = fun(number),
           .capacity = LARGE,
           .size = dump};
    if (!dump)
        r.header.size = (uint16_t)((uint8_t *)&r.capacity - (uint8_t *)&r);
    add(novelty, &r, r.header.size);
}

static struct novelty *begin(void)
{
    struct novelty *novelty;
    struct fathom_error err;
    cr_assert_eq(novelty_start(&(struct novelty_input){events, 2, {SMALL, LARGE}, 2}, &novelty, &err), 0);
    maps_read((uint32_t)getpid(), map, novelty);
    char name[32];
    snprintf(name, sizeof name, "[stack:%d]", (int)getpid());
    add_mapping(novelty, 3, BASE - (1 << 20), 1 << 20, 0, name);
    return novelty;
}

static struct novelty_shares shares_after(struct novelty *novelty, uint64_t samples)
{
    struct novelty_shares shares = {0};
    for (int i = 0; i < 20000; i++) {
        novelty_shares(novelty, &shares);
        if (shares.samples >= samples)
            break;
        usleep(1000);
    }
    cr_assert_eq(shares.samples, samples);
    return shares;
}

Test(novelty, are_samples_whose_cid_no_dump_has_read)
{
    struct novelty *novelty = begin();
    struct novelty_shares shares;
    novelty_shares(novelty, &shares);
    cr_expect_eq(shares.samples, 0u);
    for (int i = 0; i < 4; i++)
        add_sample(novelty, 1, 64, 0);
    shares = shares_after(novelty, 4);
    cr_expect_float_eq(shares.shares[0], 1, 1e-9, "none was read");
    add_sample(novelty, 1, 64, 64);
    for (int i = 0; i < 4; i++)
        add_sample(novelty, 1, 64, 0);
    shares = shares_after(novelty, 8);
    cr_expect_float_eq(shares.shares[0], 0.5, 1e-9, "half of the samples came before the dump");
    add_sample(novelty, 2, 64, 0);
    add_sample(novelty, 1, 128, 0);
    shares = shares_after(novelty, 10);
    cr_expect_float_eq(shares.shares[0], 0.6, 1e-9, "another function or height is news");
    cr_expect_float_eq(shares.shares[1], 0, 1e-9);
    novelty_stop(novelty);
}

Test(novelty, belong_to_the_smallest_dump_that_they_fit_into)
{
    struct novelty *novelty = begin();
    add_sample(novelty, 1, SMALL, 0);
    add_sample(novelty, 1, SMALL + 8, 0);
    add_sample(novelty, 1, LARGE, 0);
    add_sample(novelty, 1, 2 * LARGE, 0);
    struct novelty_shares shares = shares_after(novelty, 4);
    cr_expect_float_eq(shares.shares[0], 0.25, 1e-9);
    cr_expect_float_eq(shares.shares[1], 0.75, 1e-9);
    novelty_stop(novelty);
}

Test(novelty, stay_so_when_a_dump_was_cut_off)
{
    struct novelty *novelty = begin();
    add_sample(novelty, 1, 2048, SMALL);
    add_sample(novelty, 1, 2048, 0);
    struct novelty_shares shares = shares_after(novelty, 1);
    cr_expect_float_eq(shares.shares[1], 1, 1e-9);
    add_sample(novelty, 1, 2048, 2048);
    add_sample(novelty, 1, 2048, 0);
    shares = shares_after(novelty, 2);
    cr_expect_float_eq(shares.shares[1], 0.5, 1e-9);
    novelty_stop(novelty);
}

Test(novelty, samples_without_a_cid_are_not_counted)
{
    struct novelty *novelty = begin();
    add_sample(novelty, 1, 64, 0);
    add_mapping(novelty, 5, 0x10000, 0x1000, 0, "//anon");
    struct {
        struct perf_event_header header;
        uint64_t id, ip;
        uint32_t pid, tid;
        uint64_t time, abi;
    } bare = {
        .header = {PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, sizeof bare}, .id = MAIN_ID, .ip = 0x10010};
    add(novelty, &bare, sizeof bare);
    add_sample(novelty, 1, 64, 0);
    cr_expect_eq(shares_after(novelty, 2).samples, 2u);
    novelty_stop(novelty);
}
