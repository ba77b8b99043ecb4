/* Voting for the bases of stacks that belong to no thread, on maps made by hand. */
#include <criterion/criterion.h>

#include "infer/bases/shared_votes.h"
#include "pathmap/map/partial.h"
#include "process/partial.h"
#include "tests/infer/world.h"

/* Stacks of 64 KiB, one below the other, under BASE. */
enum { STACK = 0x10000 };

struct count {
    struct world *world;
    struct shared_votes *votes;
    struct shared_stacks *stacks;
};

static struct count begin(struct world *w)
{
    world_finish(w);
    struct count c = {w, shared_votes_new(w->resolver, w->self.images), shared_stacks_new()};
    cr_assert(c.votes && c.stacks);
    return c;
}

static void vote(struct count *c, unsigned number, uint64_t base, uint32_t height, int times)
{
    struct sample s = world_sample(number, base, height);
    const struct leaf_frame frame = leaf_frame_of(c->world->self.process, &s);
    while (times--)
        cr_assert_eq(shared_votes_add(c->votes, &s, &frame, NULL), 0);
}

static uint64_t settle(struct count *c)
{
    uint64_t won = 0;
    cr_assert_eq(shared_votes_settle(c->votes, c->stacks, &won), 0);
    return won;
}

static uint64_t base_at(struct count *c, uint64_t sp)
{
    const struct shared_stack *stack = shared_stacks_find(c->stacks, self_sample(0, 0, 0).pid, sp, 5);
    return stack ? stack->base : 0;
}

static void end(struct count *c)
{
    shared_votes_free(c->votes);
    shared_stacks_free(c->stacks);
    world_close(c->world);
}

/* A coroutine's function 1 that calls 2, 3, 4, 5 at heights which are no shifts of each other; a program's
 * own stack with the same functions below _start (here 0). */
static struct world *coroutine(void)
{
    static const uint32_t heights[] = {0, 48, 160, 208, 464, 1024};
    struct world *w = world_open();
    uint32_t node = TRIE_ROOT, own = world_child(w, TRIE_ROOT, 0, 8, 0, 1, 0);
    for (unsigned i = 1; i <= 5; i++) {
        node = world_child(w, node, i, heights[i - 1], i, 10, 1);
        own = world_child(w, own, i, 4000 + heights[i - 1], i, 10, 1);
    }
    return w;
}

Test(shared_votes, several_positions_that_agree_win)
{
    struct count c = begin(coroutine());
    for (uint64_t i = 0; i < 4; i++) {
        uint64_t base = BASE - i * STACK;
        vote(&c, 2, base, 48, 3);
        vote(&c, 3, base, 160, 1);
        vote(&c, 4, base, 208, 1);
        vote(&c, 5, base, 464, 20);
        vote(&c, 5, base, 1000, 5); /* never trained, but near */
    }
    cr_expect_eq(settle(&c), 4u);
    for (uint64_t i = 0; i < 4; i++) {
        uint64_t base = BASE - i * STACK;
        cr_expect_eq(base_at(&c, base), base);
        cr_expect_eq(base_at(&c, base - 300), base);
        cr_expect_eq(base_at(&c, base - 1008), base);
        cr_expect_eq(base_at(&c, base - 1100), 0, "no sample lies so low");
    }
    end(&c);
}

/* A signal handler, and what it calls, below the root that says so. */
Test(shared_votes, an_alternate_signal_stack_wins)
{
    for (int other = 0; other < 2; other++) {
        struct world *w = world_open();
        uint32_t node = partial_node(w->trie, other ? "[run-time code]" : PARTIAL_SIGNAL);
        node = world_child(w, node, 1, UNWIND_SIGNAL_HEIGHT, 0, 10, 1);
        for (unsigned i = 2; i <= 5; i++)
            node = world_child(w, node, i, 100 * i + 8 * i * i, i, 10, 1);
        struct count c = begin(w);
        for (unsigned i = 2; i <= 5; i++)
            vote(&c, i, BASE, 100 * i + 8 * i * i, 3);
        cr_expect_eq(settle(&c), other ? 0u : 1u);
        cr_expect_eq(base_at(&c, BASE - 300), other ? 0 : BASE);
        end(&c);
    }
}

/* However often: one place says nothing. */
Test(shared_votes, one_function_in_one_place_has_no_base)
{
    struct count c = begin(coroutine());
    vote(&c, 5, BASE, 464, 100000);
    cr_expect_eq(settle(&c), 0u);
    cr_expect_eq(base_at(&c, BASE - 464), 0);
    end(&c);
}

/* The paths of the program's own stack fit as well, 4000 bytes higher: they are no evidence. */
Test(shared_votes, paths_of_a_threads_own_stack_do_not_vote)
{
    struct world *w = world_open();
    uint32_t own = world_child(w, TRIE_ROOT, 0, 8, 0, 1, 0);
    for (unsigned i = 1; i <= 6; i++)
        own = world_child(w, own, i, 100 * i, i, 10, 1);
    struct count c = begin(w);
    for (unsigned i = 1; i <= 6; i++)
        vote(&c, i, BASE, 100 * i, 10);
    cr_expect_eq(settle(&c), 0u);
    end(&c);
}

/* Every shift by one frame explains all but one of the positions. */
Test(shared_votes, a_recursion_alone_has_no_base)
{
    struct world *w = world_open();
    uint32_t node = world_child(w, TRIE_ROOT, 1, 0, 0, 10, 1);
    for (unsigned i = 1; i <= 20; i++)
        node = world_child(w, node, 2 + i % 2, 64 * i, i, 10, 1);
    struct count c = begin(w);
    for (unsigned i = 1; i <= 20; i++)
        vote(&c, 2 + i % 2, BASE, 64 * i, 10);
    cr_expect_eq(settle(&c), 0u);
    end(&c);
}

/* Function 3 under 1 or under 2, which begin coroutines, with frames of other sizes; what it calls, and that
 * calls, was seen `passes` times, below 1 alone. Nothing is below 2 that is not below 1. */
static struct count two_kinds(uint64_t passes, uint64_t of_each)
{
    struct world *w = world_open();
    uint32_t first = world_child(w, TRIE_ROOT, 1, 0, 0, of_each, 0);
    uint32_t second = world_child(w, TRIE_ROOT, 2, 0, 0, of_each, 0);
    uint32_t below = world_child(w, first, 3, 672, 0, of_each, of_each);
    world_child(w, second, 3, 384, 0, of_each, of_each);
    below = world_child(w, below, 4, 688, 0, passes, passes);
    world_child(w, below, 5, 736, 0, passes, passes);
    return begin(w);
}

static uint64_t base_of_kind(uint64_t passes, uint64_t of_each)
{
    struct count c = two_kinds(passes, of_each);
    vote(&c, 3, BASE, 672, 192);
    vote(&c, 4, BASE, 688, 1);
    vote(&c, 5, BASE, 736, 1);
    settle(&c);
    uint64_t base = base_at(&c, BASE - 672);
    end(&c);
    return base;
}

/* The clock that both may ask was seen once below one of them: that it was not below the other is chance. */
Test(shared_votes, what_training_saw_seldom_tells_no_bases_apart)
{
    cr_expect_eq(base_of_kind(1, 300), 0u);
    cr_expect_eq(base_of_kind(5, 300), 0u);
    cr_expect_eq(base_of_kind(30, 300), (uint64_t)BASE, "2^-30 is no chance");
}

/* Three positions fit a base by chance, but most of what lies there does not. */
Test(shared_votes, a_base_that_most_samples_contradict_has_lost)
{
    struct count c = begin(coroutine());
    vote(&c, 2, BASE, 48, 1);
    vote(&c, 3, BASE, 160, 1);
    vote(&c, 4, BASE, 208, 1);
    vote(&c, 5, BASE, 200, 4);
    cr_expect_eq(settle(&c), 0u);
    end(&c);
}

/* What lies near a stack that a dump told of is on it; what is further down when the map knows its height. */
Test(shared_votes, known_stacks_grow)
{
    struct world *w = coroutine();
    uint32_t deep = world_child(w, TRIE_ROOT, 1, 0, 0, 10, 1);
    world_child(w, deep, 6, 9000, 1, 10, 1);
    struct count c = begin(w);
    uint32_t pid = self_sample(0, 0, 0).pid;
    cr_assert(shared_stacks_see(c.stacks, pid, BASE - 100, BASE, 5));
    vote(&c, 5, BASE, 464, 1);
    vote(&c, 6, BASE, 9000, 1);
    vote(&c, 6, BASE, 20000, 1);
    vote(&c, 2, BASE - STACK, 48, 1);
    cr_expect_eq(settle(&c), 0u);
    cr_expect_eq(base_at(&c, BASE - 472), (uint64_t)BASE);
    cr_expect_eq(base_at(&c, BASE - 9008), (uint64_t)BASE);
    cr_expect_eq(base_at(&c, BASE - 20008), 0, "another stack's");
    cr_expect_eq(base_at(&c, BASE - STACK - 56), 0);
    end(&c);
}

/* More positions and heights than are kept: no end without one. */
Test(shared_votes, are_bounded, .timeout = 60)
{
    struct world *w = world_open();
    uint64_t seed = 7;
    uint32_t node = world_child(w, TRIE_ROOT, 0, 0, 0, 1, 1), height = 0;
    for (unsigned i = 1; i < 3000; i++) {
        seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
        height += 8 + (uint32_t)(seed >> 33 & 0xf8);
        node = world_child(w, node, 1 + i % 7, height, i, 1, 1);
    }
    struct count c = begin(w);
    for (uint32_t i = 0; i < SHARED_POSITIONS + 1000; i++) {
        seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
        vote(&c, 1 + (seed >> 33) % 7, BASE - (seed >> 40 & 0xfffff8), 8, 1);
    }
    cr_expect_leq(settle(&c), SHARED_POSITIONS / SHARED_QUORUM);
    end(&c);
}

/* Function 5 is at one of three heights; the stacks' bases are all 64 bytes above the beginning of a page. */
static struct world *three_heights(void)
{
    struct world *w = world_open();
    for (unsigned i = 1; i <= 3; i++) {
        uint32_t node = world_child(w, TRIE_ROOT, i, 0, 0, 10, 1);
        world_child(w, node, 5, i * i * 100 + 36, i, 10, 10);
    }
    return w;
}

#define ALIKE(i) ((uint64_t)BASE - (i)*STACK + 64)

Test(shared_votes, stacks_that_are_laid_out_alike_tell_each_others_bases)
{
    static const unsigned heights[] = {136, 436, 936, 136, 436};
    struct count c = begin(three_heights());
    for (unsigned i = 0; i < 5; i++)
        vote(&c, 5, ALIKE(i), heights[i], 10);
    vote(&c, 5, ALIKE(5), 500, 10); /* as nothing that the map knows */
    cr_expect_eq(settle(&c), 5u);
    for (unsigned i = 0; i < 5; i++)
        cr_expect_eq(base_at(&c, ALIKE(i) - heights[i]), ALIKE(i));
    cr_expect_eq(base_at(&c, ALIKE(5) - 500), 0);
    end(&c);
}

/* All at one height of the three: each of three distances explains all of them. */
Test(shared_votes, stacks_that_are_all_the_same_tell_nothing)
{
    struct count c = begin(three_heights());
    for (unsigned i = 0; i < 20; i++)
        vote(&c, 5, ALIKE(i), 436, 10);
    cr_expect_eq(settle(&c), 0u);
    end(&c);
}

/* Until dumps told the bases of three. */
Test(shared_votes, known_stacks_tell_the_layout)
{
    struct count c = begin(three_heights());
    uint32_t pid = self_sample(0, 0, 0).pid;
    for (unsigned i = 0; i < 20; i++)
        vote(&c, 5, ALIKE(i), 436, 10);
    cr_assert(shared_stacks_see(c.stacks, pid, ALIKE(3) - 444, ALIKE(3), 5));
    cr_assert(shared_stacks_see(c.stacks, pid, ALIKE(9) - 444, ALIKE(9), 5));
    cr_assert(shared_stacks_see(c.stacks, pid, ALIKE(16) - 444, ALIKE(16), 5));
    cr_expect_eq(settle(&c), 17u);
    for (unsigned i = 0; i < 20; i++)
        cr_expect_eq(base_at(&c, ALIKE(i) - 436), ALIKE(i));
    end(&c);
}
