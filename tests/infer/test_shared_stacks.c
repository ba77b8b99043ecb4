/* Which shared stack an SP is on, at which time. */
#include <criterion/criterion.h>

#include "infer/bases/shared_stacks.h"

static uint64_t base_at(struct shared_stacks *s, uint32_t pid, uint64_t sp, uint64_t time)
{
    const struct shared_stack *stack = shared_stacks_find(s, pid, sp, time);
    return stack ? stack->base : 0;
}

Test(shared_stacks, are_found_by_address_and_process)
{
    struct shared_stacks *s = shared_stacks_new();
    cr_expect_eq(base_at(s, 1, 0x1000, 0), 0);
    for (uint64_t i = 5; i-- > 0;)
        cr_assert(shared_stacks_see(s, 1, 0x10f00 + i * 0x1000, 0x11000 + i * 0x1000, 10));
    cr_assert(shared_stacks_see(s, 2, 0x10f80, 0x11008, 10));
    cr_expect_eq(base_at(s, 1, 0x10f80, 10), 0x11000);
    cr_expect_eq(base_at(s, 1, 0x11000, 10), 0x11000, "the stack is empty");
    cr_expect_eq(base_at(s, 1, 0x11001, 10), 0);
    cr_expect_eq(base_at(s, 1, 0x14f00, 10), 0x15000);
    cr_expect_eq(base_at(s, 1, 0x14eff, 10), 0, "nobody knows how far down it reaches");
    cr_expect_eq(base_at(s, 2, 0x10f80, 10), 0x11008);
    cr_expect_eq(base_at(s, 3, 0x10f80, 10), 0);
    /* Seen deeper. */
    cr_assert(shared_stacks_see(s, 1, 0x14e00, 0x15000, 20));
    cr_expect_eq(base_at(s, 1, 0x14eff, 10), 0x15000);
    struct shared_stack *all;
    cr_expect_eq(shared_stacks_of(s, 1, &all), 5u);
    cr_expect_eq(all[4].first, 10u);
    cr_expect_eq(all[4].last, 20u);
    cr_expect_eq(shared_stacks_of(s, 3, &all), 0u);
    shared_stacks_free(s);
}

Test(shared_stacks, memory_that_is_used_again_goes_by_time)
{
    struct shared_stacks *s = shared_stacks_new();
    cr_assert(shared_stacks_see(s, 1, 0x10000, 0x11000, 100));
    cr_assert(shared_stacks_see(s, 1, 0x10000, 0x11000, 200));
    cr_assert(shared_stacks_see(s, 1, 0x10100, 0x11040, 400));
    cr_expect_eq(base_at(s, 1, 0x10800, 0), 0x11000);
    cr_expect_eq(base_at(s, 1, 0x10800, 150), 0x11000);
    cr_expect_eq(base_at(s, 1, 0x10800, 290), 0x11000);
    cr_expect_eq(base_at(s, 1, 0x10800, 310), 0x11040);
    cr_expect_eq(base_at(s, 1, 0x10800, 900), 0x11040);
    cr_expect_eq(base_at(s, 1, 0x11020, 150), 0x11040, "above the other's base");
    cr_expect_eq(base_at(s, 1, 0x10080, 900), 0x11000, "below what was seen of the other");
    /* One that votes told of is there all the time. */
    cr_assert(shared_stacks_add(s, 1, 0x20000, 0x21000));
    cr_expect_eq(base_at(s, 1, 0x20800, 0), 0x21000);
    cr_expect_eq(base_at(s, 1, 0x20800, UINT64_MAX), 0x21000);
    shared_stacks_free(s);
}
