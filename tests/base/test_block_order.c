/* test_block_order.c - orders of blocks: the best one of small graphs by hand, and beside all orders of random ones. */
#include <criterion/criterion.h>
#include <stdbool.h>

#include "base/block_order.h"
#include "base/hash.h"

#define BLOCKS_MOST 7u
#define JUMPS_MOST  16u
#define LARGE       150u

static uint64_t state = 1;
static uint32_t below(uint32_t most)
{
    return (uint32_t)(hash_random(&state) % most);
}

static void find(const struct order_graph *g, uint32_t *order)
{
    uint64_t work = UINT64_MAX;
    cr_assert_eq(block_order_find(g, order, &work), 0);
}

/* What the best order has most of (block_order.h). */
static double score_of(const struct order_graph *g, const uint32_t *order)
{
    uint64_t begin[LARGE], at = 0;
    double score = 0;
    for (uint32_t i = 0; i < g->block_count; at += g->blocks[order[i++]].size)
        begin[order[i]] = at;
    for (const struct order_jump *j = g->jumps; j < g->jumps + g->jump_count; j++) {
        const int64_t far = (int64_t)(begin[j->to] - begin[j->from] - g->blocks[j->from].size);
        const double part = far > 0 ? far / 1024.0 : -far / 640.0;
        score += far == 0 ? j->count : part < 1 ? j->count * 0.1 * (1 - part) : 0;
    }
    return score;
}

static void check_complete(const struct order_graph *g, const uint32_t *order)
{
    bool seen[LARGE] = {false};
    for (uint32_t i = 0; i < g->block_count; i++) {
        cr_assert_lt(order[i], g->block_count);
        cr_assert(!seen[order[i]], "a block is there twice");
        seen[order[i]] = true;
    }
    cr_assert_eq(order[0], 0, "the entry is the first");
}

static void check_order(const struct order_graph *g, const uint32_t *expected)
{
    uint32_t order[BLOCKS_MOST];
    find(g, order);
    for (uint32_t i = 0; i < g->block_count; i++)
        cr_expect_eq(order[i], expected[i], "%u: %u and not %u", i, order[i], expected[i]);
}

Test(block_order, known)
{
    /* A branch whose far side runs: 0 -> 2 (90) or 1 (10), both -> 3. What runs follows; what hardly does lies behind. */
    const struct order_block four[] = {{100, 16}, {10, 16}, {90, 16}, {100, 16}};
    const struct order_jump branch[] = {{0, 1, 10}, {0, 2, 90}, {1, 3, 10}, {2, 3, 90}};
    check_order(&(struct order_graph){four, 4, branch, 4}, (uint32_t[]){0, 2, 3, 1});
    /* A loop that is left more often than entered from above ends with its test: 0 enters 1, which goes to 2 or leaves to 3; 2 goes back to 1. */
    const struct order_block rotated[] = {{1, 8}, {100, 8}, {99, 8}, {1, 8}};
    const struct order_jump loop[] = {{0, 1, 1}, {1, 2, 99}, {2, 1, 99}, {1, 3, 9}};
    check_order(&(struct order_graph){rotated, 4, loop, 4}, (uint32_t[]){0, 2, 1, 3});
    /* Y between two parts of X: 2 belongs between 0 and 1, which are joined first. */
    const struct order_block three[] = {{100, 8}, {100, 8}, {60, 8}};
    const struct order_jump between[] = {{0, 1, 62}, {0, 2, 60}, {2, 1, 60}};
    check_order(&(struct order_graph){three, 3, between, 3}, (uint32_t[]){0, 2, 1});
    /* No jumps at all: the densest first, behind the entry. */
    const struct order_block alone[] = {{1, 8}, {2, 8}, {40, 800}, {9, 8}};
    check_order(&(struct order_graph){alone, 4, NULL, 0}, (uint32_t[]){0, 3, 1, 2});
    /* A jump to itself, several between the same two, and blocks without bytes. */
    const struct order_block empty[] = {{5, 0}, {5, 0}, {7, 0}};
    const struct order_jump odd[] = {{1, 1, 99}, {0, 2, 3}, {2, 1, 2}, {0, 2, 4}, {2, 1, 1}, {1, 0, 1}};
    uint32_t order[3];
    find(&(struct order_graph){empty, 3, odd, 6}, order);
    check_complete(&(struct order_graph){empty, 3, odd, 6}, order);
    find(&(struct order_graph){NULL, 0, NULL, 0}, order);
}

Test(block_order, score)
{
    const struct order_block b[] = {{1, 100}, {1, 512}, {1, 8}};
    const struct order_jump j[] = {{0, 1, 1}, {0, 2, 10}, {2, 1, 100}};
    const struct order_graph g = {b, 3, j, 3};
    /* Next: 1. 512 of 1024 bytes on: 10 * 0.1 / 2. Back by 520 of 640: 100 * 0.1 * 120 / 640. */
    cr_expect_float_eq(score_of(&g, (uint32_t[]){0, 1, 2}), 1 + 0.5 + 10 * 120.0 / 640, 1e-9);
    cr_expect_float_eq(score_of(&g, (uint32_t[]){0, 2, 1}), 0.1 * 1016 / 1024 + 10 + 100, 1e-9);
}

/* A function's graph: counts that flow from the entry to the end by walks. */
static struct order_graph random_graph(struct order_block *blocks, uint32_t count, struct order_jump *jumps,
                                       uint32_t most)
{
    struct order_graph g = {blocks, count, jumps, 0};
    for (uint32_t i = 0; i < count; i++)
        blocks[i] = (struct order_block){0, 1 + below(below(4) ? 40 : 900)};
    for (uint32_t i = 0; i < most; i++)
        jumps[i] = (struct order_jump){i % count, below(count), 0};
    g.jump_count = most;
    for (unsigned walk = 0; walk < 4; walk++) {
        const double times = 1 + below(1000);
        for (uint32_t at = 0, step = 0; step < 3 * count; step++) {
            struct order_jump *j = &jumps[at + count * below(1 + (most - 1 - at) / count)];
            blocks[at].count += times;
            j->count += times;
            at = j->to;
        }
    }
    return g;
}

/* The best of all orders of what stands from `at` on. */
static double best_of(const struct order_graph *g, uint32_t *order, uint32_t at)
{
    double best = at == g->block_count ? score_of(g, order) : 0;
    for (uint32_t i = at; i < g->block_count; i++) {
        const uint32_t other = order[i];
        order[i] = order[at];
        order[at] = other;
        const double found = best_of(g, order, at + 1);
        best = found > best ? found : best;
        order[at] = order[i];
        order[i] = other;
    }
    return best;
}

Test(block_order, near_to_the_best)
{
    double worst = 1, sum = 0;
    unsigned equal = 0, rounds = 400;
    for (unsigned round = 0; round < rounds; round++) {
        struct order_block blocks[BLOCKS_MOST];
        struct order_jump jumps[JUMPS_MOST];
        const uint32_t count = 2 + below(BLOCKS_MOST - 1);
        const struct order_graph g = random_graph(blocks, count, jumps, count + below(JUMPS_MOST - count));
        uint32_t order[BLOCKS_MOST], all[BLOCKS_MOST] = {0, 1, 2, 3, 4, 5, 6};
        find(&g, order);
        check_complete(&g, order);
        const double best = best_of(&g, all, 1), found = score_of(&g, order);
        cr_assert_leq(found, best + 1e-6);
        const double share = best > 0 ? found / best : 1;
        worst = share < worst ? share : worst;
        sum += share;
        equal += share > 1 - 1e-9;
    }
    cr_log_info("worst %g, mean %g, equal %u of %u", worst, sum / rounds, equal, rounds);
    cr_expect_gt(worst, 0.85, "%g", worst);
    cr_expect_gt(sum / rounds, 0.99, "%g", sum / rounds);
    cr_expect_gt(equal, rounds * 3 / 4, "%u", equal);
}

Test(block_order, of_many_blocks)
{
    static struct order_block blocks[LARGE];
    static struct order_jump jumps[4 * LARGE];
    static uint32_t order[LARGE], file[LARGE];
    for (uint32_t i = 0; i < LARGE; i++)
        file[i] = i;
    for (unsigned round = 0; round < 5; round++) {
        const struct order_graph g = random_graph(blocks, LARGE, jumps, 4 * LARGE);
        uint64_t work = UINT64_MAX;
        cr_assert_eq(block_order_find(&g, order, &work), 0);
        check_complete(&g, order);
        cr_assert_gt(score_of(&g, order), score_of(&g, file));
        /* However early it ends. */
        work = below(50000);
        cr_assert_eq(block_order_find(&g, order, &work), 1);
        cr_assert_eq(work, 0);
        check_complete(&g, order);
    }
}

/* All of many jumps from one block to another in a long chain are tried: the work bounds that. Without a bound, minutes. */
Test(block_order, of_many_equal_jumps)
{
    enum { JUMPS = 400000 };
    static struct order_block blocks[LARGE];
    static struct order_jump jumps[JUMPS];
    static uint32_t order[LARGE];
    struct order_graph g = {blocks, LARGE, jumps, 0};
    uint64_t work = 1 << 24;
    for (uint32_t i = 0; i < LARGE; i++)
        blocks[i] = (struct order_block){100, 1};
    for (uint32_t i = 1; i < LARGE - 2; i++)
        jumps[g.jump_count++] = (struct order_jump){i, i + 1, 1e9};
    while (g.jump_count < JUMPS)
        jumps[g.jump_count++] = (struct order_jump){LARGE - 1, LARGE / 2, 1};
    cr_assert_eq(block_order_find(&g, order, &work), 1);
    check_complete(&g, order);
}
