/* Any set of fields of a sample, in the order of the kernel's perf_output_sample(): each is found behind the others. */
#include <criterion/criterion.h>

#include <errno.h>

#include "base/hash.h"
#include "build.h"
#include "perfdata/record.h"

#define LOST           (1u << 4) /* PERF_FORMAT_LOST */
#define BRANCH_INDEX   (UINT64_C(1) << 17)
#define BRANCH_COUNTER (UINT64_C(1) << 19)

/* What was put. */
struct put {
    uint64_t type;
    bool kernel, no_user, no_intr; /* no registers there */
    uint32_t chain, branches, raw, stack;
};

static void put_numbers(struct build *b, uint64_t start, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        put64(b, start + i);
}

static void put_read(struct build *b, uint64_t format, uint64_t random)
{
    uint64_t members = format & PERF_FORMAT_GROUP ? random % 4 : 1;
    if (format & PERF_FORMAT_GROUP)
        put64(b, members);
    else
        put64(b, 0xbad);
    put_numbers(b, 0xbad,
                (uint64_t)__builtin_popcountll(
                    format & (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)));
    uint64_t words = (uint64_t)__builtin_popcountll(format & (PERF_FORMAT_ID | LOST));
    put_numbers(b, 0xbad, format & PERF_FORMAT_GROUP ? members * (1 + words) : words);
}

static void put_registers(struct build *b, bool none, uint64_t start)
{
    put64(b, none ? PERF_SAMPLE_REGS_ABI_NONE : PERF_SAMPLE_REGS_ABI_64);
    put_numbers(b, start, none ? 0 : 3); /* BP, SP, IP */
}

static void put_variable(struct build *b, const struct event *event, struct put *p, uint64_t random)
{
    const uint64_t type = p->type;
    if (type & PERF_SAMPLE_READ)
        put_read(b, event->attr.read_format, random >> 8);
    p->chain = type & PERF_SAMPLE_CALLCHAIN ? (random >> 16) % 5 : 0;
    if (type & PERF_SAMPLE_CALLCHAIN)
        put64(b, p->chain);
    put_numbers(b, 0x1000, p->chain);
    p->raw = type & PERF_SAMPLE_RAW ? 4 + 8 * ((random >> 24) % 3) : 0;
    if (type & PERF_SAMPLE_RAW)
        put32(b, p->raw);
    put(b, "raw raw raw raw raw ", p->raw);
    p->branches = type & PERF_SAMPLE_BRANCH_STACK ? (random >> 32) % 4 : 0;
    if (type & PERF_SAMPLE_BRANCH_STACK)
        put64(b, p->branches);
    if (type & PERF_SAMPLE_BRANCH_STACK && event->attr.branch_sample_type & BRANCH_INDEX)
        put64(b, 0xbad);
    put_numbers(b, 0x2000, 3 * p->branches);
    if (event->attr.branch_sample_type & BRANCH_COUNTER)
        put_numbers(b, 0xbad, p->branches);
    if (type & PERF_SAMPLE_REGS_USER)
        put_registers(b, p->no_user, 0x3000);
    p->stack = type & PERF_SAMPLE_STACK_USER ? 8 * ((random >> 40) % 3) : 0;
    if (type & PERF_SAMPLE_STACK_USER)
        put64(b, p->stack);
    put_numbers(b, 0x4000, p->stack / 8);
    if (p->stack)
        put64(b, p->stack);
    if (type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
        put64(b, UINT64_C(0x500000007));
    if (type & PERF_SAMPLE_DATA_SRC)
        put64(b, 0x6000);
    if (type & PERF_SAMPLE_TRANSACTION)
        put64(b, 0xbad);
    if (type & PERF_SAMPLE_REGS_INTR)
        put_registers(b, p->no_intr, 0x7000);
    if (type & PERF_SAMPLE_PHYS_ADDR)
        put64(b, 0xbad);
    if (type & PERF_SAMPLE_CGROUP)
        put64(b, 0x17);
    put_numbers(
        b, 0xbad,
        (uint64_t)__builtin_popcountll(type & (PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE)));
    if (type & PERF_SAMPLE_AUX) {
        put64(b, 8);
        put64(b, 0xbad);
    }
}

static void put_sample(struct build *b, const struct event *event, struct put *p, uint64_t random)
{
    static const struct {
        uint64_t flag, value;
    } fixed[] = {
        {PERF_SAMPLE_IDENTIFIER, 1},    {PERF_SAMPLE_IP, 0x11},   {PERF_SAMPLE_TID, UINT64_C(0x1300000012)},
        {PERF_SAMPLE_TIME, 0x14},       {PERF_SAMPLE_ADDR, 0x15}, {PERF_SAMPLE_ID, 1},
        {PERF_SAMPLE_STREAM_ID, 0xbad}, {PERF_SAMPLE_CPU, 0xbad}, {PERF_SAMPLE_PERIOD, 0x16}};
    b->size = 0;
    record_start(b, PERF_RECORD_SAMPLE, p->kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER);
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        if (p->type & fixed[i].flag)
            put64(b, fixed[i].value);
    put_variable(b, event, p, random);
    record_end(b);
}

static void check(const struct put *p, const struct sample *s)
{
    const uint64_t type = p->type;
    bool user = type & PERF_SAMPLE_REGS_USER && !p->no_user,
         intr = type & PERF_SAMPLE_REGS_INTR && !p->no_intr;
    bool from_user = user && (p->kernel || !intr);
    cr_assert_eq(s->ip, type & PERF_SAMPLE_IP ? 0x11 : 0, "%lx", (unsigned long)type);
    cr_assert_eq(s->tid, type & PERF_SAMPLE_TID ? 0x13 : 0);
    cr_assert_eq(s->time, type & PERF_SAMPLE_TIME ? 0x14 : 0);
    cr_assert_eq(s->addr, type & PERF_SAMPLE_ADDR ? 0x15 : 0);
    cr_assert_eq(s->period, type & PERF_SAMPLE_PERIOD ? 0x16 : 1000);
    cr_assert_eq(s->callchain_count, p->chain);
    cr_assert(!p->chain || s->callchain[p->chain - 1] == 0x1000 + p->chain - 1);
    cr_assert_eq(s->raw_size, p->raw);
    cr_assert_eq(s->branch_count, p->branches);
    cr_assert(!p->branches || s->branches[1] == 0x20);
    cr_assert_eq(s->stack_size, p->stack);
    cr_assert(!p->stack || s->stack[1] == 0x40);
    cr_assert_eq(s->weight, type & PERF_SAMPLE_WEIGHT          ? UINT64_C(0x500000007)
                            : type & PERF_SAMPLE_WEIGHT_STRUCT ? 7
                                                               : 0);
    cr_assert_eq(s->data_src, type & PERF_SAMPLE_DATA_SRC ? 0x6000 : 0);
    cr_assert_eq(s->cgroup, type & PERF_SAMPLE_CGROUP ? 0x17 : 0);
    cr_assert_eq(s->has_regs, user || (intr && !p->kernel) || (intr && !user), "%lx", (unsigned long)type);
    cr_assert_eq(s->user_regs, from_user);
    cr_assert_eq(s->sp, from_user ? 0x3001 : intr ? 0x7001 : 0);
}

Test(sample_fields, any_set_of_them_is_told_apart)
{
    uint64_t state = 1;
    struct build b;
    for (int i = 0; i < 20000; i++) {
        uint64_t random = hash_random(&state);
        struct put p = {.type = (hash_random(&state) & (hash_random(&state) | PERF_SAMPLE_IP)) & 0x1ffffff,
                        .kernel = random & 1,
                        .no_user = random & 2,
                        .no_intr = random & 4};
        if (p.type & PERF_SAMPLE_WEIGHT) /* one of the two */
            p.type &= ~(uint64_t)PERF_SAMPLE_WEIGHT_STRUCT;
        const struct event event = {
            .attr = {.type = PERF_TYPE_RAW,
                     .precise_ip = 2,
                     .sample_period = 1000,
                     .sample_type = p.type,
                     .read_format = hash_random(&state) & 0x1f,
                     .branch_sample_type = hash_random(&state) & (BRANCH_INDEX | BRANCH_COUNTER),
                     .sample_regs_user = 0x1c0,
                     .sample_regs_intr = 0x1c0,
                     .sample_stack_user = 4096}};
        struct decoder *decoder;
        struct record record;
        cr_assert_eq(decoder_new(&event, 1, &decoder, NULL), 0);
        put_sample(&b, &event, &p, hash_random(&state));
        cr_assert_eq(decoder_decode(decoder, b.bytes, b.size, &record, NULL), 0, "%lx",
                     (unsigned long)p.type);
        check(&p, &record.sample);
        for (size_t cut = 8; cut < b.size; cut += 8) /* a field that is not there is damage */
            cr_assert_eq(decoder_decode(decoder, b.bytes, cut, &record, NULL), -EBADMSG, "%lx at %zu of %zu",
                         (unsigned long)p.type, cut, b.size);
        decoder_free(decoder);
    }
}
