/* Stacks that go on on another one: what the BPF program reads of a thread of Go that is on its system stack, and compares. */
#include <criterion/criterion.h>
#include <string.h>

#include "collector/verify/user/machine.h"

enum {
    AT = 0x10000000, /* where the memory is */
    SIZE = 1 << 17,
    FS = AT + 0x1000,
    SYSTEM = AT + 0x2000, /* g0 */
    CURRENT = AT + 0x2100,
    MACHINE = AT + 0x2200,
    TOP = AT + 0x8000, /* of the system stack */
    SP = TOP - 0x100,
    HIGH = AT + 0xa000, /* where the goroutine's stack begins */
    SAVED = HIGH - 0x100,
    PC = 0x400abc,
    IP = 0x401010,
    PID = 7,
    SPACE = 3,
    CALLERS = 40,
};

static uint8_t bytes[SIZE];
static const struct go_stacks go = {.thread = -8,
                                    .machine = 48,
                                    .system = 0,
                                    .current = 192,
                                    .saved = 56,
                                    .call = 0x400a00,
                                    .call_size = 0x100,
                                    .grow = 0x403000,
                                    .grow_size = 0x100};
static struct machine machine;
static struct known_stacks *known;
static const struct {
    uint64_t other, fs;
} task = {0, FS};

static void put(uint64_t address, uint64_t word)
{
    memcpy(bytes + (address - AT), &word, sizeof word);
}

static uint64_t word_in(const uint8_t *stack, uint32_t at)
{
    uint64_t word;
    memcpy(&word, stack + at, sizeof word);
    return word;
}

/* The goroutine's stack from `saved` on, up to HIGH. */
static void save(uint64_t saved)
{
    put(CURRENT + 56, saved);
    put(CURRENT + 64, PC);
}

static void begin(uint64_t base)
{
    struct verify_config config = {
        .page_bits = 12, .compared = STACK_RECORD_ALL, .cpu_bits = 1, .burst = 1000, .cpus = MACHINE_CPUS};
    static const struct machine_memory memory = {AT, SIZE, bytes};
    memset(bytes, 0, sizeof bytes);
    config.hooks.task_fs = sizeof task.other;
    cr_assert_eq(machine_start(&machine, &config), 0);
    machine.memory = &memory;
    machine.memory_count = 1;
    machine.task = &task;
    const struct known_stacks_maps maps = machine_maps();
    cr_assert_eq(known_stacks_new(&maps, config.compared, config.page_bits, &known), 0);
    machine_place(PID, SPACE);
    machine_set_base(PID, base);
    put(FS - 8, SYSTEM);
    put(SYSTEM + 8, TOP + 0x400);
    put(SYSTEM + 48, MACHINE);
    put(SYSTEM + 56, TOP);
    put(CURRENT + 8, HIGH);
    put(MACHINE, SYSTEM);
    put(MACHINE + 192, CURRENT);
    put(SP + 0x18, 0x402020);
    put(TOP - 8, 0x403030);
    put(SAVED, 0x404040);
    put(SAVED + 0x40, 0x405050);
    save(SAVED);
}

static void end(void)
{
    known_stacks_free(known);
    machine_stop();
}

static const struct machine_record *sample(void)
{
    static const struct machine_sample at = {.pid = PID, .tid = PID, .ip = IP, .sp = SP};
    cr_assert_eq(machine_sample(&at), 1);
    return machine.record_count ? &machine.records[0] : NULL;
}

static void know_switch(void)
{
    cr_assert(known_stacks_switch(known, SPACE, &go, 0));
}

/* Makes the stack of a new record known, by the four words that begin() puts. */
static void know(const struct machine_record *r)
{
    static const uint32_t at[] = {0x18, 0xf8, 0x108, 0x148};
    struct stack_word words[4];
    for (size_t i = 0; i < 4; i++) {
        const uint64_t word = word_in(r->stack, at[i]);
        words[i] = (struct stack_word){.address = SP + at[i], .low = word, .value = word, .size = 1};
    }
    const struct known_stack stack = {.space = SPACE,
                                      .tid = PID,
                                      .ip = IP,
                                      .sp = SP,
                                      .number = r->head.number,
                                      .switch_at = r->switch_at,
                                      .code = IP,
                                      .row = IP,
                                      .row_size = 1,
                                      .words = words,
                                      .count = 4};
    cr_assert_eq(known_stacks_add(known, &stack, NULL), 1);
}

static void check(uint64_t base)
{
    begin(base);
    const struct machine_record *r = sample();
    cr_assert(r);
    cr_expect_eq(r->head.kind, STACK_RECORD_NEW);
    cr_expect_eq(r->switch_at, 0, "where stacks are is not known yet");
    know_switch();
    r = sample();
    cr_assert(r);
    cr_assert_eq(r->switch_at, TOP - SP);
    cr_assert_eq(r->head.size, TOP - SP + 8 + HIGH - SAVED);
    cr_expect_eq(word_in(r->stack, 0xf8), 0x403030);
    cr_expect_eq(word_in(r->stack, 0x100), PC, "the saved PC");
    cr_expect_eq(word_in(r->stack, 0x108), 0x404040, "and the goroutine's stack");
    cr_expect_eq(word_in(r->stack, 0x148), 0x405050);
    know(r);
    const uint32_t number = r->head.number;
    cr_expect_null(sample(), "it is known");

    put(SYSTEM + 56, TOP + 8); /* another state: the system stack is in use from elsewhere */
    r = sample();
    cr_expect(r && r->head.kind == STACK_RECORD_NEW);
    put(SYSTEM + 56, TOP);
    r = sample();
    cr_expect(r && r->head.kind == STACK_RECORD_SAME && r->head.number == number);

    put(TOP - 8, 0x403031); /* a word of the system stack */
    r = sample();
    cr_expect(r && r->head.kind == STACK_RECORD_NEW);
    put(TOP - 8, 0x403030);

    memcpy(bytes + 0xc000, bytes + (SAVED - AT), HIGH - SAVED); /* the goroutine's stack moves */
    save(AT + 0xc000);
    put(CURRENT + 8, AT + 0xc000 + HIGH - SAVED);
    put(SAVED, 0);
    r = sample();
    cr_expect(r && r->head.kind == STACK_RECORD_SAME && r->head.number == number);

    put(CURRENT + 64, 0x409000); /* a goroutine that the scheduler is about to run */
    put(TOP - 8, 0x408000);
    r = sample();
    cr_expect(r && r->head.kind == STACK_RECORD_NEW && r->switch_at == 0);
    put(TOP - 8, 0x403040); /* one that needs a larger stack */
    r = sample();
    cr_expect(r && r->switch_at == TOP - SP);

    put(FS - 8, CURRENT); /* it is on no system stack */
    r = sample();
    cr_expect(r && r->head.kind == STACK_RECORD_NEW && r->switch_at == 0);
    end();
}

/* Without a base, a goroutine's stack is read up to its end; a system stack's own entry is not believed. */
Test(verify_switch, the_end_of_a_stack)
{
    begin(0);
    know_switch();
    put(FS - 8, CURRENT);
    put(CURRENT + 48, MACHINE);
    put(CURRENT + 8, SP + 0x200);
    const struct machine_record *r = sample();
    cr_assert(r);
    cr_expect_eq(r->head.size, 0x200);
    put(CURRENT + 8, SP - 8);
    r = sample();
    cr_expect(r && r->head.size == STACK_RECORD_NO_BASE);
    put(FS - 8, SYSTEM);
    put(MACHINE + 192, 0);
    put(SYSTEM + 8, SP + 0x200);
    r = sample();
    cr_expect(r && r->head.size == STACK_RECORD_NO_BASE);
    end();
}

Test(verify_switch, without_a_base)
{
    check(0);
}

Test(verify_switch, with_a_base)
{
    check(TOP + 0x300);
}

static void check_callers(uint64_t base)
{
    uint32_t numbers[CALLERS];
    begin(base);
    know_switch();
    for (uint32_t i = 0; i < CALLERS; i++) {
        put(SAVED + 0x40, 0x500000 + i * 0x100u);
        const struct machine_record *r = sample();
        cr_assert(r && r->head.kind == STACK_RECORD_NEW, "%u", i);
        numbers[i] = r->head.number;
        know(r);
    }
    for (uint32_t i = 0; i < CALLERS; i++) {
        put(SAVED + 0x40, 0x500000 + i * 0x100u);
        const struct machine_record *r = sample();
        cr_expect(r && r->head.kind == STACK_RECORD_SAME && r->head.number == numbers[i], "%u", i);
    }
    known_stacks_forget(known, SPACE);
    const struct machine_record *r = sample();
    cr_expect(r && r->head.kind == STACK_RECORD_NEW && r->switch_at == 0, "nothing is left of the space");
    end();
}

/* More than a key has places for. */
Test(verify_switch, many_callers)
{
    check_callers(0);
    check_callers(TOP + 0x300);
}

/* However much of the system stack there is, a record has what it says. */
Test(verify_switch, a_goroutine_with_a_large_stack)
{
    static uint8_t large[SIZE];
    static const uint32_t system[] = {0x100, 3960, 3968, 4088, 4096, 20000, RULE_SWITCH_AT - 136};
    const struct machine_memory memory[] = {{AT, SIZE, bytes}, {AT + SIZE, SIZE, large}};
    for (uint32_t i = 0; i < SIZE; i += 8)
        memcpy(large + i, &(uint64_t){0x1000000 + i}, 8);
    for (size_t i = 0; i < sizeof system / sizeof *system; i++) {
        begin(0);
        machine.memory = memory;
        machine.memory_count = 2;
        know_switch();
        put(SYSTEM + 56, SP + system[i]);
        put(SP - 8, i % 2 ? SP + 64 : 0); /* with the red zone, or without */
        put(CURRENT + 8, AT + 2 * SIZE);
        save(AT + SIZE);
        const struct machine_record *r = sample();
        cr_assert(r);
        cr_assert_eq(r->switch_at, system[i]);
        cr_assert_geq(r->head.size, system[i] + 8 + 28000);
        cr_expect_leq(r->head.size, STACK_RECORD_MAX);
        for (uint32_t at = system[i] + 8; at < r->head.size; at += 8)
            cr_assert_eq(word_in(r->stack, at), 0x1000000 + at - system[i] - 8, "%u", at);
        end();
    }
}

/* A large array of C was not touched: its pages are not there. */
Test(verify_switch, a_hole_in_the_system_stack)
{
    static const uint8_t hole[] = {STACK_RECORD_HOLE, STACK_RECORD_HOLE, STACK_RECORD_HOLE,
                                   STACK_RECORD_HOLE};
    const struct machine_memory memory[] = {{AT, 0x7000, bytes}, {AT + 0xa000, 0x6000, bytes + 0xa000}};
    begin(0);
    know_switch();
    machine.memory = memory;
    machine.memory_count = 2;
    static const struct machine_sample at = {.pid = PID, .tid = PID, .ip = IP, .sp = AT + 0x6f00};
    put(SYSTEM + 56, AT + 0xa100);
    put(AT + 0xa0f8, 0x403030);
    put(CURRENT + 8, AT + 0xb800);
    save(AT + 0xb000);
    put(AT + 0xb000, 0x404040);
    cr_assert_eq(machine_sample(&at), 1);
    cr_assert_eq(machine.record_count, 1);
    const struct machine_record *r = &machine.records[0];
    cr_assert_eq(r->switch_at, 0xa100 - 0x6f00);
    cr_expect_arr_eq(r->stack + 0x1000, hole, sizeof hole);
    cr_expect_eq(word_in(r->stack, r->switch_at - 8), 0x403030);
    cr_expect_eq(word_in(r->stack, r->switch_at), PC);
    cr_expect_eq(word_in(r->stack, r->switch_at + 8), 0x404040);
    save(AT + 0x8000); /* the goroutine's is not there */
    cr_assert_eq(machine_sample(&at), 1);
    cr_assert_eq(machine.record_count, 1);
    cr_expect_eq(machine.records[0].switch_at, 0);
    cr_expect_eq(machine.records[0].head.size, 0xa100 - 0x6f00, "the system stack alone");
    end();
}

/* What the goroutine's own memory says is the program's: it can be anything. */
Test(verify_switch, damaged)
{
    static const uint64_t places[] = {FS - 8,        SYSTEM + 48, SYSTEM + 56, MACHINE,
                                      MACHINE + 192, CURRENT + 8, CURRENT + 56};
    static const uint64_t values[] = {0, 1, AT, AT + SIZE - 4, SP - 8, SP + RULE_SWITCH_AT, UINT64_MAX};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
            begin(0);
            know_switch();
            const struct machine_record *r = sample();
            cr_assert(r);
            know(r);
            put(places[i], values[v]);
            r = sample();
            cr_expect(!r || r->head.size <= STACK_RECORD_MAX);
            end();
        }
}
