/* test_entries.c - entries made by hand become the tree that they are of. */
#include <criterion/criterion.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "infer/samples/entries.h"
#include "process/frame.h"
#include "tests/infer/world.h"
#include "tests/process/maps.h"

enum { TID = 77 };

static struct world *w;
static struct entries *entries;
static uint64_t words[64], restorer;

static void stack_is(uint32_t tid, uint64_t base)
{
    char name[32];
    snprintf(name, sizeof name, "[stack:%u]", tid);
    struct record record = {.kind = RECORD_MMAP, .pid = (uint32_t)getpid(), .tid = tid};
    record.mmap.address = base - (1 << 20);
    record.mmap.length = 1 << 20;
    record.mmap.path = name;
    cr_assert_eq(entries_learn(entries, &record, NULL), 0);
}

static void set_up(void)
{
    w = world_open();
    entries = entries_new(w->self.images, w->trie, NULL, NULL);
    maps_read((uint32_t)getpid(), entries_learn, entries);
    stack_is(TID, BASE);
}

static void tear_down(void)
{
    entries_free(entries);
    world_close(w);
}

TestSuite(entries, .init = set_up, .fini = tear_down);

/* fun(number) is entered at the height, by a call that returns to fun(caller) + 1. */
static void enter_on(uint32_t tid, uint64_t base, unsigned number, uint32_t height, int caller)
{
    struct record record = {.kind = RECORD_SAMPLE, .pid = (uint32_t)getpid(), .tid = tid};
    record.sample = world_sample(number, base, height);
    record.sample.pid = record.pid;
    record.sample.tid = tid;
    words[0] = caller < 0 ? 0 : fun((unsigned)caller) + 1;
    record.sample.stack = (const uint8_t *)words;
    record.sample.stack_size = sizeof words[0];
    struct fathom_error err = {0};
    cr_assert_eq(entries_learn(entries, &record, &err), 0, "%s", err.text);
}

static void enter(unsigned number, uint32_t height, int caller)
{
    enter_on(TID, BASE, number, height, caller);
}

static void tell(enum record_kind kind, uint32_t tid)
{
    struct record record = {.kind = kind, .pid = (uint32_t)getpid(), .tid = tid};
    if (kind == RECORD_LOST)
        record.lost = 5;
    if (kind == RECORD_COMM)
        record.comm.exec = true;
    cr_assert_eq(entries_learn(entries, &record, NULL), 0);
}

/* The paths of the map, each "fun0 fun1 HEIGHT xENTRIES;" in order of CID. */
static void holds(const char *expected)
{
    char text[2048] = "";
    world_finish(w);
    for (uint32_t i = 0; i < pathmap_node_count(w->map); i++) {
        struct pathmap_node node = pathmap_node(w->map, i);
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s %u x%llu;", world_path(w, i), node.height,
                 (unsigned long long)node.passes);
    }
    cr_expect_str_eq(text, expected);
}

Test(entries, frames_at_or_below_a_new_one_have_returned)
{
    enter(0, 16, -1);
    enter(1, 48, 0);
    enter(2, 96, 1);
    enter(2, 96, 1);
    enter(3, 48, 0); /* fun1 and fun2 are gone */
    enter(2, 80, 3);
    enter(1, 48, 0);
    holds("fun0 16 x1;fun0 fun1 48 x2;fun0 fun3 fun2 80 x1;fun0 fun1 fun2 96 x2;fun0 fun3 48 x1;");
}

Test(entries, the_return_address_tells_the_caller)
{
    enter(0, 16, -1);
    enter(1, 48, 0);
    enter(2, 64, 0); /* fun0 pushed arguments: fun1 is gone */
    holds("fun0 16 x1;fun0 fun1 48 x1;fun0 fun2 64 x1;");
}

Test(entries, a_caller_without_events_leaves_the_next_one)
{
    enter(0, 16, -1);
    enter(1, 48, 0);
    enter(2, 96, 7); /* fun7 was never entered */
    holds("fun0 16 x1;fun0 fun1 48 x1;fun0 fun1 fun2 96 x1;");
}

Test(entries, a_frame_is_dead_when_its_return_address_was_overwritten)
{
    enter(0, 16, -1);
    enter(1, 48, 0);
    struct record record = {.kind = RECORD_SAMPLE, .pid = (uint32_t)getpid(), .tid = TID};
    record.sample = world_sample(2, BASE, 96);
    record.sample.pid = record.pid;
    record.sample.tid = TID;
    words[0] = fun(7) + 1;             /* called by way of code without events */
    words[(96 - 48) / 8] = fun(7) + 3; /* where fun1's return address was */
    words[(96 - 16) / 8] = 0;          /* fun0's is not known */
    record.sample.stack = (const uint8_t *)words;
    record.sample.stack_size = sizeof words;
    cr_assert_eq(entries_learn(entries, &record, NULL), 0);
    holds("fun0 16 x1;fun0 fun1 48 x1;fun0 fun2 96 x1;");
}

Test(entries, threads_have_stacks_of_their_own)
{
    stack_is(TID + 1, BASE + (1 << 24));
    enter(0, 16, -1);
    enter_on(TID + 1, BASE + (1 << 24), 1, 24, -1);
    enter(2, 48, 0);
    enter_on(TID + 1, BASE + (1 << 24), 3, 64, 1);
    holds("fun0 16 x1;fun1 24 x1;fun0 fun2 48 x1;fun1 fun3 64 x1;");
}

Test(entries, another_stack_of_a_thread_begins_at_its_outermost_frame)
{
    enter(0, 16, -1);
    enter_on(TID, BASE + (1 << 24), 1, 0, -1);
    enter_on(TID, BASE + (1 << 24), 2, 48, 1);
    enter(3, 48, 0);
    holds("fun0 16 x1;fun1 0 x1;fun1 fun2 48 x1;fun0 fun3 48 x1;");
}

/* fun(number) is entered as a handler: it returns to the C library's restorer, and what it interrupted had this SP. */
static void handle(uint64_t base, unsigned number, uint32_t height, uint64_t interrupted)
{
    struct record record = {.kind = RECORD_SAMPLE, .pid = (uint32_t)getpid(), .tid = TID};
    record.sample = world_sample(number, base, height);
    record.sample.pid = record.pid;
    record.sample.tid = TID;
    words[0] = restorer;
    words[1 + UCONTEXT_SP / 8] = interrupted;
    record.sample.stack = (const uint8_t *)words;
    record.sample.stack_size = sizeof words;
    cr_assert_eq(entries_learn(entries, &record, NULL), 0);
}

/* Whose address a handler returns to. */
static void find_restorer(int number)
{
    (void)number;
    restorer = (uint64_t)__builtin_return_address(0);
}

Test(entries, an_alternate_stack_begins_with_a_handler)
{
    const uint64_t other = BASE + (1 << 24);
    signal(SIGUSR1, find_restorer);
    raise(SIGUSR1);
    enter(0, 16, -1);
    for (int i = 0; i < 2; i++) {
        handle(other, 1, UNWIND_SIGNAL_HEIGHT, BASE - 16);
        enter_on(TID, other, 2, 48, 1);
        handle(other, 3, 1024, other - 48); /* another signal interrupts that */
    }
    enter(3, 48, 0);
    holds("fun0 16 x1;[signal on another stack] fun1 16 x2;[signal on another stack] 4 x2;"
          "[signal on another stack] fun1 fun2 48 x2;fun0 fun3 48 x1;"
          "[signal on another stack] fun1 fun2 fun3 1024 x2;");
}

Test(entries, a_forked_child_goes_on_where_its_parent_was)
{
    enter(0, 16, -1);
    enter(1, 48, 0);
    struct record record = {.kind = RECORD_FORK, .pid = 4711, .tid = 4711};
    record.fork.parent_pid = (uint32_t)getpid();
    record.fork.parent_tid = TID;
    cr_assert_eq(entries_learn(entries, &record, NULL), 0);
    record = (struct record){.kind = RECORD_SAMPLE, .pid = 4711, .tid = 4711};
    record.sample = world_sample(2, BASE, 96);
    record.sample.pid = record.sample.tid = 4711;
    cr_assert_eq(entries_learn(entries, &record, NULL), 0);
    enter(3, 96, 1);
    holds("fun0 16 x1;fun0 fun1 48 x1;fun0 fun1 fun2 96 x1;fun0 fun1 fun3 96 x1;");
}

Test(entries, after_a_loss_only_what_is_certain_counts)
{
    enter(0, 16, -1);
    enter(1, 48, 0);
    tell(RECORD_LOST, TID);
    enter(2, 96, 1);  /* the return address confirms fun1 */
    enter(3, 144, 7); /* who called? */
    enter(4, 196, 3); /* below that */
    enter(5, 32, 0);  /* back at the outermost frame */
    enter(6, 64, 5);
    holds("fun0 16 x1;fun0 fun1 48 x1;fun0 fun1 fun2 96 x1;fun0 fun5 32 x1;fun0 fun5 fun6 64 x1;");
    struct entries_summary summary = entries_summary(entries);
    cr_expect_eq(summary.lost, 5);
    cr_expect_eq(summary.doubtful, 2);
    cr_expect_eq(summary.entered, 5);
}

Test(entries, an_exec_begins_anew)
{
    enter(0, 16, -1);
    enter(1, 48, 0);
    tell(RECORD_COMM, TID);
    maps_read((uint32_t)getpid(), entries_learn, entries);
    stack_is(TID, BASE);
    enter(2, 96, -1);
    holds("fun0 16 x1;fun0 fun1 48 x1;fun2 96 x1;");
}

Test(entries, what_has_no_function_or_stack_is_counted)
{
    struct record record = {.kind = RECORD_SAMPLE, .pid = (uint32_t)getpid(), .tid = TID};
    record.sample = world_sample(0, BASE, 16);
    record.sample.pid = record.pid;
    record.sample.tid = TID;
    record.sample.ip = record.sample.reg_ip = 0x1000;
    cr_assert_eq(entries_learn(entries, &record, NULL), 0);
    enter_on(TID + 9, BASE, 0, 16, -1); /* a thread whose stack was not located */
    record.sample = world_sample(0, BASE, 16);
    record.sample.pid = record.sample.tid = 1234567;
    cr_assert_eq(entries_learn(entries, &record, NULL), 0);
    cr_expect_eq(entries_summary(entries).failed, 3);
    cr_expect_eq(trie_node_count(w->trie), 1);
}
