/* The rates of the clocks that read stacks: by what is news, and within the budget. */
#include <criterion/criterion.h>

#include "infer/live/pace.h"

enum { FAST, SLOW };

static struct pace_input input_of(double burst, double rate)
{
    return (struct pace_input){.clocks = {{.most = 1000}, {.most = 500, .floor = 10}},
                               .count = 2,
                               .burst = burst,
                               .rate = rate,
                               .start = 100};
}

/* A target with `cpus` threads that never wait, on which the clocks tick as they are told. */
struct target {
    struct pace pace;
    struct pace_seen seen[PACE_CLOCKS];
    double hz[PACE_CLOCKS], taken[PACE_CLOCKS];
    double now, cpus;
    double
        kept; /* Hz: how often the fast clock ticks whatever it is told, unless it is stopped; 0: as told */
};

static struct target target_of(double burst, double rate, double cpus)
{
    struct target t = {.hz = {1000, 10}, .now = 100, .cpus = cpus};
    struct pace_input input = input_of(burst, rate);
    pace_begin(&t.pace, &input, t.hz);
    return t;
}

static void run(struct target *t, double seconds, double fast, double slow)
{
    const double step = 0.1, shares[] = {fast, slow};
    for (double end = t->now + seconds; t->now < end;) {
        t->now += step;
        for (int i = 0; i < PACE_CLOCKS; i++) {
            double hz = t->hz[i] > 0 && i == FAST && t->kept > 0 ? t->kept : t->hz[i];
            t->taken[i] += hz * step * t->cpus;
            t->seen[i].share = shares[i];
            t->seen[i].dumps = (uint64_t)t->taken[i];
            if (hz > 0)
                t->seen[i].cpu_time += step * t->cpus;
        }
        pace_step(&t->pace, t->now, t->seen, t->hz);
    }
}

static double taken(const struct target *t)
{
    return t->taken[FAST] + t->taken[SLOW];
}

Test(pace, more_news_makes_for_more_dumps)
{
    struct target t = target_of(1e9, 1e9, 1);
    double before = 2000;
    for (double share = 1; share > 0.004; share /= 2) {
        run(&t, 1, share, 0);
        cr_expect_leq(t.hz[FAST], before, "at a share of %g", share);
        cr_expect_geq(t.hz[FAST], 10);
        cr_expect_leq(t.hz[FAST], 1000);
        cr_expect_float_eq(t.hz[SLOW], 10, 1e-9);
        before = t.hz[FAST];
    }
    cr_expect_leq(before, 500);
}

Test(pace, without_news_only_the_floor_is_left)
{
    struct target t = target_of(4000, 400, 1);
    run(&t, 1, 0, 0);
    cr_expect_eq(t.hz[FAST], 0);
    cr_expect_float_eq(t.hz[SLOW], 10, 1e-9);
    run(&t, 1, 1, 0);
    cr_expect_gt(t.hz[FAST], 900, "news come back");
}

Test(pace, each_clock_has_its_own_news_and_limit)
{
    struct target t = target_of(1e9, 1e9, 1);
    run(&t, 1, 0, 1);
    cr_expect_eq(t.hz[FAST], 0);
    cr_expect_float_eq(t.hz[SLOW], 500, 1e-9);
}

Test(pace, small_changes_are_not_worth_a_new_period)
{
    struct target t = target_of(1e9, 1e9, 1);
    run(&t, 1, 400 / PACE_HZ_PER_SHARE, 0);
    double hz = t.hz[FAST];
    run(&t, 1, 450 / PACE_HZ_PER_SHARE, 0);
    cr_expect_float_eq(t.hz[FAST], hz, 1e-9);
    run(&t, 1, 350 / PACE_HZ_PER_SHARE, 0);
    cr_expect_float_eq(t.hz[FAST], hz, 1e-9);
}

Test(pace, the_budget_is_kept_and_used)
{
    const double cpus[] = {0.2, 1, 2, 8, 64};
    for (size_t i = 0; i < sizeof cpus / sizeof *cpus; i++) {
        struct target t = target_of(4000, 400, cpus[i]);
        for (int k = 0; k < 600; k++) {
            double before = taken(&t);
            run(&t, 0.1, 1, 0.5);
            double allowed = 4000 + 400 * (t.now - 100);
            /* Nothing is known of the number of CPUs in the first step, and what it took too much is made up for. */
            cr_expect(taken(&t) <= allowed || k == 0 || taken(&t) <= before,
                      "%g CPUs: %g dumps, allowed are %g", cpus[i], taken(&t), allowed);
        }
        if (cpus[i] >= 1)
            cr_expect_geq(taken(&t), 0.9 * (4000 + 400 * 60), "%g CPUs", cpus[i]);
    }
}

Test(pace, a_budget_of_nothing_stops_all)
{
    struct target t = target_of(0, 0, 1);
    run(&t, 0.1, 1, 1);
    cr_expect_eq(t.hz[FAST], 0);
    cr_expect_eq(t.hz[SLOW], 0);
}

Test(pace, spending_too_much_is_noticed_between_steps)
{
    struct target t = target_of(4000, 400, 1);
    cr_expect_not(pace_is_over(&t.pace, 110, 7999));
    cr_expect(pace_is_over(&t.pace, 110, 8001));
    run(&t, 0.1, 0, 0);
    t.seen[FAST].dumps = 10000;
    pace_step(&t.pace, 110, t.seen, t.hz);
    cr_expect_eq(t.hz[FAST] + t.hz[SLOW], 0);
    cr_expect_not(pace_is_over(&t.pace, 110, 10000), "all stopped");
    pace_step(&t.pace, 130, t.seen, t.hz);
    cr_expect_gt(t.hz[SLOW], 0, "there is a budget again");
}

Test(pace, an_unlimited_budget_limits_nothing)
{
    struct target t = target_of(UINT32_MAX, UINT32_MAX, 64);
    run(&t, 60, 1, 1);
    cr_expect_float_eq(t.hz[FAST], 1000, 1e-9);
}

Test(pace, threads_that_kept_an_older_rate_are_made_up_for)
{
    struct target t = target_of(1e9, 1e9, 2);
    t.kept = 1000;
    run(&t, 2, 100 / PACE_HZ_PER_SHARE, 0);
    double before = t.taken[FAST];
    run(&t, 20, 100 / PACE_HZ_PER_SHARE, 0);
    double each = (t.taken[FAST] - before) / 20 / t.cpus;
    cr_expect(each > 50 && each < 200, "%g dumps per second of CPU time, wanted are 100", each);
}

Test(pace, a_clock_that_keeps_its_rate_is_not_stopped)
{
    struct target t = target_of(1e9, 1e9, 2);
    for (int k = 0; k < 100; k++) {
        run(&t, 0.2, 200 / PACE_HZ_PER_SHARE, 0);
        cr_expect_gt(t.hz[FAST], 0);
    }
}
