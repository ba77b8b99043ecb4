/* The hash tables against a plain model. */
#include <criterion/criterion.h>

#include <stdio.h>

#include "base/hash.h"

Test(table, agrees_with_a_model_over_random_puts_and_removes)
{
    enum { KEYS = 512 };
    uint64_t model[KEYS] = {0}, seed = 1;
    struct table *t = table_new();
    for (int step = 0; step < 200000; step++) {
        seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
        uint64_t key = seed >> 33 & (KEYS - 1);
        if (seed >> 60 < 6) {
            cr_assert_eq(table_remove(t, key), model[key] != 0);
            model[key] = 0;
        } else {
            bool added;
            uint64_t *value = table_put(t, key, &added);
            cr_assert_eq(added, model[key] == 0);
            *value = model[key] = (uint64_t)step + 1;
        }
    }
    size_t live = 0;
    for (uint64_t key = 0; key < KEYS; key++) {
        uint64_t *value = table_find(t, key);
        cr_assert_eq(value ? *value : 0, model[key]);
        live += model[key] != 0;
    }
    cr_assert_eq(table_count(t), live);
    size_t cursor = 0, seen = 0;
    uint64_t key, value;
    while (table_next(t, &cursor, &key, &value)) {
        cr_assert_eq(model[key], value);
        seen++;
    }
    cr_assert_eq(seen, live);
    table_free(t);
}

Test(names, equal_texts_get_equal_numbers)
{
    struct names *n = names_new();
    char text[32];
    for (unsigned i = 0; i < 1000; i++) {
        snprintf(text, sizeof text, "name-%u", i);
        cr_assert_eq(names_intern(n, text), i);
    }
    cr_assert_eq(names_intern(n, "name-7"), 7u);
    cr_assert_str_eq(names_text(n, 999), "name-999");
    cr_assert_null(names_text(n, 1000));
    cr_assert_eq(names_count(n), 1000u);
    names_free(n);
}
