/* The sort by a number: against qsort() on random arrays of every size and width of keys; stable; items of odd sizes. */
#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

struct item {
    uint32_t place;
    uint64_t key;
    uint8_t rest[21];
};

static uint64_t seed = 88172645463325252u;

static uint64_t next(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

static int by_key_and_place(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

/* Keys of these bits alone. */
static void sorts(size_t count, uint64_t bits)
{
    struct item *items = calloc(count + 1, sizeof *items), *expected = calloc(count + 1, sizeof *items);
    for (uint32_t i = 0; i < count; i++) {
        items[i] = (struct item){.place = i, .key = next() & bits};
        memset(items[i].rest, (int)i, sizeof items[i].rest);
    }
    memcpy(expected, items, (count + 1) * sizeof *items);
    if (count)
        qsort(expected, count, sizeof *expected, by_key_and_place);
    sort_by(items, count, key);
    cr_assert_arr_eq(items, expected, (count + 1) * sizeof *items, "%zu items, bits %#lx", count, bits);
    free(items);
    free(expected);
}

Test(sort, as_qsort_and_stable)
{
    static const size_t counts[] = {0, 1, 2, 3, 255, 256, 257, 1000, 5000};
    static const uint64_t bits[] = {0,        1,          0xff,           0x7ff,     0x800,
                                    0x3fffff, UINT32_MAX, 0xffff0000f000, UINT64_MAX};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (size_t k = 0; k < sizeof bits / sizeof *bits; k++)
            sorts(counts[i], bits[k]);
}

Test(sort, places_of_items_by_key)
{
    struct sort_keyed order[3000];
    for (size_t i = 0; i < 3000; i++)
        order[i] = (struct sort_keyed){next() & 0xff000ff, i};
    cr_assert(sort_keyed(NULL, 0) && sort_keyed(order, 3000));
    for (size_t i = 1; i < 3000; i++)
        cr_assert(order[i - 1].key < order[i].key ||
                  (order[i - 1].key == order[i].key && order[i - 1].place < order[i].place));
}

Test(sort, what_is_sorted_or_all_but_sorted)
{
    uint64_t numbers[3000];
    for (size_t i = 0; i < 3000; i++)
        numbers[i] = i * 17;
    sort_numbers(numbers, 3000);
    for (size_t i = 0; i < 3000; i++)
        cr_assert_eq(numbers[i], i * 17);
    numbers[2999] = 1;
    sort_numbers(numbers, 3000);
    for (size_t i = 0; i < 3000; i++)
        cr_assert_eq(numbers[i], i == 0 ? 0 : i == 1 ? 1 : (i - 1) * 17);
}

Test(sort, small_numbers_once_each)
{
    uint32_t numbers[600], few[] = {7, 3, 7, 3, 3};
    uint64_t large[] = {UINT64_MAX, 5, UINT64_C(5) << 32, 5};
    for (uint32_t i = 0; i < 600; i++)
        numbers[i] = UINT32_MAX - i * 7 % 300;
    cr_assert_eq(sort_unique(numbers, 600), 300);
    for (uint32_t i = 0; i < 300; i++)
        cr_assert_eq(numbers[i], UINT32_MAX - 299 + i);
    cr_assert_eq(sort_unique(few, 5), 2);
    cr_assert(few[0] == 3 && few[1] == 7);
    cr_assert_eq(sort_unique(large, 4), 3);
    cr_assert(large[0] == 5 && large[1] == UINT64_C(5) << 32 && large[2] == UINT64_MAX);
    cr_assert_eq(sort_unique((uint32_t *)NULL, 0), 0);
}
