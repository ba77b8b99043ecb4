/* Which processes share known stacks. */
#include <criterion/criterion.h>

#include <string.h>

#include "infer/live/spaces.h"

enum { PIDS = 16 };

struct world {
    struct image_cache *images;
    struct processes *processes;
    struct spaces *spaces;
    uint32_t placed[PIDS]; /* as the callbacks say */
    uint32_t ended[PIDS];
    size_t ended_count;
};

static void place(void *world, uint32_t pid, uint32_t space)
{
    struct world *w = world;
    w->placed[pid] = space;
}

static void end(void *world, uint32_t space)
{
    struct world *w = world;
    for (uint32_t pid = 0; pid < PIDS; pid++)
        cr_expect_neq(w->placed[pid], space, "it has a process");
    w->ended[w->ended_count++] = space;
}

static void start(struct world *w)
{
    *w = (struct world){.images = image_cache_new(&(struct image_options){0})};
    w->processes = processes_new(w->images, NULL);
    w->spaces = spaces_new(&(struct spaces_input){place, end, w});
    cr_assert(w->processes && w->spaces);
}

static void stop(struct world *w)
{
    spaces_free(w->spaces);
    processes_free(w->processes);
    image_cache_free(w->images);
}

/* build: of the file's build-id; 0: none. */
static void map(struct world *w, uint32_t pid, uint64_t address, uint8_t build, const char *path)
{
    struct record r = {.kind = RECORD_MMAP, .pid = pid, .tid = pid};
    r.mmap.address = address;
    r.mmap.length = 0x1000;
    r.mmap.executable = true;
    r.mmap.build_id_size = build ? 20 : 0;
    memset(r.mmap.build_id, build, sizeof r.mmap.build_id);
    r.mmap.path = path;
    cr_assert_eq(processes_apply(w->processes, &r, NULL), 0);
}

static uint32_t space(struct world *w, uint32_t pid)
{
    uint32_t number = spaces_of(w->spaces, process_find(w->processes, pid));
    cr_assert_neq(number, 0u);
    cr_expect_eq(w->placed[pid], number);
    return number;
}

static void fork_child(struct world *w, uint32_t parent, uint32_t child)
{
    struct record r = {.kind = RECORD_FORK, .pid = child, .tid = child, .time = 1};
    r.fork.parent_pid = r.fork.parent_tid = parent;
    cr_assert(spaces_fork(w->spaces, process_find(w->processes, parent), child));
    cr_assert_eq(processes_apply(w->processes, &r, NULL), 0);
}

Test(spaces, children_share_until_they_load_something)
{
    struct world w;
    start(&w);
    map(&w, 1, 0x10000, 0, "/bin/a"); /* without a build-id */
    fork_child(&w, 1, 2);
    fork_child(&w, 2, 3);
    uint32_t all = w.placed[1];
    cr_expect_eq(w.placed[2], all, "at once");
    cr_expect_eq(w.placed[3], all);
    cr_expect_eq(space(&w, 3), all);
    map(&w, 2, 0x20000, 7, "/lib/plugin.so");
    map(&w, 3, 0x20000, 8, "/lib/other.so");
    cr_expect_neq(space(&w, 2), all);
    cr_expect_neq(space(&w, 3), all);
    cr_expect_neq(space(&w, 3), space(&w, 2));
    cr_expect_eq(space(&w, 1), all);
    cr_expect_eq(w.ended_count, 0u);
    stop(&w);
}

Test(spaces, a_process_that_is_alone_keeps_its_own)
{
    struct world w;
    start(&w);
    map(&w, 1, 0x10000, 1, "/bin/a");
    uint32_t own = space(&w, 1);
    map(&w, 1, 0x20000, 7, "/lib/plugin.so");
    cr_expect_eq(space(&w, 1), own);
    spaces_leave(w.spaces, 1);
    cr_expect_eq(w.placed[1], 0u);
    cr_expect_eq(w.ended_count, 1u);
    cr_expect_eq(w.ended[0], own);
    cr_expect_neq(space(&w, 1), own, "numbers are not used again");
    stop(&w);
}

Test(spaces, the_same_code_at_the_same_addresses_is_shared)
{
    struct world w;
    start(&w);
    for (uint32_t pid = 1; pid <= 6; pid++) {
        map(&w, pid, pid == 2 ? 0x11000 : 0x10000, pid == 3 ? 2 : 1, "/bin/a");
        map(&w, pid, 0x7f0000, 0, "[vdso]");
    }
    map(&w, 5, 0x30000, 0, "//anon");
    map(&w, 6, 0x30000, 0, "//anon");
    uint32_t first = space(&w, 1);
    cr_expect_neq(space(&w, 2), first, "at another address");
    cr_expect_neq(space(&w, 3), first, "another build");
    cr_expect_eq(space(&w, 4), first);
    cr_expect_neq(space(&w, 5), first);
    cr_expect_neq(space(&w, 6), space(&w, 5), "nobody knows what is in memory without a file");
    spaces_leave(w.spaces, 1);
    cr_expect_eq(w.ended_count, 0u, "the other one goes on");
    cr_expect_eq(space(&w, 4), first);
    spaces_leave(w.spaces, 4);
    cr_expect_eq(w.ended_count, 1u);
    stop(&w);
}

Test(spaces, two_that_load_the_same_meet_again)
{
    struct world w;
    start(&w);
    map(&w, 1, 0x10000, 1, "/bin/a");
    fork_child(&w, 1, 2);
    fork_child(&w, 1, 3);
    map(&w, 2, 0x20000, 7, "/lib/plugin.so");
    map(&w, 3, 0x20000, 7, "/lib/plugin.so");
    cr_expect_eq(space(&w, 2), space(&w, 3));
    cr_expect_neq(space(&w, 2), space(&w, 1));
    stop(&w);
}
