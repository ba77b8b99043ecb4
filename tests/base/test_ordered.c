/* The ordered map against an array of which each key is looked at: random operations on few keys, ascending and descending ones. */
#include <criterion/criterion.h>

#include "base/hash.h"
#include "base/ordered.h"

#define KEYS 257u

static bool model_at_most(const uint64_t *values, uint64_t bound, uint64_t *key)
{
    for (uint64_t k = bound < KEYS ? bound + 1 : KEYS; k-- > 0;)
        if (values[k]) {
            *key = k;
            return true;
        }
    return false;
}

static void compare(const struct ordered *map, const uint64_t *values, uint64_t bound)
{
    uint64_t key = 0, want = 0, value = 0;
    bool found = ordered_at_most(map, bound, &key, &value);
    cr_assert_eq(found, model_at_most(values, bound, &want));
    cr_assert(!found || (key == want && value == values[want]));
}

Test(ordered, is_as_an_array)
{
    uint64_t state = 1, values[KEYS] = {0};
    struct ordered *map = ordered_new();
    for (unsigned n = 0; n < 200000; n++) {
        uint64_t random = hash_random(&state), key = random % KEYS;
        if (random >> 32 & 1) {
            values[key] = n + 1;
            cr_assert(ordered_put(map, key, n + 1));
        } else {
            cr_assert_eq(ordered_remove(map, key), values[key] != 0);
            values[key] = 0;
        }
        compare(map, values, hash_random(&state) % (KEYS + 3));
    }
    ordered_free(map);
}

Test(ordered, any_order_of_keys)
{
    uint64_t key, value;
    for (int down = 0; down < 2; down++) {
        struct ordered *map = ordered_new();
        for (uint64_t n = 0; n < 300000; n++)
            cr_assert(ordered_put(map, down ? UINT64_MAX - n : n * 16, n));
        cr_assert(ordered_at_most(map, UINT64_MAX, &key, &value));
        cr_assert_eq(value, down ? 0 : 299999);
        for (uint64_t n = 0; n < 300000; n++)
            cr_assert(ordered_remove(map, down ? UINT64_MAX - n : n * 16));
        cr_assert(!ordered_at_most(map, UINT64_MAX, &key, &value));
        ordered_free(map);
    }
}
