/* The time that threads ran, by samples of a clock and of others between them. */
#include <criterion/criterion.h>

#include "infer/samples/run_time.h"

enum { CLOCK, AUDIT };

static uint64_t pass(struct run_times *times, uint64_t thread_key, uint32_t event, uint64_t time,
                     uint64_t period)
{
    struct sample sample = {.event = event, .time = time, .period = period};
    struct run_time run = {.thread_key = thread_key};
    cr_assert_eq(run_times_pass(times, &sample, &run), 0);
    return run.ran;
}

Test(run_time, a_clock_tells_it_however_long_a_thread_waits)
{
    struct run_times *times = run_times_new(CLOCK);
    cr_expect_eq(pass(times, 1, CLOCK, 1000, 100), 100u);
    cr_expect_eq(pass(times, 1, CLOCK, 1100, 100), 200u);
    cr_expect_eq(pass(times, 2, CLOCK, 5000, 100), 100u, "another thread");
    cr_expect_eq(pass(times, 1, CLOCK, 90000, 100), 300u, "it waited");
    cr_expect_eq(pass(times, 1, CLOCK, 90200, 250), 550u, "by each sample's period");
    run_times_free(times);
}

Test(run_time, others_lie_between_samples_of_the_clock)
{
    struct run_times *times = run_times_new(CLOCK);
    pass(times, 1, CLOCK, 1000, 100);
    cr_expect_eq(pass(times, 1, AUDIT, 1030, 0), 130u);
    cr_expect_eq(pass(times, 1, AUDIT, 1050, 0), 150u);
    cr_expect_eq(pass(times, 1, AUDIT, 1040, 0), 150u, "time does not go backwards");
    cr_expect_eq(pass(times, 1, AUDIT, 7000, 0), 200u, "not behind the next one");
    cr_expect_eq(pass(times, 1, CLOCK, 7010, 100), 200u);
    cr_expect_eq(pass(times, 2, AUDIT, 10, 0), 0u, "nothing is known yet");
    run_times_free(times);
}

Test(run_time, without_a_clock_it_is_the_time)
{
    struct run_times *times = run_times_new(RUN_TIME_NO_CLOCK);
    cr_expect_eq(pass(times, 1, CLOCK, 1000, 100), 1000u);
    cr_expect_eq(pass(times, 1, AUDIT, 99, 1), 99u);
    run_times_free(times);
}
