/* Which heights functions can stand at, and how probable that is: known answers. */
#include <criterion/criterion.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "infer/model/lattice.h"
#include "tests/infer/rig.h"

/* a at 16 calls b at +32, b itself at +48; c is called by b at +4096, by nobody that training saw. */
static void begin(struct rig *r)
{
    rig_begin(r);
    uint32_t a = rig_child(r, TRIE_ROOT, 0, 16, 4, 0);
    rig_child(r, rig_child(r, a, 1, 48, 3, 1), 1, 96, 2, 1);
    rig_finish(r);
}

/* A lattice up to a height. */
struct bench {
    struct callers callers;
    struct lattice *lattice;
};

static void open_bench(struct bench *b, const struct rig *r, enum lattice_layer layer, uint32_t height)
{
    cr_assert_eq(callers_make(&b->callers, r->graph, NULL), 0);
    b->lattice = lattice_new(&b->callers, NULL, 1u << 24, NULL);
    cr_assert_not_null(b->lattice);
    cr_assert_eq(lattice_extend(b->lattice, layer, height / 2 / CALLERS_UNIT), 0);
    cr_assert_eq(lattice_extend(b->lattice, layer, height / CALLERS_UNIT), 0);
}

static void close_bench(struct bench *b)
{
    lattice_free(b->lattice);
    callers_free(&b->callers);
}

static bool stands(const struct bench *b, uint32_t function, uint32_t height)
{
    return lattice_has(b->lattice, function, height / CALLERS_UNIT);
}

/* b calls c and d; e is called by d alone. */
Test(lattice, has_only_the_cells_on_the_way_to_what_is_asked_for)
{
    struct rig r;
    begin(&r);
    uint32_t *f = r.numbers;
    struct static_edge calls[] = {
        {f[2], f[1], 4096, false, 0, 0}, {f[3], f[1], 32, false, 0, 0}, {f[4], f[3], 32, false, 0, 0}};
    rig_use(&r, &(struct statics){.edges = calls, .count = 3}, NULL);
    struct callers callers;
    cr_assert_eq(callers_make(&callers, r.graph, NULL), 0);
    struct reach reach;
    struct reach_cid cid = {f[3], (48 + 48 * 5 + 32) / CALLERS_UNIT};
    cr_assert_eq(reach_make(&reach, &callers, &cid, 1, 0, 1u << 20, NULL), 0);
    struct bench all, some = {.lattice = lattice_new(&callers, &reach, 1u << 24, NULL)};
    open_bench(&all, &r, LATTICE_RESORTS, 8000);
    cr_assert_not_null(some.lattice);
    cr_assert_eq(lattice_extend(some.lattice, LATTICE_RESORTS, 8000 / CALLERS_UNIT), 0);
    for (uint32_t height = 0; height <= 8000; height += 8) {
        cr_expect_eq(stands(&some, f[3], height), height == 48 + 48 * 5 + 32, "d at %u", height);
        cr_expect_eq(stands(&some, f[1], height), height <= 48 + 48 * 5 && stands(&all, f[1], height),
                     "b at %u", height);
        cr_expect_eq(stands(&some, f[0], height), height == 16, "a at %u", height);
        cr_expect_not(stands(&some, f[2], height) || stands(&some, f[4], height), "at %u", height);
    }
    cr_expect(stands(&all, f[4], 48 + 64) && stands(&all, f[2], 48 + 4096));
    lattice_free(some.lattice);
    reach_free(&reach);
    callers_free(&callers);
    close_bench(&all);
    rig_end(&r);
}

Test(lattice, calls_add_up)
{
    struct rig r;
    struct bench b;
    begin(&r);
    uint32_t *f = r.numbers;
    struct static_edge calls[] = {{f[2], f[1], 4096, false, 0, 0}, {f[3], f[1], 20, false, 0, 0}};
    rig_use(&r, &(struct statics){.edges = calls, .count = 2}, NULL);
    open_bench(&b, &r, LATTICE_PLAIN, 20000);
    for (uint32_t height = 0; height < 20000; height += 8) {
        cr_expect_eq(stands(&b, f[0], height), height == 16, "a at %u", height);
        cr_expect_eq(stands(&b, f[1], height), height >= 48 && height % 48 == 0, "b at %u", height);
        cr_expect_eq(stands(&b, f[2], height), height >= 4144 && (height - 4096) % 48 == 0, "c at %u",
                     height);
        cr_expect_not(stands(&b, f[3], height), "a rise that is no multiple of 8");
        cr_expect_not(stands(&b, f[4], height));
    }
    cr_expect_eq(lattice_extend(b.lattice, LATTICE_RESORTS, LATTICE_HEIGHT / CALLERS_UNIT), -ENOSPC);
    close_bench(&b);
    rig_end(&r);
}

Test(lattice, probabilities_are_products_of_shares)
{
    struct rig r;
    struct bench b;
    begin(&r);
    uint32_t *f = r.numbers;
    open_bench(&b, &r, LATTICE_PLAIN, 1000);
    /* Of b's 5 calls a made 3. */
    double expected = 0.6;
    for (uint32_t height = 48; height < 1000; height += 48) {
        cr_assert(stands(&b, f[1], height));
        struct scaled_sum all = {0, 0};
        const struct lattice_way *ways;
        int64_t count =
            lattice_ways(b.lattice, (struct lattice_state){f[1], 0, height / CALLERS_UNIT}, &ways);
        cr_assert_eq(count, 1);
        scaled_add(&all, ways->value.sum, ways->probability);
        struct scaled most = scaled_times(ways->value.best, ways->probability), total = scaled_total(all);
        double sum = ldexp((double)total.fraction, total.exponent),
               best = ldexp((double)most.fraction, most.exponent);
        cr_expect_float_eq(best, sum, 1e-6 * sum, "one path");
        cr_expect_float_eq(sum, expected, 1e-6 * expected, "at %u: %g", height, sum);
        /* Of b's calls 2 of 5 came of another b, which called b then: that was seen twice, by a both times,
         * and as much again is the back-off to all of b's callers. So a has (1 + 3/5) / 2 there, and yet
         * another b (0 + 2/5) / 2. */
        expected = height == 48 ? 0.4 * 0.8 : expected * 0.2;
    }
    close_bench(&b);
    rig_end(&r);
}

Test(lattice, last_resorts_are_asked_for)
{
    struct rig r;
    struct bench plain, all;
    begin(&r);
    uint32_t *f = r.numbers, targets[] = {f[4], f[5]};
    struct static_edge open = {f[2], f[0], 16, true, 0, 0};
    struct static_edge through = {0, f[1], 64, false, 0, 0};
    struct static_class class = {0, 1, &through, 1, targets, 2};
    rig_use(&r, &(struct statics){.edges = &open, .count = 1, .classes = &class, .class_count = 1}, NULL);
    open_bench(&plain, &r, LATTICE_PLAIN, 2000);
    open_bench(&all, &r, LATTICE_RESORTS, 2000);
    for (uint32_t height = 0; height < 2000; height += 8) {
        cr_expect_not(stands(&plain, f[2], height));
        cr_expect_not(stands(&plain, f[5], height));
        cr_expect_eq(stands(&all, f[2], height), height >= 32 && height % 16 == 0, "c at %u", height);
        cr_expect_eq(stands(&all, f[5], height), height >= 112 && (height - 64) % 48 == 0, "f at %u", height);
        cr_expect_eq(stands(&all, f[1], height), stands(&plain, f[1], height));
    }
    close_bench(&plain);
    close_bench(&all);
    rig_end(&r);
}

Test(lattice, without_memory_it_goes_no_further)
{
    struct rig r;
    struct callers callers;
    begin(&r);
    cr_assert_eq(callers_make(&callers, r.graph, NULL), 0);
    struct lattice *lattice = lattice_new(&callers, NULL, 40000, NULL);
    cr_assert_not_null(lattice);
    cr_assert_eq(lattice_extend(lattice, LATTICE_RESORTS, 10), 0);
    cr_expect_eq(lattice_extend(lattice, LATTICE_RESORTS, 100000), -ENOSPC);
    cr_expect_eq(lattice_extend(lattice, LATTICE_RESORTS, 100000), -ENOSPC, "asked again");
    cr_expect_eq(lattice_extend(lattice, LATTICE_RESORTS, 10), 0);
    cr_expect(lattice_has(lattice, r.numbers[1], 6));
    cr_expect_leq(lattice_bytes(lattice), 40000u);
    cr_expect_gt(lattice_cells(lattice), 10u);
    lattice_free(lattice);
    callers_free(&callers);
    rig_end(&r);
}

/* Paths of a hundred calls have probabilities far below what a double holds. */
Test(lattice, adding_nothing_to_a_small_sum_changes_nothing)
{
    struct scaled_sum sum = {0, 0};
    scaled_add(&sum, scaled_of(0.75, -5000), 1);
    scaled_add(&sum, (struct scaled){0, 0}, 1);
    scaled_add(&sum, scaled_of(0.5, 0), 0);
    cr_expect_float_eq(scaled_ratio(scaled_total(sum), scaled_of(0.75, -5000)), 1, 1e-6);
    scaled_add(&sum, scaled_of(0.75, -5000), 1);
    cr_expect_float_eq(scaled_ratio(scaled_total(sum), scaled_of(0.75, -5000)), 2, 1e-6);
}
