/* Whether a process still has the code of a stack that was unwound. */
#include <criterion/criterion.h>

#include <string.h>

#include "infer/samples/code_places.h"
#include "tests/infer/world.h"

static struct world *w;
static struct code_places *places;
static uint32_t stack;
enum { LEAF = 96, MIDDLE = LEAF - 32 }; /* heights of its frames */

/* A stack in this program and the C library. */
static uint32_t add(uint64_t height)
{
    struct place here, library;
    cr_assert(process_place(w->self.process, fun(0), &here));
    cr_assert(process_place(w->self.process, (uintptr_t)a64l, &library));
    here.address++; /* return addresses, behind calls */
    const struct unwind_frame frames[] = {{.pc = (uintptr_t)a64l, .place = library, .cfa = 1000},
                                          {.pc = fun(0) + 1, .place = here, .cfa = 1032},
                                          {.pc = fun(0) + 1, .place = here, .cfa = 1064}};
    cr_assert_neq(here.image, library.image);
    uint32_t number =
        code_places_add(places, w->self.process, frames, sizeof frames / sizeof *frames, height);
    cr_assert_neq(number, CODE_PLACES_NONE);
    return number;
}

static void begin(void)
{
    w = world_open();
    places = code_places_new();
    stack = add(LEAF);
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
    return code_places_hold(places, stack, process_find(w->self.processes, pid), NULL);
}

static bool holds_at(uint32_t pid, const struct stack_places *placed, uint64_t depth)
{
    struct stack_places at_depth = *placed;
    at_depth.depth = depth;
    return code_places_hold(places, stack, process_find(w->self.processes, pid), &at_depth);
}

/* A mapping of this process, in another one at other addresses. Returns where the file's offset 0 lies there. */
static uint64_t map_there(uint32_t pid, const void *code, uint64_t moved)
{
    const struct mapping *from = process_mapping(w->self.process, (uintptr_t)code);
    struct record r = {.kind = RECORD_MMAP, .pid = pid, .tid = pid};
    cr_assert_not_null(from);
    r.mmap.address = from->start + moved;
    r.mmap.length = from->end - from->start;
    r.mmap.offset = from->offset;
    r.mmap.executable = true;
    r.mmap.path = from->path;
    cr_assert_eq(processes_apply(w->self.processes, &r, NULL), 0);
    return from->start + moved - from->offset;
}

Test(code_places, are_shared_by_stacks_with_the_same_code)
{
    cr_expect_eq(add(LEAF), stack);
    cr_expect_neq(add(LEAF + 16), stack, "that is at other heights");
    cr_expect_eq(add(LEAF), stack);
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

/* Each where the program that compared the stack took it to be, and where it is. */
Test(code_places, are_elsewhere_in_another_process)
{
    enum { THERE = 77777 };
    const uint64_t library = map_there(THERE, (const void *)(uintptr_t)a64l, 0x10000),
                   here = map_there(THERE, (const void *)(uintptr_t)fun(0), UINT64_C(0x7000000));
    struct stack_places placed = {.count = 2, .at = {here, library}};
    cr_expect_not(holds(THERE), "where it was read, there is other code");
    cr_expect(holds_at(THERE, &placed, LEAF + 8));
    cr_expect(holds_at(THERE, &placed, LEAF + 8));
    placed.at[1] += 0x1000;
    cr_expect_not(holds_at(THERE, &placed, LEAF + 8), "a guess that was wrong");
    cr_expect(holds_at(THERE, &placed, MIDDLE + 8), "which does not matter to the callers");
    placed.count = 0;
    cr_expect_not(holds_at(THERE, &placed, MIDDLE + 8));
    placed = (struct stack_places){.count = 2, .at = {here, library}};
    map(THERE, (uintptr_t)a64l + 0x10000, "/nowhere/plugin.so");
    cr_expect_not(holds_at(THERE, &placed, LEAF + 8), "once something else is there");
}
