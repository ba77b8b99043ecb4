/* Call chains and branch stacks: which of two paths at one height they speak for. */
#include <criterion/criterion.h>

#include <linux/perf_event.h>
#include <string.h>

#include "image/code/code.h"
#include "infer/model/chain_evidence.h"
#include "tests/infer/world.h"

struct story {
    struct world *world;
    struct chain_evidence *evidence;
};

/* fun0 calls fun1 and fun2, which both call fun3, which calls fun4: by the counts 3 times as often under
 * fun1. */
static struct story begin(void)
{
    struct story s = {.world = world_open()};
    struct world *w = s.world;
    uint32_t root = world_child(w, TRIE_ROOT, 0, 0, 0, 400, 0);
    uint32_t one = world_child(w, root, 1, 16, 5, 300, 0), two = world_child(w, root, 2, 16, 6, 100, 0);
    world_child(w, world_child(w, one, 3, 48, 7, 300, 0), 4, 64, 8, 300, 300);
    world_child(w, world_child(w, two, 3, 48, 9, 100, 0), 4, 64, 8, 100, 100);
    world_child(w, two, 5, 48, 10, 100, 100);
    world_finish(w);
    cr_assert_eq(process_set_stack(w->self.process, self_tid(), BASE - 0x100000, BASE, NULL), 0);
    s.evidence = chain_evidence_new(w->resolver);
    cr_assert_not_null(s.evidence);
    return s;
}

static void end(struct story *s)
{
    chain_evidence_free(s->evidence);
    world_close(s->world);
}

static struct resolved resolve(struct story *s, const struct sample *sample)
{
    struct resolved resolved;
    cr_assert_eq(world_resolve(s->world, s->world->self.process, sample, &resolved, NULL), 0);
    cr_assert_eq(chain_evidence_weigh(s->evidence, s->world->self.process, sample, &resolved, NULL), 0);
    double sum = 0;
    for (uint32_t i = 0; i < resolved.posterior_count; i++)
        sum += (double)resolved.posterior[i].probability;
    cr_assert_float_eq(sum, 1, 1e-5);
    cr_assert_eq(resolved.posterior[0].node, resolved.node);
    return resolved;
}

/* The sample in fun4 with this chain. */
static struct resolved with_chain(struct story *s, const uint64_t *chain, uint32_t count)
{
    struct sample sample = world_sample(4, BASE, 64);
    sample.callchain = chain;
    sample.callchain_count = count;
    return resolve(s, &sample);
}

Test(evidence, chains_decide)
{
    struct story s = begin();
    struct resolved plain = with_chain(&s, NULL, 0);
    cr_expect_str_eq(world_path(s.world, plain.node), "fun0 fun1 fun3 fun4");
    cr_expect_float_eq(plain.probability, 0.75, 0.01);
    const uint64_t user = (uint64_t)PERF_CONTEXT_USER, kernel = (uint64_t)PERF_CONTEXT_KERNEL;
    const uint64_t whole[] = {user, fun(4), fun(3) + 1, fun(2) + 1, fun(0) + 1};
    struct resolved r = with_chain(&s, whole, 5);
    cr_expect_str_eq(world_path(s.world, r.node), "fun0 fun2 fun3 fun4");
    cr_expect_gt(r.probability, 0.95);
    cr_expect_eq(r.kind, RESOLVED_AMBIGUOUS);
    cr_expect_eq(r.paths, 2u);
    const uint64_t later[] = {kernel, 0xffffffff81000000, user, fun(4), fun(2) + 1};
    r = with_chain(&s, later, 5);
    cr_expect_str_eq(world_path(s.world, r.node), "fun0 fun2 fun3 fun4", "without fun3, which has no frame");
    const uint64_t other[] = {user, fun(4), fun(3) + 1, fun(1) + 1};
    r = with_chain(&s, other, 4);
    cr_expect_str_eq(world_path(s.world, r.node), "fun0 fun1 fun3 fun4");
    cr_expect_gt(r.probability, 0.99);
    end(&s);
}

Test(evidence, chains_that_tell_nothing_change_nothing)
{
    struct story s = begin();
    const uint64_t user = (uint64_t)PERF_CONTEXT_USER;
    const uint64_t none[] = {user, fun(4)}, alike[] = {user, fun(4), fun(3) + 1, fun(0) + 1},
                   wild[] = {user, fun(4), 8, 0x7fff12345678, 0}, foreign[] = {user, fun(4), fun(7) + 1},
                   kernel[] = {(uint64_t)PERF_CONTEXT_KERNEL, fun(4), fun(3) + 1, fun(2) + 1};
    const struct {
        const uint64_t *chain;
        uint32_t count;
    } chains[] = {{none, 2}, {alike, 4}, {wild, 5}, {foreign, 3}, {kernel, 4}};
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
        struct resolved r = with_chain(&s, chains[i].chain, chains[i].count);
        cr_expect_str_eq(world_path(s.world, r.node), "fun0 fun1 fun3 fun4");
        cr_expect_float_eq(r.probability, 0.75, 0.01, "%zu: %g", i, r.probability);
    }
    end(&s);
}

/* Functions with calls, for branches that come from real instructions. */
static volatile int sink;

APART static void called(void)
{
    sink = 1;
}

APART static void first_caller(void)
{
    called();
    sink = 2;
}

APART static void second_caller(void)
{
    called();
    sink = 3;
}

/* The first instruction of this kind in the function at `start`. */
static uint64_t find(uint64_t start, uint8_t kind)
{
    struct code_insn insn;
    for (uint64_t at = start; at < start + 200; at += insn.length) {
        cr_assert(code_read((const uint8_t *)at, 16, at, &insn));
        if (insn.kind == kind)
            return at;
    }
    cr_assert_fail("no such instruction");
    return 0;
}

static uint32_t add(struct world *w, uint32_t parent, uint64_t address, uint32_t height, uint64_t self)
{
    struct place place;
    cr_assert(process_place(w->self.process, address, &place));
    uint32_t image = trie_image(w->trie, image_path(place.image), image_build_id(place.image));
    const struct image_function *f = image_function(place.image, place.function);
    uint32_t node =
        trie_child(w->trie, parent, trie_function(w->trie, image, f->address, f->name), height, 0);
    trie_add(w->trie, node, 10, self);
    return node;
}

Test(evidence, branches_decide)
{
    struct story s = {.world = world_open()};
    struct world *w = s.world;
    const uint64_t one = (uintptr_t)first_caller, two = (uintptr_t)second_caller, leaf = (uintptr_t)called;
    uint32_t root = world_child(w, TRIE_ROOT, 0, 0, 0, 40, 0);
    add(w, add(w, root, one, 16, 0), leaf, 32, 9);
    add(w, add(w, root, two, 16, 0), leaf, 32, 3);
    world_finish(w);
    cr_assert_eq(process_set_stack(w->self.process, self_tid(), BASE - 0x100000, BASE, NULL), 0);
    s.evidence = chain_evidence_new(w->resolver);
    struct sample sample = self_sample(leaf, BASE - 32 - 8, 0);
    uint64_t into_leaf = find(two, CODE_CALL), out_of_leaf = find(leaf, CODE_RETURN);
    /* The newest first. A call of first_caller's that is over stands before second_caller's. */
    uint64_t branches[][3] = {{into_leaf, leaf, 0}, {out_of_leaf, one, 0}, {find(one, CODE_CALL), leaf, 0}};
    cr_expect_str_eq(world_path(w, resolve(&s, &sample).node), "fun0 first_caller called");
    sample.branches = (const uint8_t *)branches;
    sample.branch_count = 3;
    struct resolved r = resolve(&s, &sample);
    cr_expect_str_eq(world_path(w, r.node), "fun0 second_caller called");
    cr_expect_gt(r.probability, 0.9);
    sample.branches = (const uint8_t *)branches[1]; /* what is over alone tells nothing */
    sample.branch_count = 2;
    r = resolve(&s, &sample);
    cr_expect_float_eq(r.probability, 0.75, 0.05);
    end(&s);
}
