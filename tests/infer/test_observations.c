/* The table of observations: what is put in comes out, in memory and from a file; without room, what was learned stays. */
#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

#include "infer/samples/observations.h"
#include "pathmap/map/trie.h"
#include "tests/infer/world.h"

enum { MANY = 200000 }; /* rows: more than memory may hold */

static uint64_t chain[] = {1, 2, 3};
static uint8_t branches[SAMPLE_BRANCH] = {7}, stack[1000] = {9};

static struct record sample_record(uint32_t i)
{
    return (struct record){.kind = RECORD_SAMPLE,
                           .pid = 10,
                           .tid = 10 + i % 3,
                           .time = 1000 + i,
                           .sample = {.pid = 10,
                                      .tid = 10 + i % 3,
                                      .time = 1000 + i,
                                      .ip = 0x7f0000001000 + i % 977 * 4,
                                      .reg_ip = 0x7f0000001004 + i % 977 * 4,
                                      .event = i % 2,
                                      .mode = SAMPLE_MODE_USER,
                                      .has_regs = i % 5 != 0,
                                      .sp = 0x7ffc00000000 - i * 2654435761u % 65536 * 8,
                                      .period = i % 7,
                                      .addr = i % 11 * 0x123456789,
                                      .cgroup = i % 13,
                                      .known = i % 4,
                                      .compared = i % 256,
                                      .stack_number = i / 100,
                                      .callchain = i % 3 ? chain : NULL,
                                      .callchain_count = i % 3,
                                      .branches = i % 4 ? branches : NULL,
                                      .branch_count = i % 4 ? 1 : 0,
                                      .stack = stack,
                                      .stack_size = i % 1000,
                                      .bp = 5}};
}

static struct record change_record(uint32_t i)
{
    struct record record = {.kind = RECORD_MMAP, .pid = i, .tid = i + 1, .time = i + 2};
    if (i % 3 == 0) {
        record.kind = RECORD_CGROUP;
        record.cgroup.id = i * UINT64_C(0x100000001);
        record.cgroup.path = "/system.slice";
    } else if (i % 3 == 1) {
        record.mmap =
            (struct record_mmap){i * 4096, 4096, 8192, true, 2, {1, 2}, "/usr/bin/program", 0, 0, 0};
    } else {
        record.kind = RECORD_COMM;
        record.comm.name = "a name";
        record.comm.exec = true;
    }
    return record;
}

static bool is_change(uint32_t i)
{
    return i % 50 == 7;
}

static struct learned learned_of(uint32_t i)
{
    return (struct learned){i % 6 ? i / 10 : TRIE_NONE, i / 100, i % 1000 == 1};
}

static struct observations *fill(struct columns_file *file)
{
    struct observations *o = observations_new(false, file);
    for (uint32_t i = 0; i < MANY; i++) {
        const struct record record = is_change(i) ? change_record(i) : sample_record(i);
        struct observation row = {.record = &record, .learned = learned_of(i)};
        if (!is_change(i))
            row.frame = leaf_frame_of(NULL, &record.sample);
        cr_assert_eq(observations_add(o, &row, NULL), 0);
    }
    const struct record none = {.kind = RECORD_THROTTLE};
    cr_assert_eq(observations_add(o, &(struct observation){.record = &none}, NULL), 0);
    cr_assert_eq(observations_end(o, NULL), 0);
    cr_expect_eq(observations_count(o), MANY);
    return o;
}

static void expect_sample(const struct observation *o, uint32_t i)
{
    const struct record expected = sample_record(i);
    const struct sample *s = &o->record->sample, *e = &expected.sample;
    const struct learned learned = learned_of(i);
    cr_assert_eq(o->learned.node, learned.node);
    cr_assert_eq(o->learned.stack, learned.stack);
    cr_assert_eq(o->learned.held_back, learned.held_back);
    cr_assert(s->pid == e->pid && s->tid == e->tid && s->time == e->time && s->ip == e->ip && s->sp == e->sp);
    cr_assert(s->reg_ip == e->reg_ip && s->event == e->event && s->mode == e->mode && s->addr == e->addr);
    cr_assert_eq(s->cgroup, e->cgroup);
    cr_assert(s->has_regs == e->has_regs && s->period == e->period && s->known == e->known);
    cr_assert(s->compared == e->compared && s->stack_number == e->stack_number && s->row == i);
    bool callers = learned.node == TRIE_NONE;
    cr_assert_eq(s->callchain_count, callers ? e->callchain_count : 0);
    if (s->callchain_count)
        cr_assert_arr_eq(s->callchain, chain, s->callchain_count * sizeof *chain);
    cr_assert_eq(s->branch_count, e->branch_count);
    if (s->branch_count)
        cr_assert_arr_eq(s->branches, branches, sizeof branches);
    cr_assert_eq(s->stack_size, learned.held_back ? e->stack_size : 0);
    if (s->stack_size) {
        cr_assert_arr_eq(s->stack, stack, s->stack_size);
        cr_assert_eq(s->bp, e->bp);
    }
    cr_assert_eq(o->frame.reason, e->has_regs ? UNKNOWN_MAPPING : UNKNOWN_32BIT);
}

static void expect_change(const struct record *record, uint32_t i)
{
    cr_assert(record->pid == i && record->tid == i + 1 && record->time == i + 2);
    if (i % 3 == 0) {
        cr_assert(record->kind == RECORD_CGROUP && record->cgroup.id == i * UINT64_C(0x100000001));
        cr_assert_str_eq(record->cgroup.path, "/system.slice");
    } else if (i % 3 == 1) {
        cr_assert(record->kind == RECORD_MMAP && record->mmap.address == i * 4096 && record->mmap.executable);
        cr_assert(record->mmap.build_id_size == 2 && record->mmap.build_id[1] == 2);
        cr_assert_str_eq(record->mmap.path, "/usr/bin/program");
    } else {
        cr_assert(record->kind == RECORD_COMM && record->comm.exec);
        cr_assert_str_eq(record->comm.name, "a name");
    }
}

/* An observation_sink. */
static int expect(void *next, const struct observation *o, struct fathom_error *err)
{
    uint32_t i = (*(uint32_t *)next)++;
    (void)err;
    if (is_change(i))
        expect_change(o->record, i);
    else
        expect_sample(o, i);
    return i % 2; /* what is not negative goes on */
}

Test(observations, come_back_in_order_as_often_as_needed)
{
    struct columns_file *file = columns_file_open();
    struct observations *o = fill(file);
    cr_expect_not(observations_cut(o));
    for (int pass = 0; pass < 2; pass++) {
        uint32_t next = 0;
        cr_assert_eq(observations_run(o, 0, expect, &next, NULL), 0);
        cr_expect_eq(next, MANY);
    }
    uint32_t next = 0;
    cr_assert_eq(observations_run(o, 1000, expect, &next, NULL), 0);
    cr_expect_eq(next, 1000, "as many as are asked for");
    observations_free(o);
    columns_file_close(file);
}

static int stop(void *context, const struct observation *o, struct fathom_error *err)
{
    (void)context, (void)o, (void)err;
    return -7;
}

Test(observations, a_sink_can_stop)
{
    struct columns_file *file = columns_file_open();
    struct observations *o = fill(file);
    cr_expect_eq(observations_run(o, 0, stop, NULL, NULL), -7);
    observations_free(o);
    columns_file_close(file);
}

Test(observations, without_room_they_are_paired_with_another_reading)
{
    setenv("TMPDIR", "/nowhere", 1);
    struct columns_file *file = columns_file_open();
    struct observations *o = fill(file);
    cr_assert(observations_cut(o));
    struct pairing *pairing = pairing_new(o);
    struct learned out;
    uint64_t row;
    for (uint32_t i = 0; i < MANY; i++) {
        const struct record record = is_change(i) ? change_record(i) : sample_record(i);
        const struct record none = {.kind = RECORD_OTHER};
        cr_assert_eq(pairing_next(pairing, &none, &out, &row, NULL), 0);
        cr_assert_eq(pairing_next(pairing, &record, &out, &row, NULL), 1);
        cr_assert(row == i && (is_change(i) || out.node == learned_of(i).node));
    }
    cr_expect_eq(pairing_next(pairing, &(struct record){.kind = RECORD_EXIT}, &out, &row, NULL), 0);
    pairing_free(pairing);
    observations_free(o);
    columns_file_close(file);
}
