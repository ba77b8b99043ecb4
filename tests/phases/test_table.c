/* The table of phases: intervals that are alike are one phase; a full table forgets. */
#include <criterion/criterion.h>

#include "phases/table.h"

static struct phase_vector interval_of(uint64_t item)
{
    struct phase_vector v = {0};
    for (uint64_t i = 0; i < 100; i++) { /* several, of which few share their buckets with those of others */
        uint64_t one = item * 10 + i % 10;
        phase_vector_add(&v, &one, 1, 1);
    }
    return v;
}

static uint32_t put(struct phase_table *t, uint64_t item)
{
    struct phase_vector v = interval_of(item);
    return phase_table_put(t, &v);
}

Test(table, exact_keeps_all)
{
    struct phase_table *t = phase_table_new(0.25, 0);
    for (uint64_t item = 0; item < 30; item++)
        cr_expect_eq(put(t, item), item + 1);
    for (uint64_t item = 0; item < 30; item++)
        cr_expect_eq(put(t, item), item + 1);
    phase_table_free(t);
}

Test(table, a_full_one_replaces)
{
    struct phase_table *t = phase_table_new(0.25, PHASE_TABLE_PAPER);
    for (uint64_t item = 0; item < 20; item++)
        cr_expect_eq(put(t, item), item + 1);
    for (uint64_t item = 0; item < 20; item++)
        cr_expect_eq(put(t, item), item + 1, "20 are kept");
    cr_expect_eq(put(t, 100), 21);
    cr_expect_eq(put(t, 100), 21);
    unsigned kept = 0;
    uint32_t phase = 0;
    for (uint64_t item = 0; item < 20; item++) {
        struct phase_vector v = interval_of(item);
        phase = phase_table_put(t, &v);
        kept += phase == item + 1;
        if (phase > 21)
            break; /* the one that was replaced: now it replaces another */
    }
    cr_expect_eq(phase, 22, "one was forgotten, and is new again");
    cr_expect_leq(kept, 19);
    phase_table_free(t);
}

Test(table, the_threshold_decides)
{
    struct phase_table *fine = phase_table_new(0.01, 0), *coarse = phase_table_new(0.9, 0);
    struct phase_vector mixed = interval_of(1), all = interval_of(2);
    for (int i = 0; i < 3; i++)
        phase_vector_join(&mixed, &all);
    put(fine, 2);
    put(coarse, 2);
    cr_expect_eq(phase_table_put(fine, &mixed), 2);
    cr_expect_eq(phase_table_put(coarse, &mixed), 1);
    phase_table_free(fine);
    phase_table_free(coarse);
}

Test(table, an_exact_one_ends)
{
    struct phase_table *t = phase_table_new(0.0001, 0);
    uint32_t most = 0;
    for (uint64_t item = 0; item < 2 * PHASE_TABLE_MOST; item++) {
        uint32_t phase = put(t, item);
        most = phase > most ? phase : most;
    }
    cr_expect(most > PHASE_TABLE_MOST / 2 && most <= PHASE_TABLE_MOST, "%u", most);
    phase_table_free(t);
}
