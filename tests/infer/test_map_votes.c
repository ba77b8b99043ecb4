/* Voting for bases: on maps made by hand, and on this program's own stack. */
#include <criterion/criterion.h>

#include <signal.h>
#include <string.h>
#include <sys/time.h>

#include "infer/bases/map_votes.h"
#include "infer/samples/trainer.h"
#include "tests/infer/world.h"

static void vote(struct world *w, struct map_votes *bases, struct sample sample, uint32_t tid, int expected)
{
    struct fathom_error err = {0};
    sample.tid = tid;
    const struct leaf_frame frame = leaf_frame_of(w->self.process, &sample);
    cr_assert_eq(map_votes_vote(bases, &sample, &frame, &err), expected, "%s", err.text);
}

/* Every function at several heights, none of them the same as another's shifted. */
static struct world *spread(void)
{
    struct world *w = world_open();
    uint32_t node = world_child(w, TRIE_ROOT, 0, 0, 0, 1, 0);
    for (uint32_t i = 1; i < 60; i++)
        node = world_child(w, node, i * i % 7, i * i * 8 + i * 16, i, 1, 1);
    world_finish(w);
    return w;
}

Test(map_votes, true_base_wins)
{
    struct world *w = spread();
    struct map_votes *bases = map_votes_new(w->resolver);
    uint32_t pid = self_sample(0, 0, 0).pid;
    uint64_t low, base, lowest = UINT64_MAX;
    cr_expect_not(map_votes_winner(bases, pid, 1, &low, &base));
    for (uint32_t i = 1; i < 60; i++) {
        for (uint32_t tid = 1; tid <= 2; tid++) {
            struct sample s = world_sample(i * i % 7, BASE + tid * 0x10000 + 8, i * i * 8 + i * 16);
            vote(w, bases, s, tid, 1);
            lowest = tid == 1 ? s.sp : lowest;
        }
        vote(w, bases, world_sample(7, BASE, i * 8), 3, 0);
    }
    cr_assert(map_votes_winner(bases, pid, 1, &low, &base));
    cr_expect_eq(base, (uint64_t)BASE + 0x10000 + 8);
    cr_expect_eq(low, lowest);
    cr_assert(map_votes_winner(bases, pid, 2, &low, &base));
    cr_expect_eq(base, (uint64_t)BASE + 0x20000 + 8);
    cr_expect_not(map_votes_winner(bases, pid, 3, &low, &base));
    cr_expect_not(map_votes_winner(bases, pid + 1, 1, &low, &base));
    map_votes_free(bases);
    world_close(w);
}

Test(map_votes, too_few_votes_or_a_tie_have_no_winner)
{
    struct world *w = world_open();
    uint32_t node = world_child(w, TRIE_ROOT, 0, 0, 0, 1, 0);
    world_child(w, node, 2, 48, 0, 1, 0);
    node = world_child(w, node, 1, 16, 0, 1, 0);
    world_child(w, node, 1, 32, 0, 1, 0);
    world_finish(w);
    struct map_votes *bases = map_votes_new(w->resolver);
    uint32_t pid = self_sample(0, 0, 0).pid;
    uint64_t low, base;
    for (int i = 0; i < MAP_VOTES_QUORUM; i++) {
        cr_expect_not(map_votes_winner(bases, pid, 1, &low, &base));
        vote(w, bases, world_sample(2, BASE, 48), 1, 1);
        vote(w, bases, world_sample(1, BASE, 32), 2, 1);
    }
    cr_expect(map_votes_winner(bases, pid, 1, &low, &base));
    cr_expect_eq(base, (uint64_t)BASE);
    cr_expect_not(map_votes_winner(bases, pid, 2, &low, &base), "fun1 is at 16 or at 32: who knows");
    for (int i = 0; i < MAP_VOTES_QUORUM; i++)
        vote(w, bases, world_sample(2, BASE, 48), 2, 1);
    cr_assert(map_votes_winner(bases, pid, 2, &low, &base));
    cr_expect_eq(base, (uint64_t)BASE);
    map_votes_free(bases);
    world_close(w);
}

/* A recursion where a base that is one frame off has every vote too: training saw fun1 mostly at 32. */
Test(map_votes, equal_votes_are_told_apart_by_training_counts)
{
    struct world *w = world_open();
    uint32_t node = world_child(w, TRIE_ROOT, 1, 16, 0, 10, 1);
    world_child(w, node, 1, 32, 0, 9, 9);
    world_finish(w);
    struct map_votes *bases = map_votes_new(w->resolver);
    uint64_t low, base;
    for (int i = 0; i < 20; i++)
        vote(w, bases, world_sample(1, BASE, 32), 1, 1);
    /* One CID that training never saw does not change that, though a frame lower it would be known. */
    vote(w, bases, world_sample(1, BASE, 48), 1, 1);
    cr_assert(map_votes_winner(bases, self_sample(0, 0, 0).pid, 1, &low, &base));
    cr_expect_eq(base, (uint64_t)BASE);
    map_votes_free(bases);
    world_close(w);
}

/* More candidates than are kept: the base that most samples agree on survives. */
Test(map_votes, memory_is_bounded)
{
    enum { NODES = 3000 };
    struct world *w = world_open();
    uint32_t heights[NODES] = {0}, node = TRIE_ROOT;
    uint64_t seed = 3;
    for (uint32_t i = 1; i < NODES; i++) {
        seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
        heights[i] = heights[i - 1] + 8 + (uint32_t)(seed >> 33 & 0x1f8);
        node = world_child(w, node, i % 2, heights[i], i, 1, 1);
    }
    world_finish(w);
    struct map_votes *bases = map_votes_new(w->resolver);
    uint32_t pid = self_sample(0, 0, 0).pid;
    uint64_t low, base;
    for (int i = 0; i < 300; i++) {
        seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
        uint32_t at = 1 + (seed >> 33) % (NODES - 1);
        /* One in four comes from elsewhere. */
        uint64_t from = i % 4 ? BASE : BASE - 0x10000000 + (seed >> 36 & 0xfffff8);
        vote(w, bases, world_sample(at % 2, from, heights[at]), 1, 1);
    }
    cr_assert(map_votes_winner(bases, pid, 1, &low, &base));
    cr_expect_eq(base, (uint64_t)BASE);
    map_votes_free(bases);
    world_close(w);
}

/* This program's own stack at random moments. */
enum { SHOTS = 240, DUMP = 1 << 14 };
static struct sample shots[SHOTS];
static uint8_t dumps[SHOTS][DUMP];
static volatile sig_atomic_t shot_count;

static void on_clock(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    if (shot_count == SHOTS)
        return;
    struct sample *s = &shots[shot_count];
    *s = self_sample_of_context(context);
    self_dump(s, dumps[shot_count], DUMP);
    shot_count++;
}

/* Three functions with frames of their own size call each other. */
static unsigned walk(unsigned depth, unsigned seed);

#define STEP(name, bytes)                                                                                    \
    APART static unsigned name(unsigned depth, unsigned seed)                                                \
    {                                                                                                        \
        volatile unsigned char pad[bytes];                                                                   \
        volatile unsigned sum = seed;                                                                        \
        for (unsigned i = 0; i < 50; i++)                                                                    \
            pad[i] = (unsigned char)(sum = sum * 1664525 + i);                                               \
        sum += walk(depth, sum);                                                                             \
        return sum + pad[3];                                                                                 \
    }
STEP(small_step, 64)
STEP(middle_step, 208)
STEP(large_step, 720)

APART static unsigned walk(unsigned depth, unsigned seed)
{
    volatile unsigned sum = seed * 1664525 + 1013904223;
    if (depth == 0)
        return sum;
    switch (sum >> 16 & 3) {
    case 0:
        sum += small_step(depth - 1, sum);
        break;
    case 1:
        sum += middle_step(depth - 1, sum);
        break;
    default:
        sum += large_step(depth - 1, sum) + small_step(depth - 1, sum);
        break;
    }
    return sum;
}

/* A chain of calls, each with its own work: what most programs are made of. */
#define LINK(name, bytes, next)                                                                              \
    APART static unsigned name(unsigned seed)                                                                \
    {                                                                                                        \
        volatile unsigned char pad[bytes];                                                                   \
        volatile unsigned sum = next(seed);                                                                  \
        for (unsigned i = 0; i < 2000; i++)                                                                  \
            pad[i & 31] = (unsigned char)(sum = sum * 1664525 + i);                                          \
        return sum + pad[3];                                                                                 \
    }
#define END(seed) walk(2, seed)
LINK(fourth, 96, END)
LINK(third, 160, fourth)
LINK(second, 48, third)
LINK(first, 480, second)

Test(map_votes, of_a_real_stack, .timeout = 60)
{
    struct sigaction action = {.sa_sigaction = on_clock, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(SIGPROF, &action, NULL);
    struct itimerval every = {{0, 1000}, {0, 1000}};
    setitimer(ITIMER_PROF, &every, NULL);
    for (unsigned i = 0; shot_count < SHOTS; i++)
        first(i) & 1 ? walk(4, i) : 0;
    setitimer(ITIMER_PROF, &(struct itimerval){0}, NULL);

    struct world *w = world_open();
    self_set_stack(&w->self);
    struct trainer *trainer = trainer_new(w->trie);
    int whole = 0;
    for (int i = 0; i < SHOTS / 2; i++)
        whole += trainer_add(trainer, w->self.process, &shots[i], NULL, NULL) > 0;
    cr_expect_gt(whole, SHOTS * 9 / 20, "%d of %d", whole, SHOTS / 2);
    trainer_free(trainer);
    world_finish(w);

    struct self unknown = self_open(); /* the same process, whose stack nobody told */
    struct map_votes *bases = map_votes_new(w->resolver);
    for (int i = SHOTS / 2; i < SHOTS; i++) {
        const struct leaf_frame frame = leaf_frame_of(unknown.process, &shots[i]);
        cr_assert_geq(map_votes_vote(bases, &shots[i], &frame, NULL), 0);
    }
    uint64_t low, base;
    cr_assert(map_votes_winner(bases, shots[0].pid, shots[0].tid, &low, &base));
    cr_expect_eq(base, w->self.start_stack);
    cr_expect_lt(low, base);
    map_votes_free(bases);
    self_close(&unknown);
    world_close(w);
}
