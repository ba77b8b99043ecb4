/* A run with known phases: where intervals begin, which phases they are of, and what represents these. */
#include <criterion/criterion.h>

#include <errno.h>

#include "base/hash.h"
#include "phases/timeline.h"

enum { PER_INTERVAL = 100 };

/* An interval of each of the phases that `plan` has, of ten items each. */
static struct timeline *run(const char *plan, enum phase_policy policy)
{
    struct timeline *t = timeline_new(&(struct phase_options){.interval = PER_INTERVAL, .threshold = 0.25});
    uint64_t random = 3, time = 1000;
    for (const char *c = plan; *c; c++)
        for (int i = 0; i < PER_INTERVAL; i++) {
            uint64_t item = (uint64_t)*c * 1000 + hash_random(&random) % 10;
            cr_assert_eq(timeline_add(t, &(struct phase_sample){time++, 1, &item, 1}, NULL), 0);
        }
    cr_assert_eq(timeline_end(t, NULL), 0);
    timeline_choose(t, policy);
    return t;
}

Test(timeline, intervals_and_phases)
{
    static const char plan[] = "aaabbcaab";
    static const uint32_t wanted[] = {1, 1, 1, 2, 2, 3, 1, 1, 2};
    struct timeline *t = run(plan, PHASE_FIRST);
    uint32_t count, phases;
    const struct phase_interval *i = timeline_intervals(t, &count);
    const struct phase *p = timeline_phases(t, &phases);
    cr_assert_eq(count, 9);
    cr_assert_eq(phases, 3);
    double weight = 0;
    for (uint32_t n = 0; n < count; n++) {
        cr_expect_eq(i[n].phase, wanted[n], "interval %u", n);
        cr_expect_eq(i[n].from, 1000 + n * PER_INTERVAL);
        cr_expect_eq(i[n].to, 1000 + (n + 1) * PER_INTERVAL);
        cr_expect_eq(timeline_phase_at(t, i[n].from), wanted[n]);
        cr_expect_eq(timeline_phase_at(t, i[n].to - 1), wanted[n]);
    }
    for (uint32_t n = 0; n < phases; n++)
        weight += p[n].weight;
    cr_expect_eq(weight, 900, "the phases make the whole");
    cr_expect(p[0].intervals == 5 && p[0].runs == 2 && p[1].runs == 2 && p[2].runs == 1);
    cr_expect_eq(timeline_phase_at(t, 999), 0);
    cr_expect_eq(timeline_phase_at(t, 1900), 0);
    timeline_free(t);
}

static uint32_t chosen(enum phase_policy policy, uint32_t phase)
{
    struct timeline *t = run("aaabbcaab", policy);
    uint32_t count;
    uint32_t at = timeline_phases(t, &count)[phase - 1].chosen;
    const struct phase_interval *i = timeline_intervals(t, &count);
    cr_expect_eq(i[at].phase, phase, "of its own phase");
    timeline_free(t);
    return at;
}

Test(timeline, representatives)
{
    cr_expect_eq(chosen(PHASE_FIRST, 1), 0);
    cr_expect_eq(chosen(PHASE_FIRST, 2), 3);
    cr_expect_eq(chosen(PHASE_THIRD, 1), 2);
    cr_expect_eq(chosen(PHASE_THIRD, 2), 8);
    cr_expect_eq(chosen(PHASE_THIRD, 3), 5, "the last, where there are fewer");
    for (uint32_t phase = 1; phase <= 3; phase++) {
        chosen(PHASE_RANDOM, phase);
        chosen(PHASE_CENTROID, phase);
    }
}

/* The first interval is half of another phase: all others are nearer to their mean. */
Test(timeline, the_centroid_is_typical)
{
    struct timeline *t = timeline_new(&(struct phase_options){.interval = PER_INTERVAL, .threshold = 0.6});
    uint32_t count;
    for (uint64_t i = 0; i < 5 * PER_INTERVAL; i++) {
        uint64_t item = i < 30 ? 1 : 2;
        cr_assert_eq(timeline_add(t, &(struct phase_sample){i, 1, &item, 1}, NULL), 0);
    }
    cr_assert_eq(timeline_end(t, NULL), 0);
    timeline_choose(t, PHASE_CENTROID);
    const struct phase *p = timeline_phases(t, &count);
    cr_assert_eq(count, 1);
    cr_expect_neq(p[0].chosen, 0);
    timeline_free(t);
}

Test(timeline, samples_of_one_time_are_in_one_interval)
{
    struct timeline *t = timeline_new(&(struct phase_options){.interval = 2, .threshold = 0.25});
    uint64_t item = 1;
    uint32_t count;
    for (uint64_t i = 0; i < 12; i++)
        cr_assert_eq(timeline_add(t, &(struct phase_sample){i / 4, 1, &item, 1}, NULL), 0);
    cr_assert_eq(timeline_end(t, NULL), 0);
    timeline_choose(t, PHASE_FIRST);
    timeline_intervals(t, &count);
    cr_expect_eq(count, 3);
    timeline_free(t);
}

Test(timeline, predicts)
{
    struct timeline *t = run("aabaabaabaabaabaabaabaabaabaab", PHASE_FIRST);
    uint32_t right, lasting;
    timeline_predicted(t, &right, &lasting);
    cr_expect_geq(right, 24);
    cr_expect_eq(lasting, 10);
    timeline_free(t);
}

Test(timeline, too_many_intervals)
{
    struct timeline *t = timeline_new(&(struct phase_options){.interval = 1, .threshold = 0.25});
    uint64_t item = 1;
    struct fathom_error err = {0};
    int rc = 0;
    for (uint64_t i = 0; rc == 0 && i < PHASE_INTERVALS_MAX + 10; i++)
        rc = timeline_add(t, &(struct phase_sample){i, 1, &item, 1}, &err);
    cr_expect_eq(rc, -ERANGE);
    cr_expect_not_null(strstr(err.text, "make them longer"));
    timeline_free(t);
}

Test(timeline, nothing)
{
    struct timeline *t = timeline_new(&(struct phase_options){.interval = 1, .threshold = 0.25});
    uint32_t count = 7;
    cr_assert_eq(timeline_end(t, NULL), 0);
    timeline_choose(t, PHASE_CENTROID);
    timeline_intervals(t, &count);
    cr_expect_eq(count, 0);
    timeline_phases(t, &count);
    cr_expect_eq(count, 0);
    timeline_free(t);
}
