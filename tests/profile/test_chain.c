/* A path's addresses in its process. */
#include <criterion/criterion.h>

#include "profile/chain.h"
#include "tests/infer/world.h"

#define KERNEL_PC UINT64_C(0xffffffff81000010)
#define MOVED     UINT64_C(0x100000000) /* bytes from this process's code to another's */

struct setup {
    struct world *w;
    struct chains *chains;
    uint64_t bias; /* from the image's addresses to the process's */
    uint32_t node; /* of the path */
};

/* fun0 calls fun1, and that one fun2; the sites are addresses in the process, or 0. between: a function of a file that is
 * not there is called by fun1, and calls fun2. */
static struct setup setup_open(uint64_t first, uint64_t second, bool between)
{
    struct setup s = {.w = world_open()};
    const struct image *image = world_image(s.w);
    struct place place;
    cr_assert(process_place(s.w->self.process, fun(0), &place));
    s.bias = fun(0) - place.address;
    uint32_t parent = world_child(s.w, TRIE_ROOT, 0, 0, 0, 1, 0);
    parent = world_child(s.w, parent, 1, 16, first ? first - s.bias : 0, 1, 0);
    if (between) {
        uint32_t none = trie_image(s.w->trie, "/nowhere/none.so", image_build_id(image));
        parent = trie_child(s.w->trie, parent, trie_function(s.w->trie, none, 0x1000, "none"), 32, 0);
        cr_assert_neq(parent, TRIE_NONE);
        trie_add(s.w->trie, parent, 1, 0);
    }
    world_child(s.w, parent, 2, 64, second ? second - s.bias : 0, 1, 1);
    world_finish(s.w);
    while (s.node < pathmap_node_count(s.w->map) && pathmap_node(s.w->map, s.node).height != 64)
        s.node++;
    cr_assert_lt(s.node, pathmap_node_count(s.w->map));
    s.chains = chains_new(s.w->self.images, s.w->map);
    cr_assert(s.chains);
    return s;
}

static void setup_close(struct setup *s)
{
    chains_free(s->chains);
    world_close(s->w);
}

static void find(struct setup *s, const struct process *process, const struct sample *sample, uint32_t node)
{
    cr_assert_eq(chains_find(s->chains, process, sample, node, NULL), 0);
}

static void expect(const struct setup *s, const uint64_t *wanted, size_t count)
{
    size_t got;
    const uint64_t *found = chains_found(s->chains, &got);
    cr_assert_eq(got, count);
    for (size_t i = 0; i < count; i++)
        cr_expect_eq(found[i], wanted[i], "%zu: %#lx, not %#lx", i, (unsigned long)found[i],
                     (unsigned long)wanted[i]);
}
#define EXPECT(s, ...)                                                                                       \
    expect(s, (const uint64_t[]){__VA_ARGS__}, sizeof(uint64_t[]){__VA_ARGS__} / sizeof(uint64_t))

Test(chain, callers_are_in_their_calls)
{
    struct setup s = setup_open(fun(0) + 4, fun(1) + 6, false);
    struct sample sample = world_sample(2, BASE, 64);
    find(&s, s.w->self.process, &sample, s.node);
    EXPECT(&s, PERF_CONTEXT_USER, fun(2), fun(1) + 5, fun(0) + 3);
    cr_assert_eq(chains_add(s.chains, 0x77, NULL), 0);
    EXPECT(&s, PERF_CONTEXT_USER, fun(2), fun(1) + 5, fun(0) + 3, 0x77);
    find(&s, s.w->self.process, &sample, s.node);
    EXPECT(&s, PERF_CONTEXT_USER, fun(2), fun(1) + 5, fun(0) + 3);
    setup_close(&s);
}

Test(chain, without_a_call_they_are_at_their_begin)
{
    struct setup s = setup_open(0, fun(3) + 1, false); /* a site that is not in its function is none */
    struct sample sample = world_sample(2, BASE, 64);
    find(&s, s.w->self.process, &sample, s.node);
    EXPECT(&s, PERF_CONTEXT_USER, fun(2), fun(1) + 1, fun(0) + 1);
    setup_close(&s);
}

Test(chain, samples_without_callers)
{
    struct setup s = setup_open(0, 0, false);
    struct sample sample = world_sample(2, BASE, 64);
    find(&s, s.w->self.process, &sample, PATHMAP_NONE);
    EXPECT(&s, PERF_CONTEXT_USER, fun(2));
    find(&s, NULL, &sample, s.node);
    EXPECT(&s, PERF_CONTEXT_USER, fun(2));
    cr_expect_eq(chains_left_out(s.chains), 0u);
    setup_close(&s);
}

Test(chain, the_kernel_s_part_comes_first)
{
    struct setup s = setup_open(0, 0, false);
    struct sample sample = world_sample(2, BASE, 64);
    sample.mode = SAMPLE_MODE_KERNEL;
    sample.ip = KERNEL_PC;
    find(&s, s.w->self.process, &sample, s.node);
    EXPECT(&s, PERF_CONTEXT_KERNEL, KERNEL_PC, PERF_CONTEXT_USER, fun(2), fun(1) + 1, fun(0) + 1);
    find(&s, s.w->self.process, &sample, PATHMAP_NONE);
    EXPECT(&s, PERF_CONTEXT_KERNEL, KERNEL_PC);
    setup_close(&s);
}

Test(chain, what_the_process_does_not_have_is_left_out)
{
    struct setup s = setup_open(0, 0, true);
    struct sample sample = world_sample(2, BASE, 64);
    for (uint64_t times = 1; times <= 2; times++) {
        find(&s, s.w->self.process, &sample, s.node);
        EXPECT(&s, PERF_CONTEXT_USER, fun(2), fun(1) + 1, fun(0) + 1);
        cr_expect_eq(chains_left_out(s.chains), times);
    }
    setup_close(&s);
}

Test(chain, another_process_has_them_elsewhere)
{
    struct setup s = setup_open(fun(0) + 4, 0, false);
    const struct mapping *here = process_mapping(s.w->self.process, fun(0));
    struct record record = {.kind = RECORD_MMAP, .pid = 1, .tid = 1};
    cr_assert(here);
    record.mmap.address = here->start + MOVED;
    record.mmap.length = here->end - here->start;
    record.mmap.offset = here->offset;
    record.mmap.executable = true;
    record.mmap.path = here->path;
    cr_assert_eq(processes_apply(s.w->self.processes, &record, NULL), 0);
    const struct process *moved = process_find(s.w->self.processes, 1);
    struct sample sample = world_sample(2, BASE, 64);
    find(&s, s.w->self.process, &sample, s.node);
    EXPECT(&s, PERF_CONTEXT_USER, fun(2), fun(1) + 1, fun(0) + 3);
    sample.ip += MOVED;
    find(&s, moved, &sample, s.node);
    EXPECT(&s, PERF_CONTEXT_USER, fun(2) + MOVED, fun(1) + 1 + MOVED, fun(0) + 3 + MOVED);
    setup_close(&s);
}
