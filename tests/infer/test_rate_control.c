/* The rates of the clocks that read stacks: by what is new, and within the budget. */
#include <criterion/criterion.h>

#include "infer/live/rate_control.h"

enum { FAST, SLOW };

static struct rate_control_input input_of(double burst, double rate)
{
    return (struct rate_control_input){.clocks = {{.most = 1000}, {.most = 500, .floor = 10}},
                                       .count = 2,
                                       .burst = burst,
                                       .rate = rate,
                                       .start = 100};
}

/* A target with `cpus` threads that never wait, on which the clocks tick as they are told. */
struct target {
    struct rate_control rates;
    struct rate_control_seen seen[RATE_CONTROL_CLOCKS];
    double hz[RATE_CONTROL_CLOCKS], taken[RATE_CONTROL_CLOCKS];
    double now, cpus;
    double
        kept; /* Hz: how often the fast clock ticks whatever it is told, unless it is stopped; 0: as told */
};

static struct target target_of(double burst, double rate, double cpus)
{
    struct target t = {.hz = {1000, 10}, .now = 100, .cpus = cpus};
    struct rate_control_input input = input_of(burst, rate);
    rate_control_begin(&t.rates, &input, t.hz);
    return t;
}

static void run(struct target *t, double seconds, double fast, double slow)
{
    const double step = 0.1, shares[] = {fast, slow};
    for (double end = t->now + seconds; t->now < end;) {
        t->now += step;
        for (int i = 0; i < RATE_CONTROL_CLOCKS; i++) {
            double hz = t->hz[i] > 0 && i == FAST && t->kept > 0 ? t->kept : t->hz[i];
            t->taken[i] += hz * step * t->cpus;
            t->seen[i].share = shares[i];
            t->seen[i].dumps = (uint64_t)t->taken[i];
            if (hz > 0)
                t->seen[i].cpu_time += step * t->cpus;
        }
        rate_control_step(&t->rates, t->now, t->seen, t->hz);
    }
}

static double taken(const struct target *t)
{
    return t->taken[FAST] + t->taken[SLOW];
}

Test(rates, more_novelty_makes_for_more_dumps)
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

Test(rates, without_novelty_only_the_floor_is_left)
{
    struct target t = target_of(4000, 400, 1);
    run(&t, 1, 0, 0);
    cr_expect_eq(t.hz[FAST], 0);
    cr_expect_float_eq(t.hz[SLOW], 10, 1e-9);
    run(&t, 1, 1, 0);
    cr_expect_gt(t.hz[FAST], 900, "news come back");
}

Test(rates, each_clock_has_its_own_novelty_and_limit)
{
    struct target t = target_of(1e9, 1e9, 1);
    run(&t, 1, 0, 1);
    cr_expect_eq(t.hz[FAST], 0);
    cr_expect_float_eq(t.hz[SLOW], 500, 1e-9);
}

Test(rates, small_changes_are_not_worth_a_new_period)
{
    struct target t = target_of(1e9, 1e9, 1);
    run(&t, 1, 400 / RATE_CONTROL_HZ_PER_SHARE, 0);
    double hz = t.hz[FAST];
    run(&t, 1, 450 / RATE_CONTROL_HZ_PER_SHARE, 0);
    cr_expect_float_eq(t.hz[FAST], hz, 1e-9);
    run(&t, 1, 350 / RATE_CONTROL_HZ_PER_SHARE, 0);
    cr_expect_float_eq(t.hz[FAST], hz, 1e-9);
}

Test(rates, the_budget_is_kept_and_used)
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

Test(rates, a_budget_of_nothing_stops_all)
{
    struct target t = target_of(0, 0, 1);
    run(&t, 0.1, 1, 1);
    cr_expect_eq(t.hz[FAST], 0);
    cr_expect_eq(t.hz[SLOW], 0);
}

Test(rates, spending_too_much_is_noticed_between_steps)
{
    struct target t = target_of(4000, 400, 1);
    cr_expect_not(rate_control_is_over(&t.rates, 110, 7999));
    cr_expect(rate_control_is_over(&t.rates, 110, 8001));
    run(&t, 0.1, 0, 0);
    t.seen[FAST].dumps = 10000;
    rate_control_step(&t.rates, 110, t.seen, t.hz);
    cr_expect_eq(t.hz[FAST] + t.hz[SLOW], 0);
    cr_expect_not(rate_control_is_over(&t.rates, 110, 10000), "all stopped");
    rate_control_step(&t.rates, 130, t.seen, t.hz);
    cr_expect_gt(t.hz[SLOW], 0, "there is a budget again");
}

Test(rates, an_unlimited_budget_limits_nothing)
{
    struct target t = target_of(UINT32_MAX, UINT32_MAX, 64);
    run(&t, 60, 1, 1);
    cr_expect_float_eq(t.hz[FAST], 1000, 1e-9);
}

Test(rates, threads_that_kept_an_older_rate_are_made_up_for)
{
    struct target t = target_of(1e9, 1e9, 2);
    t.kept = 1000;
    run(&t, 2, 100 / RATE_CONTROL_HZ_PER_SHARE, 0);
    double before = t.taken[FAST];
    run(&t, 20, 100 / RATE_CONTROL_HZ_PER_SHARE, 0);
    double each = (t.taken[FAST] - before) / 20 / t.cpus;
    cr_expect(each > 50 && each < 200, "%g dumps per second of CPU time, wanted are 100", each);
}

Test(rates, a_clock_that_keeps_its_rate_is_not_stopped)
{
    struct target t = target_of(1e9, 1e9, 2);
    for (int k = 0; k < 100; k++) {
        run(&t, 0.2, 200 / RATE_CONTROL_HZ_PER_SHARE, 0);
        cr_expect_gt(t.hz[FAST], 0);
    }
}
