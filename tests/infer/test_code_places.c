/* Whether a process still has the code of a stack that was unwound. */
#include <criterion/criterion.h>

#include <string.h>

#include "infer/samples/code_places.h"
#include "tests/infer/world.h"

static struct world *w;
static struct code_places *places;
static uint32_t stack;

/* A stack in this program and the C library. */
static void begin(void)
{
    struct place here, library;
    w = world_open();
    places = code_places_new();
    cr_assert(process_place(w->self.process, fun(0), &here));
    cr_assert(process_place(w->self.process, (uintptr_t)a64l, &library));
    const struct unwind_frame frames[] = {{.pc = (uintptr_t)a64l, .place = library},
                                          {.pc = fun(0), .place = here},
                                          {.pc = fun(1), .place = here}};
    cr_assert_neq(here.image, library.image);
    stack = code_places_add(places, frames, sizeof frames / sizeof *frames);
    cr_assert_neq(stack, CODE_PLACES_NONE);
}

static void end(void)
{
    code_places_free(places);
    world_close(w);
}

TestSuite(code_places, .init = begin, .fini = end);

static void map(uint32_t pid, uint64_t address, const char *path)
{
    struct record r = {.kind = RECORD_MMAP, .pid = pid, .tid = pid};
    r.mmap.address = address & ~UINT64_C(0xfff);
    r.mmap.length = 0x1000;
    r.mmap.executable = true;
    r.mmap.path = path;
    cr_assert_eq(processes_apply(w->self.processes, &r, NULL), 0);
}

static bool holds(uint32_t pid)
{
    return code_places_hold(places, stack, process_find(w->self.processes, pid));
}

Test(code_places, hold_while_other_code_comes)
{
    uint32_t pid = process_pid(w->self.process);
    cr_expect(holds(pid));
    map(pid, 0x10000, "/nowhere/plugin.so");
    cr_expect(holds(pid));
}

Test(code_places, do_not_where_another_file_took_one)
{
    uint32_t pid = process_pid(w->self.process);
    cr_expect(holds(pid));
    map(pid, (uintptr_t)a64l, "/nowhere/plugin.so");
    cr_expect_not(holds(pid));
    cr_expect_not(holds(pid), "nor when it is asked again");
}

Test(code_places, are_those_of_a_child_and_not_of_what_it_executes)
{
    uint32_t pid = process_pid(w->self.process), child = pid + 1;
    struct record r = {.kind = RECORD_FORK, .pid = child, .tid = child, .time = 1};
    r.fork.parent_pid = r.fork.parent_tid = pid;
    cr_assert_eq(processes_apply(w->self.processes, &r, NULL), 0);
    cr_expect(holds(child));
    r = (struct record){.kind = RECORD_COMM, .pid = child, .tid = child, .time = 2};
    r.comm.name = "other";
    r.comm.exec = true;
    cr_assert_eq(processes_apply(w->self.processes, &r, NULL), 0);
    cr_expect_not(holds(child));
    cr_expect(holds(pid));
}
