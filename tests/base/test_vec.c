/* Arrays that grow. */
#include <criterion/criterion.h>

#include <stdint.h>
#include <stdlib.h>

#include "base/vec.h"
#include "tests/sanitized.h"

#if ADDRESS_SANITIZED
/* Too much memory is refused as malloc() refuses it, not by ending the test. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}
#endif

struct pair {
    uint32_t first;
    uint64_t second;
};

Test(vec, keeps_its_items_while_it_grows)
{
    enum { ITEMS = 100000 };
    struct pair *items = NULL;
    size_t count = 0, capacity = 0, moves = 0;
    for (uint32_t i = 0; i < ITEMS; i++) {
        size_t before = capacity;
        cr_assert(vec_push(items, count, capacity, (struct pair){i, (uint64_t)i * i}));
        moves += capacity != before;
    }
    cr_assert_eq(count, ITEMS);
    cr_assert_geq(capacity, count);
    for (uint32_t i = 0; i < ITEMS; i++)
        cr_assert(items[i].first == i && items[i].second == (uint64_t)i * i);
    cr_expect_leq(moves, 17, "the room doubles");
    free(items);
}

Test(vec, pushes_a_value_that_is_read_from_itself)
{
    uint32_t *items = NULL, count = 0, capacity = 0;
    cr_assert(vec_push(items, count, capacity, 1));
    while (count < 30)
        cr_assert(vec_push(items, count, capacity, items[count - 1] * 2));
    cr_expect_eq(items[29], UINT32_C(1) << 29);
    free(items);
}

Test(vec, makes_room_for_many_at_once)
{
    char *items = NULL;
    uint32_t count = 0, capacity = 0;
    cr_assert(vec_reserve(items, 0, capacity, count));
    cr_expect(!items && capacity == 0, "nothing was asked for");
    cr_assert(vec_push(items, count, capacity, 'x'));
    cr_assert(vec_reserve(items, count, capacity, 5000));
    cr_expect_geq(capacity, 5001);
    cr_expect_eq(items[0], 'x');
    items[5000] = 'y';
    const char *place = items;
    uint32_t before = capacity;
    cr_assert(vec_reserve(items, 0, capacity, before));
    cr_expect(items == place && capacity == before, "it was there");
    free(items);
}

Test(vec, fails_when_its_numbers_run_out)
{
    char item = 0, *items = &item;
    uint32_t count = UINT32_MAX, capacity = UINT32_MAX;
    cr_expect_not(vec_reserve(items, count, capacity, 1));
    cr_expect_not(vec_push(items, count, capacity, 'x'));
    cr_expect(items == &item && count == UINT32_MAX && capacity == UINT32_MAX, "nothing has changed");
    size_t most = SIZE_MAX;
    cr_expect_not(vec_reserve(items, (size_t)2, most, SIZE_MAX - 1), "the sum overflows");
    cr_expect_eq(items, &item);
}

Test(vec, fails_when_the_bytes_overflow_or_are_too_many)
{
    struct pair *items = malloc(sizeof *items), *place = items;
    size_t capacity = 1;
    cr_expect_not(vec_reserve(items, 1, capacity, SIZE_MAX / sizeof *items));
    cr_expect_not(vec_reserve(items, 1, capacity, SIZE_MAX / 2 / sizeof *items));
    cr_expect(items == place && capacity == 1, "nothing has changed");
    free(items);
}

Test(vec, grows_to_its_limit_and_no_further)
{
    size_t capacity = 0;
    void *items = vec_grow(NULL, 8, 0, 60, &capacity, 100);
    cr_assert_eq(capacity, 60);
    items = vec_grow(items, 8, 60, 1, &capacity, 100);
    cr_assert(items);
    cr_expect_eq(capacity, 100, "twice as much is more than the limit");
    cr_expect_null(vec_grow(items, 8, 100, 1, &capacity, 100));
    cr_expect_eq(capacity, 100);
    free(items);
}
