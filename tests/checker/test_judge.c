/* Tests the judge on this program's own functions: what it accepts and rejects. */
#include <criterion/criterion.h>

#include <string.h>

#include "tests/checker/judge.h"
#include "tests/process/self.h"

#ifdef __clang__
#define APART __attribute__((noinline, optnone)) /* a frame of its own, by its own name */
#else
#define APART __attribute__((noipa))
#endif

static volatile int number;

APART static void lonely(void) /* its address is not taken, and it calls nothing */
{
    number++;
}

APART static void jumped_to(void)
{
    number += 2;
}

APART static void direct(void)
{
    lonely();
    number += 3;
}

APART static void jumps(void) /* by a jump, if the compiler optimises */
{
    jumped_to();
}

APART static void calls_jumps(void)
{
    jumps();
    number++;
}

APART static void pointed_at(void)
{
    number += 4;
}

static void (*volatile pointer)(void) = pointed_at;

APART static void calls_pointer(void)
{
    pointer();
    number++;
}

#if defined __OPTIMIZE__ && !defined __clang__ /* if calls at a function's end become jumps */
APART static void jumps_by_table(void);
static void (*const volatile table[])(void) = {jumps_by_table, pointed_at};

APART static void jumps_by_table(void) /* if the table leads back here, too */
{
    table[number & 1]();
}

APART static void calls_jumps_by_table(void)
{
    jumps_by_table();
    number++;
}
#endif

APART static void calls_all(void)
{
    direct();
    calls_jumps();
    calls_pointer();
    number++;
}

static struct self self;
static struct judge *judge;
static struct sample sample;

static void begin(void)
{
    calls_all();
    self = self_open();
    self_set_stack(&self);
    judge = judge_new();
    cr_assert(judge);
    sample = self_sample((uintptr_t)direct, self.start_stack - 4096, 0);
}

static void end(void)
{
    judge_free(judge);
    self_close(&self);
}

/* By address: the image of this program, the C library. */
static struct function at(uintptr_t address)
{
    struct place place;
    cr_assert(process_place(self.process, address, &place));
    cr_assert_neq(place.function, IMAGE_NO_FUNCTION);
    return (struct function){place.image, place.function};
}

static struct function start(void)
{
    struct function main = at((uintptr_t)calls_all);
    uint64_t entry;
    cr_assert(image_entry(main.image, &entry));
    return (struct function){main.image, image_function_at(main.image, entry)};
}

static struct verdict verdict(const struct function *path, size_t depth)
{
    struct verdict out;
    cr_assert_eq(judge_path(judge, self.process, &sample, path, depth, &out), 0);
    return out;
}

/* The fault of the step between two functions of this program, below a root that is treated as seen. */
static enum fault step(void (*caller)(void), void (*callee)(void))
{
    struct function path[] = {at((uintptr_t)caller), at((uintptr_t)callee)};
    cr_assert_eq(judge_observe(judge, self.process, &sample, path, 1), 0);
    struct verdict out = verdict(path, 2);
    cr_assert(out.fault == FAULT_NONE || out.at == 1);
    return out.fault;
}

TestSuite(judge, .init = begin, .fini = end);

Test(judge, calls_of_the_code_are_possible)
{
    cr_expect_eq(step(direct, lonely), FAULT_NONE);
    cr_expect_eq(step(calls_jumps, jumps), FAULT_NONE);
    cr_expect_eq(step(calls_all, calls_pointer), FAULT_NONE);
}

Test(judge, other_calls_are_not)
{
    cr_expect_eq(step(lonely, direct), FAULT_STEP);
    cr_expect_eq(step(calls_all, lonely), FAULT_STEP, "a function is left out");
    cr_expect_eq(step(direct, pointed_at), FAULT_STEP, "it calls through no pointer");
}

Test(judge, pointers_lead_to_what_is_taken)
{
    cr_expect_eq(step(calls_pointer, pointed_at), FAULT_NONE);
    cr_expect_eq(step(calls_pointer, lonely), FAULT_STEP);
}

#if defined __OPTIMIZE__ && !defined __clang__
Test(judge, jumps_take_the_callers_place)
{
    cr_expect_eq(step(calls_jumps, jumped_to), FAULT_NONE);
    cr_expect_eq(step(jumps, jumped_to), FAULT_STEP, "it is gone by then");
}

Test(judge, jumps_by_tables_take_the_callers_place)
{
    cr_expect_eq(step(calls_jumps_by_table, pointed_at), FAULT_NONE);
    cr_expect_eq(step(jumps_by_table, pointed_at), FAULT_STEP, "it is gone by then");
    cr_expect_eq(step(calls_jumps, pointed_at), FAULT_STEP, "it jumps through no table");
}
#endif

Test(judge, what_was_unwound_is_possible)
{
    struct function path[] = {at((uintptr_t)lonely), at((uintptr_t)direct)};
    cr_expect_eq(step(lonely, direct), FAULT_STEP);
    cr_assert_eq(judge_observe(judge, self.process, &sample, path, 2), 0);
    cr_expect_eq(step(lonely, direct), FAULT_NONE);
}

Test(judge, a_first_thread_begins_with_the_program)
{
    struct function path[] = {start(), at((uintptr_t)direct)};
    cr_expect_eq(verdict(path, 1).fault, FAULT_NONE);
    cr_expect_eq(verdict(path + 1, 1).fault, FAULT_ROOT);
    sample.tid++;
    cr_expect_eq(verdict(path, 1).fault, FAULT_ROOT, "another thread begins elsewhere");
}

/* The process's first thread is one that another thread forked, or that executed the program. */
static void begins_by_fork(bool fork)
{
    struct record record = {.kind = fork ? RECORD_FORK : RECORD_COMM, .pid = sample.pid, .tid = sample.pid};
    if (fork) {
        record.fork.parent_pid = sample.pid + 1;
        record.fork.parent_tid = sample.pid + 2;
    } else {
        record.comm.exec = true;
    }
    cr_assert_eq(judge_apply(judge, &record), 0);
}

Test(judge, a_forked_process_begins_as_the_thread_that_forked)
{
    struct function path = start();
    begins_by_fork(true);
    cr_expect_eq(verdict(&path, 1).fault, FAULT_ROOT);
    begins_by_fork(false);
    cr_expect_eq(verdict(&path, 1).fault, FAULT_NONE);
}

Test(judge, what_begins_on_a_stack_of_no_thread_is_on_all)
{
    struct function path = at((uintptr_t)lonely);
    struct sample elsewhere = sample;
    elsewhere.sp = 4096; /* on no stack that is known */
    begins_by_fork(true);
    cr_assert_eq(judge_observe(judge, self.process, &sample, &path, 1), 0);
    begins_by_fork(false);
    cr_expect_eq(verdict(&path, 1).fault, FAULT_ROOT);
    begins_by_fork(true);
    cr_assert_eq(judge_observe(judge, self.process, &elsewhere, &path, 1), 0);
    begins_by_fork(false);
    cr_expect_eq(verdict(&path, 1).fault, FAULT_NONE);
}

Test(judge, functions_must_be_mapped)
{
    struct image *image;
    const char *path = getenv("top_builddir");
    char file[4096];
    snprintf(file, sizeof file, "%s/tests/programs/order", path ? path : "build");
    cr_assert_eq(image_open(file, NULL, &image, NULL), 0, "%s", file);
    struct function steps[] = {start(), {image, 0}};
    struct verdict out = verdict(steps, 2);
    cr_expect_eq(out.fault, FAULT_UNMAPPED);
    cr_expect_eq(out.at, 1u);
    image_close(image);
}
