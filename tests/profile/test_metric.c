/* The table of metrics, and those that an event's samples carry. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "profile/metric.h"

static const struct metric *metric_named(const char *name)
{
    const struct metric *m = metric_table;
    while (m->name && strcmp(m->name, name) != 0)
        m++;
    return m;
}

static struct event event_of(uint64_t config, uint64_t sample_type)
{
    struct event event = {.name = "page-faults:u"};
    event.attr.type = PERF_TYPE_SOFTWARE;
    event.attr.config = config;
    event.attr.sample_type = sample_type;
    return event;
}

Test(metric, names_are_different)
{
    for (const struct metric *m = metric_table; m->name; m++)
        cr_expect_eq(metric_named(m->name), m, "%s", m->name);
    cr_expect_str_eq(metric_table[0].name, "weight");
}

/* Both forms in which a latency is recorded, and none. */
Test(metric, an_event_has_what_its_samples_carry)
{
    static const uint64_t types[] = {PERF_SAMPLE_WEIGHT, PERF_SAMPLE_WEIGHT_STRUCT, 0};
    const struct sample sample = {.period = 7, .weight = 300};
    for (size_t i = 0; i < 3; i++) {
        struct event event = event_of(PERF_COUNT_SW_PAGE_FAULTS, PERF_SAMPLE_IP | types[i]);
        struct metrics metrics;
        uint64_t values[METRICS_MAX] = {0};
        struct fathom_error err;
        cr_assert_eq(metrics_of(&event, NULL, &metrics, &err), 0);
        metrics_values(&metrics, &sample, values);
        cr_expect_eq(metrics.count, types[i] ? 3 : 2);
        cr_expect_eq(values[0], 7);
        cr_expect_eq(values[1], 1);
        cr_expect_eq(values[2], types[i] ? 300 : 0);
        if (types[i])
            cr_expect_str_eq(metrics_unit(&metrics, 2), "cycles");
    }
}

Test(metric, what_weighs_nothing_is_a_sample_but_for_waits)
{
    const struct metric *samples = metric_named("samples");
    cr_expect_eq(samples->value(&(struct sample){.period = 0}), 1, "a field by which samples weigh can be 0");
    cr_expect_eq(samples->value(&(struct sample){.period = 0, .wait = 1}), 0, "its wait ends later");
    cr_expect_eq(samples->value(&(struct sample){.period = 5, .wait = 1}), 1);
}

Test(metric, the_one_asked_for_is_the_weight)
{
    struct event event = event_of(PERF_COUNT_SW_PAGE_FAULTS, PERF_SAMPLE_WEIGHT);
    struct metrics metrics;
    struct fathom_error err;
    cr_assert_eq(metrics_of(&event, metric_named("latency"), &metrics, &err), 0);
    cr_expect_eq(metrics.count, 3);
    cr_expect_str_eq(metrics.at[0]->name, "latency");
    cr_expect_str_eq(metrics.at[1]->name, "weight");
    cr_expect_str_eq(metrics.at[2]->name, "samples");

    event.attr.sample_type = 0;
    cr_expect_eq(metrics_of(&event, metric_named("latency"), &metrics, &err), -ENOENT);
    cr_expect_str_eq(err.text, "the samples have no latency; they have: weight, samples");
}

Test(metric, units_are_of_the_event)
{
    struct event clock = event_of(PERF_COUNT_SW_TASK_CLOCK, 0),
                 faults = event_of(PERF_COUNT_SW_PAGE_FAULTS, 0);
    struct metrics metrics;
    cr_assert_eq(metrics_of(&clock, NULL, &metrics, NULL), 0);
    cr_expect_str_eq(metrics_unit(&metrics, 0), "ns");
    cr_expect_str_eq(metrics_unit(&metrics, 1), "samples");
    cr_assert_eq(metrics_of(&faults, NULL, &metrics, NULL), 0);
    cr_expect_str_eq(metrics_unit(&metrics, 0), "page-faults:u");
}
