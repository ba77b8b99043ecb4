/* test_circulation.c - circulations on random graphs: nothing is lost, no capacity is exceeded, and no circle of arcs that are left would lower the cost. */
#include <criterion/criterion.h>
#include <stdbool.h>

#include "base/circulation.h"

#define NODES_MOST 40u
#define ARCS_MOST  160u

static uint64_t state = 88172645463325252u;
static uint32_t below(uint32_t most)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 33) % most;
}

static int solve(struct circulation_arc *arcs, size_t count, uint32_t nodes)
{
    uint64_t work = UINT64_MAX;
    return circulation_solve(arcs, count, nodes, &work);
}

static void check_flows(const struct circulation_arc *arcs, size_t count, uint32_t nodes)
{
    int64_t balance[NODES_MOST] = {0};
    for (size_t i = 0; i < count; i++) {
        cr_assert(arcs[i].flow >= 0 && arcs[i].flow <= arcs[i].capacity);
        balance[arcs[i].from] -= arcs[i].flow;
        balance[arcs[i].to] += arcs[i].flow;
    }
    for (uint32_t i = 0; i < nodes; i++)
        cr_assert_eq(balance[i], 0);
}

/* Whether a way through what is left of the arcs, either way, lowers a distance (Bellman and Ford). */
static bool lowers(const struct circulation_arc *arcs, size_t count, int64_t *distance)
{
    bool lowered = false;
    for (size_t i = 0; i < count; i++) {
        const struct circulation_arc *a = &arcs[i];
        if (a->flow < a->capacity && distance[a->from] + a->cost < distance[a->to]) {
            distance[a->to] = distance[a->from] + a->cost;
            lowered = true;
        }
        if (a->flow > 0 && distance[a->to] - a->cost < distance[a->from]) {
            distance[a->from] = distance[a->to] - a->cost;
            lowered = true;
        }
    }
    return lowered;
}

static void check_least(const struct circulation_arc *arcs, size_t count, uint32_t nodes)
{
    int64_t distance[NODES_MOST] = {0};
    bool lowered = true;
    for (uint32_t i = 0; lowered && i <= nodes; i++)
        lowered = lowers(arcs, count, distance);
    cr_assert(!lowered, "a circle is left that lowers the cost");
}

/* However early it ends. */
static void check_ended(struct circulation_arc *arcs, size_t count, uint32_t nodes)
{
    uint64_t work = below(200);
    const uint64_t given = work;
    cr_assert(circulation_solve(arcs, count, nodes, &work) == 0 || work == 0);
    cr_assert_leq(work, given);
    check_flows(arcs, count, nodes);
}

Test(circulation, is_the_least)
{
    unsigned flowing = 0;
    for (unsigned round = 0; round < 3000; round++) {
        struct circulation_arc arcs[ARCS_MOST];
        const uint32_t nodes = 1 + below(NODES_MOST), count = below(ARCS_MOST), costs = 1 + below(50);
        bool flows = false;
        for (uint32_t i = 0; i < count; i++) {
            arcs[i] = (struct circulation_arc){.from = below(nodes),
                                               .to = below(nodes),
                                               .cost = (int64_t)below(2 * costs) - costs,
                                               .capacity = below(4) ? below(1000) : CIRCULATION_UNBOUNDED};
            if (arcs[i].capacity == CIRCULATION_UNBOUNDED && arcs[i].cost < 0)
                arcs[i].cost = -arcs[i].cost;
        }
        check_ended(arcs, count, nodes);
        cr_assert_eq(solve(arcs, count, nodes), 0);
        check_flows(arcs, count, nodes);
        check_least(arcs, count, nodes);
        for (uint32_t i = 0; i < count; i++)
            flows |= arcs[i].flow > 0;
        flowing += flows;
    }
    cr_expect_gt(flowing, 2000);
}

Test(circulation, of_known_cost)
{
    /* Two ways from 0 to 1, the cheaper for 3 alone; 5 come back, and earn 10 each. */
    struct circulation_arc arcs[] = {{0, 1, 2, 3, 0}, {0, 1, 7, CIRCULATION_UNBOUNDED, 0}, {1, 0, -10, 5, 0}};
    cr_assert_eq(solve(arcs, 3, 2), 0);
    cr_expect_eq(arcs[0].flow, 3);
    cr_expect_eq(arcs[1].flow, 2);
    cr_expect_eq(arcs[2].flow, 5);
    cr_assert_eq(solve(arcs, 0, 0), 0);
}

Test(circulation, without_end)
{
    struct circulation_arc arcs[] = {{0, 1, -1, CIRCULATION_UNBOUNDED, 0},
                                     {1, 0, 0, CIRCULATION_UNBOUNDED, 0}};
    cr_expect_lt(solve(arcs, 2, 2), 0);
}
