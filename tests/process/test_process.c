/* Records in, address spaces and stacks out: by hand-made records. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/retired.h"
#include "process/code_cache.h"
#include "process/process.h"
#include "process/space.h"

struct world {
    struct image_cache *images;
    struct processes *processes;
    int warnings;
    struct log log;
};

static void count_warning(void *context, enum log_level level, const char *text)
{
    (void)text;
    *(int *)context += level == LOG_WARNING;
}

static struct world *world_open(void)
{
    struct world *w = calloc(1, sizeof *w);
    w->log = (struct log){count_warning, &w->warnings};
    w->images = image_cache_new(NULL);
    w->processes = processes_new(w->images, &w->log);
    cr_assert(w->images && w->processes);
    return w;
}

static void world_close(struct world *w)
{
    processes_free(w->processes);
    image_cache_free(w->images);
    free(w);
}

static void apply(struct world *w, const struct record *record)
{
    struct fathom_error err = {0};
    cr_assert_eq(processes_apply(w->processes, record, &err), 0, "%s", err.text);
}

static void map_kind(struct world *w, uint32_t pid, uint64_t address, uint64_t length, uint64_t offset,
                     const char *path, bool executable)
{
    struct record r = {.kind = RECORD_MMAP, .pid = pid, .tid = pid};
    r.mmap.address = address;
    r.mmap.length = length;
    r.mmap.offset = offset;
    r.mmap.executable = executable;
    r.mmap.path = path;
    apply(w, &r);
}

static void map(struct world *w, uint32_t pid, uint64_t address, uint64_t length, uint64_t offset,
                const char *path)
{
    map_kind(w, pid, address, length, offset, path, true);
}

static void start(struct world *w, uint32_t pid, uint32_t tid, uint32_t parent, uint32_t parent_tid,
                  uint64_t time)
{
    struct record r = {.kind = RECORD_FORK, .pid = pid, .tid = tid, .time = time};
    r.fork.parent_pid = parent;
    r.fork.parent_tid = parent_tid;
    apply(w, &r);
}

static void name(struct world *w, uint32_t pid, uint32_t tid, const char *text, bool exec)
{
    struct record r = {.kind = RECORD_COMM, .pid = pid, .tid = tid, .time = 5};
    r.comm.name = text;
    r.comm.exec = exec;
    apply(w, &r);
}

/* "path start-end@offset" of the mapping that covers the address, "" for none. */
static const char *at(struct world *w, uint32_t pid, uint64_t pc)
{
    static char text[256];
    const struct process *p = process_find(w->processes, pid);
    const struct mapping *m = p ? process_mapping(p, pc) : NULL;
    text[0] = 0;
    if (m)
        snprintf(text, sizeof text, "%s %lx-%lx@%lx", m->path, m->start, m->end, m->offset);
    return text;
}

static uint64_t base_of(struct world *w, uint32_t pid, uint32_t tid, uint64_t sp)
{
    uint64_t base;
    const struct process *p = process_find(w->processes, pid);
    return p && process_stack_base(p, tid, sp, &base) != STACK_UNKNOWN ? base : 0;
}

Test(process, finds_mappings_by_address)
{
    struct world *w = world_open();
    map(w, 7, 0x3000, 0x1000, 0x500, "/c");
    map(w, 7, 0x1000, 0x1000, 0, "/a");
    map(w, 7, 0x2000, 0x1000, 0, "/b");
    cr_expect_str_eq(at(w, 7, 0xfff), "");
    cr_expect_str_eq(at(w, 7, 0x1000), "/a 1000-2000@0");
    cr_expect_str_eq(at(w, 7, 0x1fff), "/a 1000-2000@0");
    cr_expect_str_eq(at(w, 7, 0x2000), "/b 2000-3000@0");
    cr_expect_str_eq(at(w, 7, 0x3fff), "/c 3000-4000@500");
    cr_expect_str_eq(at(w, 7, 0x4000), "");
    cr_expect_str_eq(at(w, 8, 0x1000), "");
    world_close(w);
}

Test(process, later_mapping_replaces_what_it_covers)
{
    struct world *w = world_open();
    map(w, 7, 0x10000, 0x10000, 0x1000, "/old");
    map(w, 7, 0x14000, 0x2000, 0, "/new");
    cr_expect_str_eq(at(w, 7, 0x13fff), "/old 10000-14000@1000");
    cr_expect_str_eq(at(w, 7, 0x14000), "/new 14000-16000@0");
    cr_expect_str_eq(at(w, 7, 0x16000), "/old 16000-20000@7000");
    map(w, 7, 0x12000, 0x3000, 0, "/left");
    cr_expect_str_eq(at(w, 7, 0x14fff), "/left 12000-15000@0");
    cr_expect_str_eq(at(w, 7, 0x15000), "/new 15000-16000@1000");
    cr_expect_str_eq(at(w, 7, 0x11fff), "/old 10000-12000@1000");
    map_kind(w, 7, 0x17000, 0x1000, 0, "/data", false);
    cr_expect_str_eq(at(w, 7, 0x17000), "");
    cr_expect_str_eq(at(w, 7, 0x16fff), "/old 16000-17000@7000");
    cr_expect_str_eq(at(w, 7, 0x18000), "/old 18000-20000@9000");
    map(w, 7, 0, 0x100000, 0, "/all");
    cr_expect_str_eq(at(w, 7, 0x15000), "/all 0-100000@0");
    world_close(w);
}

/* Random mappings of 64 pages against an array that says for each page who has it. */
Test(process, agrees_with_a_model_over_random_mappings)
{
    enum { PAGES = 64 };
    struct world *w = world_open();
    uint64_t owner[PAGES] = {0}, first[PAGES] = {0}, seed = 7;
    char path[32];
    for (uint64_t step = 1; step < 3000; step++) {
        seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
        uint64_t from = seed >> 33 & (PAGES - 1), count = 1 + (seed >> 45) % 16;
        if (from + count > PAGES)
            count = PAGES - from;
        bool executable = seed >> 61 != 0;
        snprintf(path, sizeof path, "/%lu", step);
        map_kind(w, 1, from << 12, count << 12, 0, path, executable);
        for (uint64_t page = from; page < from + count; page++) {
            owner[page] = executable ? step : 0;
            first[page] = from;
        }
        for (uint64_t page = 0; page < PAGES; page++) {
            const struct process *p = process_find(w->processes, 1);
            const struct mapping *m = process_mapping(p, page << 12 | 0x123);
            cr_assert_eq(m != NULL, owner[page] != 0);
            snprintf(path, sizeof path, "/%lu", owner[page]);
            if (m) {
                cr_assert_str_eq(m->path, path);
                cr_assert_eq(m->offset + (page << 12) - m->start, (page - first[page]) << 12);
            }
        }
    }
    world_close(w);
}

Test(process, fork_copies_and_then_both_go_their_way)
{
    struct world *w = world_open();
    map(w, 7, 0x1000, 0x1000, 0, "/a");
    name(w, 7, 7, "parent", false);
    start(w, 8, 8, 7, 7, 10);
    cr_expect_str_eq(at(w, 8, 0x1000), "/a 1000-2000@0");
    cr_expect_str_eq(process_name(process_find(w->processes, 8)), "parent");
    map(w, 8, 0x1000, 0x1000, 0, "/child");
    map(w, 7, 0x5000, 0x1000, 0, "/parent");
    cr_expect_str_eq(at(w, 7, 0x1000), "/a 1000-2000@0");
    cr_expect_str_eq(at(w, 8, 0x1000), "/child 1000-2000@0");
    cr_expect_str_eq(at(w, 8, 0x5000), "");
    /* The PID is used again, by a child of a process that nothing is known of. */
    start(w, 8, 8, 99, 99, 20);
    cr_expect_str_eq(at(w, 8, 0x1000), "");
    world_close(w);
}

Test(process, synthesised_fork_keeps_what_is_known)
{
    struct world *w = world_open();
    map(w, 7, 0x1000, 0x1000, 0, "/parent");
    map(w, 8, 0x1000, 0x1000, 0, "/child");
    start(w, 8, 8, 7, 7, 0);
    cr_expect_str_eq(at(w, 8, 0x1000), "/child 1000-2000@0");
    world_close(w);
}

Test(process, exec_drops_mappings_and_stacks)
{
    struct world *w = world_open();
    map(w, 7, 0x1000, 0x1000, 0, "/a");
    map_kind(w, 7, 0x7000, 0x1000, 0, "[stack:7]", false);
    name(w, 7, 7, "before", false);
    cr_expect_eq(base_of(w, 7, 7, 0x7800), 0x8000);
    name(w, 7, 9, "thread", false);
    cr_expect_str_eq(process_name(process_find(w->processes, 7)), "before");
    name(w, 7, 7, "after", true);
    cr_expect_str_eq(process_name(process_find(w->processes, 7)), "after");
    cr_expect_str_eq(at(w, 7, 0x1000), "");
    cr_expect_eq(base_of(w, 7, 7, 0x7800), 0);
    world_close(w);
}

Test(process, threads_have_names)
{
    struct world *w = world_open();
    map(w, 7, 0x1000, 0x1000, 0, "/a");
    name(w, 7, 7, "main", false);
    const struct process *p = process_find(w->processes, 7);
    start(w, 7, 9, 7, 7, 10);
    cr_expect_str_eq(process_thread_name(p, 9), "main", "it begins with the name of the one that started it");
    name(w, 7, 9, "worker", false);
    start(w, 7, 10, 7, 9, 20);
    cr_expect_str_eq(process_thread_name(p, 7), "main");
    cr_expect_str_eq(process_thread_name(p, 9), "worker");
    cr_expect_str_eq(process_thread_name(p, 10), "worker");
    cr_expect_str_eq(process_thread_name(p, 11), "main", "nothing is known of it");
    cr_expect_str_eq(process_name(p), "main");
    struct record ended = {.kind = RECORD_EXIT, .pid = 7, .tid = 9, .time = 30};
    apply(w, &ended);
    cr_expect_str_eq(process_thread_name(p, 9), "worker", "samples of it may wait for what comes later");
    start(w, 7, 9, 7, 10, 40);
    cr_expect_str_eq(process_thread_name(p, 9), "worker");
    name(w, 7, 10, "renamed", false);
    start(w, 7, 9, 7, 10, 50);
    cr_expect_str_eq(process_thread_name(p, 9), "renamed", "another thread has its number");
    start(w, 7, 9, 7, 77, 60);
    cr_expect_str_eq(process_thread_name(p, 9), "main", "whose starter has no name");
    start(w, 7, 10, 7, 7, 0);
    cr_expect_str_eq(process_thread_name(p, 10), "renamed", "it was there before: its name was told first");
    name(w, 7, 7, "other", true);
    cr_expect_str_eq(process_thread_name(p, 9), "other", "an exec ends the other threads");
    world_close(w);
}

Test(process, a_thread_has_a_stack_once_one_is_told)
{
    struct world *w = world_open();
    map(w, 7, 0x1000, 0x1000, 0, "/a");
    const struct process *p = process_find(w->processes, 7);
    cr_expect_not(process_has_stack(p, 7));
    map_kind(w, 7, 0x7000, 0x1000, 0, "[stack:7]", false);
    cr_expect(process_has_stack(p, 7));
    cr_expect_not(process_has_stack(p, 8));
    world_close(w);
}

Test(process, shared_stacks_belong_to_no_thread)
{
    struct world *w = world_open();
    map_kind(w, 7, 0x10000, 0x4000, 0, "[stack:7]", false);
    struct process *p = process_find(w->processes, 7);
    uint64_t base;
    cr_expect_eq(process_set_shared_stack(p, 0x20000, 0x21000, NULL), 0);
    cr_expect_eq(process_set_shared_stack(p, 0x22000, 0x23000, NULL), 0);
    cr_expect_eq(process_set_shared_stack(p, 0x21000, 0x22000, NULL), 0, "side by side");
    cr_expect_not(process_has_stack(p, 9));
    for (uint32_t tid = 7; tid <= 9; tid++) {
        cr_expect_eq(process_stack_base(p, tid, 0x20800, &base), STACK_SHARED);
        cr_expect_eq(base, 0x21000);
        cr_expect_eq(base_of(w, 7, tid, 0x21800), 0x22000);
        cr_expect_eq(base_of(w, 7, tid, 0x22800), 0x23000);
        cr_expect_eq(base_of(w, 7, tid, 0x23001), 0);
        cr_expect_eq(base_of(w, 7, tid, 0x1ffff), 0);
    }
    /* What runs there goes on whichever thread it is; elsewhere the thread is what goes on. */
    struct sample on = {.pid = 7, .tid = 8, .sp = 0x20800}, other = {.pid = 7, .tid = 9, .sp = 0x20f00},
                  next = {.pid = 7, .tid = 8, .sp = 0x21800}, off = {.pid = 7, .tid = 8, .sp = 0x50000};
    cr_expect_eq(process_thread_key(p, &on), process_thread_key(p, &other));
    cr_expect_neq(process_thread_key(p, &on), process_thread_key(p, &next));
    cr_expect_neq(process_thread_key(p, &on), process_thread_key(p, &off));
    other.sp = 0x50000;
    cr_expect_neq(process_thread_key(p, &off), process_thread_key(p, &other));
    cr_expect_eq(process_thread_key(p, &off), process_thread_key(NULL, &off));
    /* Used anew, and deeper: what it overlaps is gone. */
    cr_expect_eq(process_set_shared_stack(p, 0x21800, 0x22800, NULL), 0);
    cr_expect_eq(base_of(w, 7, 9, 0x21900), 0x22800);
    cr_expect_eq(base_of(w, 7, 9, 0x21400), 0);
    cr_expect_eq(base_of(w, 7, 9, 0x22900), 0);
    cr_expect_eq(base_of(w, 7, 9, 0x20800), 0x21000);
    /* What is a thread's own stays so. */
    cr_expect_eq(process_set_shared_stack(p, 0x13000, 0x13800, NULL), 0);
    cr_expect_eq(process_stack_base(p, 7, 0x13400, &base), STACK_OWN);
    cr_expect_eq(base, 0x14000);
    /* A child has copies of all of them, an exec leaves none. */
    start(w, 12, 12, 7, 7, 10);
    cr_expect_eq(base_of(w, 12, 12, 0x20800), 0x21000);
    struct record exec = {.kind = RECORD_COMM, .pid = 7, .tid = 7};
    exec.comm.name = "new";
    exec.comm.exec = true;
    apply(w, &exec);
    cr_expect_eq(base_of(w, 7, 7, 0x20800), 0);
    world_close(w);
}

Test(process, stacks_that_begin_end_where_the_next_one_does)
{
    struct world *w = world_open();
    map_kind(w, 7, 0x10000, 0x4000, 0, "[stack:7]", false);
    struct process *p = process_find(w->processes, 7);
    cr_expect_eq(process_begin_shared_stack(p, 0x120000, NULL), 0);
    cr_expect_eq(base_of(w, 7, 7, 0x120000), 0x120000);
    cr_expect_eq(base_of(w, 7, 7, 0x110000), 0x120000);
    cr_expect_eq(base_of(w, 7, 7, 0x10fff8), 0, "out of its reach");
    /* 0x8000 apart: the one above ends at this one's base, and this one reaches as far. */
    cr_expect_eq(process_begin_shared_stack(p, 0x118000, NULL), 0);
    cr_expect_eq(base_of(w, 7, 7, 0x118008), 0x120000);
    cr_expect_eq(base_of(w, 7, 7, 0x118000), 0x118000);
    cr_expect_eq(base_of(w, 7, 7, 0x108000), 0x118000);
    cr_expect_eq(process_begin_shared_stack(p, 0x128000, NULL), 0);
    cr_expect_eq(base_of(w, 7, 7, 0x120008), 0x128000);
    cr_expect_eq(base_of(w, 7, 7, 0x120000), 0x120000);
    cr_expect_eq(base_of(w, 7, 7, 0x118008), 0x120000, "as before");
    cr_expect_eq(process_begin_shared_stack(p, 0x120000, NULL), 0);
    cr_expect_eq(base_of(w, 7, 7, 0x118000), 0x118000, "as before");
    cr_expect_lt(process_begin_shared_stack(p, 0x1000, NULL), 0);
    world_close(w);
}

Test(process, more_shared_stacks_than_are_kept)
{
    struct world *w = world_open();
    map_kind(w, 7, 0x10000, 0x4000, 0, "[stack:7]", false);
    struct process *p = process_find(w->processes, 7);
    for (uint64_t i = 1; i <= 40000; i++)
        cr_assert_eq(process_set_shared_stack(p, i << 20, (i << 20) + 0x1000, NULL), 0);
    cr_expect_eq(base_of(w, 7, 7, (40000ull << 20) + 8), (40000ull << 20) + 0x1000);
    cr_expect_eq(base_of(w, 7, 7, (1ull << 20) + 8), 0, "long forgotten");
    world_close(w);
}

Test(process, stacks_belong_to_threads)
{
    struct world *w = world_open();
    map_kind(w, 7, 0x10000, 0x4ff0, 0, "[stack:7]", false);
    map_kind(w, 7, 0x20000, 0x1000, 0, "[stack:9]", false);
    cr_expect_eq(base_of(w, 7, 7, 0x10000), 0x14ff0);
    cr_expect_eq(base_of(w, 7, 7, 0x14ff0), 0x14ff0, "a stack is empty when SP is its base");
    cr_expect_eq(base_of(w, 7, 7, 0x14ff1), 0);
    cr_expect_eq(base_of(w, 7, 7, 0xffff), 0);
    cr_expect_eq(base_of(w, 7, 7, 0x20800), 0, "that is another thread's");
    cr_expect_eq(base_of(w, 7, 9, 0x20800), 0x21000);
    cr_expect_eq(base_of(w, 7, 11, 0x20800), 0);
    /* Sent again, then told by voting: a coroutine's beside its own. */
    map_kind(w, 7, 0x20000, 0x2000, 0, "[stack:9]", false);
    cr_expect_eq(base_of(w, 7, 9, 0x20800), 0x22000);
    struct process *p = process_find(w->processes, 7);
    cr_expect_eq(process_set_stack(p, 9, 0x50000, 0x51000, NULL), 0);
    cr_expect_eq(base_of(w, 7, 9, 0x50800), 0x51000);
    cr_expect_eq(process_set_stack(p, 9, 0x4f000, 0x51000, NULL), 0, "the same, deeper");
    cr_expect_eq(base_of(w, 7, 9, 0x4f800), 0x51000);
    cr_expect_eq(base_of(w, 7, 9, 0x20800), 0x22000);
    cr_expect_lt(process_set_stack(p, 9, 0x51000, 0x51000, NULL), 0);
    /* A child runs on the copy of the forking thread's stack. */
    start(w, 12, 12, 7, 9, 10);
    cr_expect_eq(base_of(w, 12, 12, 0x20800), 0x22000);
    cr_expect_eq(base_of(w, 12, 12, 0x10000), 0);
    struct record ended = {.kind = RECORD_EXIT, .pid = 7, .tid = 9};
    apply(w, &ended);
    cr_expect_eq(base_of(w, 7, 9, 0x20800), 0x22000, "it waits and wakes others after the record of its end");
    for (ended.tid = 100; ended.tid < 100 + RETIRED_KEPT; ended.tid++)
        apply(w, &ended);
    cr_expect_eq(base_of(w, 7, 9, 0x20800), 0, "many have ended since");
    map_kind(w, 7, 0x20000, 0x2000, 0, "[stack:9]", false);
    ended.tid = 9;
    apply(w, &ended);
    start(w, 7, 9, 7, 7, 20);
    cr_expect_eq(base_of(w, 7, 9, 0x20800), 0, "another one has its number");
    apply(w, &ended);
    map_kind(w, 7, 0x30000, 0x2000, 0, "[stack:9]", false);
    start(w, 7, 9, 7, 7, 30);
    cr_expect_eq(base_of(w, 7, 9, 0x30800), 0x32000, "the base of the new one's was told before its start");
    cr_expect_eq(base_of(w, 7, 7, 0x10000), 0x14ff0);
    cr_expect_eq(base_of(w, 12, 12, 0x20800), 0x22000);
    world_close(w);
}

static void leave(struct world *w, uint32_t pid, uint32_t tid)
{
    struct record r = {.kind = RECORD_EXIT, .pid = pid, .tid = tid, .time = 100};
    apply(w, &r);
}

/* As many processes as it takes come and go. */
static void forget(struct world *w)
{
    for (uint32_t pid = 1000; pid < 1000 + RETIRED_KEPT; pid++) {
        start(w, pid, pid, 7, 7, 50);
        leave(w, pid, pid);
    }
}

Test(process, is_forgotten_after_its_end)
{
    struct world *w = world_open();
    map(w, 7, 0x1000, 0x1000, 0, "/a");
    start(w, 8, 8, 7, 7, 10);
    start(w, 9, 9, 7, 7, 10);
    leave(w, 8, 8);
    cr_expect_str_eq(at(w, 8, 0x1000), "/a 1000-2000@0", "a sample may follow");
    leave(w, 7, 7);
    forget(w);
    cr_expect_null(process_find(w->processes, 8));
    cr_expect(process_find(w->processes, 9), "it runs");
    cr_expect(process_find(w->processes, 7), "of one from before, not all threads are known");
    world_close(w);
}

/* No kernel says so, but a file can. */
Test(process, may_end_again_when_it_would_be_forgotten)
{
    struct world *w = world_open();
    forget(w);
    leave(w, 1000, 1000);
    cr_expect(process_find(w->processes, 1000));
    leave(w, 1001, 1001);
    cr_expect(process_find(w->processes, 1001));
    world_close(w);
}

Test(process, is_not_forgotten_while_it_is_needed)
{
    struct world *w = world_open();
    for (uint32_t pid = 7; pid <= 11; pid++)
        start(w, pid, pid, 1, 1, 10);
    start(w, 8, 80, 8, 8, 20);
    process_hold(process_find(w->processes, 9));
    for (uint32_t pid = 8; pid <= 11; pid++)
        leave(w, pid, pid);
    start(w, 10, 10, 7, 7, 30);
    name(w, 11, 11, "executed", true);
    forget(w);
    cr_expect(process_find(w->processes, 8), "a thread of it runs");
    cr_expect(process_find(w->processes, 9), "it is held");
    cr_expect(process_find(w->processes, 10), "another one has its number");
    cr_expect(process_find(w->processes, 11), "an exec ended its first thread");
    process_let_go(process_find(w->processes, 9));
    leave(w, 8, 80);
    leave(w, 9, 9);
    forget(w);
    cr_expect_null(process_find(w->processes, 8));
    cr_expect_null(process_find(w->processes, 9));
    world_close(w);
}

Test(process, is_not_forgotten_if_records_of_it_may_be_lost)
{
    struct world *w = world_open();
    struct record lost = {.kind = RECORD_LOST, .pid = 7, .tid = 7, .time = 15, .lost = 1};
    start(w, 8, 8, 7, 7, 10);
    apply(w, &lost);
    start(w, 9, 9, 7, 7, 20);
    leave(w, 8, 8);
    leave(w, 9, 9);
    forget(w);
    cr_expect(process_find(w->processes, 8));
    cr_expect_null(process_find(w->processes, 9));
    world_close(w);
}

Test(process, damaged_records_change_nothing)
{
    struct world *w = world_open();
    map(w, 7, 0x1000, 0x1000, 0, "/a");
    map(w, 7, UINT64_MAX - 0xfff, 0x2000, 0, "/wraps");
    map(w, 7, 0x1800, 0, 0, "/empty");
    map(w, UINT32_MAX, 0x1000, 0x1000, 0, "[kernel.kallsyms]_text");
    map(w, 7, 0x9000, 0x1000, UINT64_MAX - 0x10, "/offset-wraps");
    map_kind(w, 7, 0x1000, 0x1000, 0, "[stack:99999999999999999999]", false);
    map(w, 7, 0x1000, 0x1000, 0, "/a");
    map_kind(w, 7, 0xa000, 0x1000, 0, "[stack:]", false);
    struct process *p = process_find(w->processes, 7);
    struct place place;
    cr_expect_not(process_place(p, 0x9fff, &place));
    cr_expect_str_eq(at(w, 7, 0x1fff), "/a 1000-2000@0");
    cr_expect_null(process_find(w->processes, UINT32_MAX));
    struct record odd = {.kind = RECORD_EXIT, .pid = 4, .tid = 4};
    apply(w, &odd);
    odd.kind = RECORD_OTHER;
    apply(w, &odd);
    world_close(w);
}

Test(process, missing_files_are_told_once_and_anonymous_ones_never)
{
    struct world *w = world_open();
    struct place place;
    const char *const quiet[] = {"//anon",   "", "[heap]", "/memfd:jit (deleted)", "/dev/zero (deleted)",
                                 "[uprobes]"};
    for (size_t i = 0; i < sizeof quiet / sizeof quiet[0]; i++)
        map(w, 7, 0x100000 + i * 0x1000, 0x1000, 0, quiet[i]);
    map(w, 7, 0x1000, 0x1000, 0, "/no/such/file");
    map(w, 7, 0x2000, 0x1000, 0x1000, "/no/such/file");
    map(w, 8, 0x1000, 0x1000, 0, "/no/such/file");
    map(w, 8, 0x2000, 0x1000, 0, "/no/such/other");
    cr_expect_eq(w->warnings, 0, "files are opened when a sample falls into them");
    for (int round = 0; round < 2; round++) {
        for (uint64_t pc = 0x100000; pc < 0x106000; pc += 0x1000)
            cr_expect_not(process_place(process_find(w->processes, 7), pc, &place));
        cr_expect_eq(w->warnings, round ? 2 : 0);
        for (uint32_t pid = 7; pid <= 8; pid++) {
            cr_expect_not(process_place(process_find(w->processes, pid), 0x1000, &place));
            cr_expect_not(process_place(process_find(w->processes, pid), 0x2000, &place));
        }
        cr_expect_eq(w->warnings, 2);
    }
    world_close(w);
}

Test(process, too_many_mappings_are_told_and_bounded)
{
    struct world *w = world_open();
    for (uint64_t i = 0; i < SPACE_MAX_REGIONS + 100; i++)
        map(w, 7, i << 13, 0x1000, 0, "//anon");
    cr_expect_eq(w->warnings, 1);
    cr_expect_str_neq(at(w, 7, (uint64_t)(SPACE_MAX_REGIONS - 1) << 13), "");
    cr_expect_str_eq(at(w, 7, (uint64_t)SPACE_MAX_REGIONS << 13), "");
    world_close(w);
}

enum { CODE = 0x400000, CODE_SIZE = 0x8000 };

/* Maps this program's file from the offset on. */
static void map_program(struct world *w, uint32_t pid, uint64_t offset)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    cr_assert_gt(length, 0);
    path[length] = 0;
    map(w, pid, CODE, CODE_SIZE, offset, path);
}

/* What process_cfi() tells of the PC as the image's address, after a comparison with what is looked up step
 * by step; 0: nothing is there. */
static uint64_t code_at(struct world *w, uint32_t pid, uint64_t pc)
{
    const struct process *p = process_find(w->processes, pid);
    struct place place, expected;
    struct cfi_row row;
    bool there = process_place(p, pc, &expected);
    cr_assert_eq(process_cfi(p, pc, &place, &row), there);
    if (!there)
        return 0;
    struct cfi_row looked_up = cfi_lookup(image_cfi(expected.image), expected.address);
    cr_assert_eq(place.image, expected.image);
    cr_assert_eq(place.address, expected.address);
    cr_assert_eq(place.function, expected.function);
    cr_assert_eq(row.cfa, looked_up.cfa);
    cr_assert_eq(row.cfa_offset, looked_up.cfa_offset);
    cr_assert_eq(row.bp, looked_up.bp);
    cr_assert_eq(row.bp_offset, looked_up.bp_offset);
    cr_assert_eq(row.root, looked_up.root);
    return place.address;
}

/* More PCs than are remembered, so that they drive each other out. */
Test(process, tells_the_cfi_row_of_a_pc_as_often_as_it_is_asked)
{
    struct world *w = world_open();
    map_program(w, 7, 0);
    unsigned there = 0;
    for (int round = 0; round < 2; round++)
        for (uint64_t pc = CODE - 16; pc < CODE + CODE_SIZE + 16; pc++)
            there += code_at(w, 7, pc) != 0;
    cr_assert_gt(there, 2 * CODE_CACHE_ENTRIES);
    cr_assert_eq(w->warnings, 0);
    world_close(w);
}

Test(process, forgets_code_that_is_mapped_over)
{
    struct world *w = world_open();
    const uint64_t pc = CODE + 0x4040;
    map_program(w, 7, 0x2000);
    const uint64_t before = code_at(w, 7, pc);
    cr_assert_neq(before, 0u);
    start(w, 8, 8, 7, 7, 10);
    cr_expect_eq(code_at(w, 8, pc), before);
    map_program(w, 8, 0x1000);
    cr_expect_eq(code_at(w, 8, pc), before - 0x1000);
    cr_expect_eq(code_at(w, 7, pc), before, "the parent stays as it was");
    map_kind(w, 7, CODE, CODE_SIZE, 0, "/data", false);
    cr_expect_eq(code_at(w, 7, pc), 0u);
    name(w, 8, 8, "other", true);
    cr_expect_eq(code_at(w, 8, pc), 0u);
    world_close(w);
}

/* The next unread mapping's path; "" at the end. */
static const char *unread(struct world *w, uint32_t pid, size_t *at)
{
    const struct mapping *m = process_next_unread(process_find(w->processes, pid), at);
    return m ? m->path : "";
}

static bool has_unread(struct world *w, uint32_t pid)
{
    return process_has_unread(process_find(w->processes, pid));
}

Test(process, tells_what_cannot_be_read)
{
    struct world *w = world_open();
    size_t i = 0;
    map(w, 7, 0x1000, 0x1000, 0, "/proc/self/exe");
    map(w, 7, 0x2000, 0x1000, 0, "[vdso]");
    map(w, 7, 0x3000, 0x1000, 0, "[stack]");
    map_kind(w, 7, 0x4000, 0x1000, 0, "/no such data", false);
    cr_expect_not(has_unread(w, 7));
    cr_expect_str_eq(unread(w, 7, &i), "");
    map(w, 7, 0x5000, 0x1000, 0, "/no such library");
    cr_expect(has_unread(w, 7));
    map(w, 7, 0x6000, 0x1000, 0, "//anon");
    i = 0;
    cr_expect_str_eq(unread(w, 7, &i), "/no such library");
    cr_expect_str_eq(unread(w, 7, &i), "//anon");
    cr_expect_str_eq(unread(w, 7, &i), "");
    cr_expect_eq(w->warnings, 1, "the file is named once");
    /* taken away: readable again */
    map_kind(w, 7, 0x5000, 0x2000, 0, "/data", false);
    cr_expect_not(has_unread(w, 7));
    /* of another build than was recorded */
    struct record r = {.kind = RECORD_MMAP, .pid = 8, .tid = 8};
    r.mmap.address = 0x1000;
    r.mmap.length = 0x1000;
    r.mmap.executable = true;
    r.mmap.path = "/proc/self/exe";
    r.mmap.build_id_size = 4;
    apply(w, &r);
    cr_expect(has_unread(w, 8));
    start(w, 9, 9, 8, 8, 10);
    cr_expect(has_unread(w, 9), "a child has its parent's mappings");
    world_close(w);
}
