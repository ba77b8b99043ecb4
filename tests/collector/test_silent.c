/* Processes that used CPU time and have no sample. */
#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "collector/silent.h"

static struct event event_of(uint64_t config, uint64_t period)
{
    struct event event = {.attr = {.type = PERF_TYPE_SOFTWARE, .config = config, .exclude_kernel = 1},
                          .name = "an-event:u"};
    event.attr.sample_period = period;
    return event;
}

static uint64_t ticks(double seconds)
{
    return (uint64_t)(seconds * (double)sysconf(_SC_CLK_TCK));
}

Test(silent, what_chance_explains_is_not_told)
{
    struct event clock = event_of(PERF_COUNT_SW_CPU_CLOCK, 1000000);
    cr_expect_not(silent_cannot_be(&clock, 99000000), "the kernel's ticks");
    cr_expect(silent_cannot_be(&clock, 100000000));
    clock.attr.sample_period = 10000000;
    cr_expect_not(silent_cannot_be(&clock, 199000000), "periods");
    cr_expect(silent_cannot_be(&clock, 200000000));
    struct event often = {.attr = {.type = PERF_TYPE_HARDWARE, .freq = 1, .sample_freq = 10}};
    cr_expect_not(silent_cannot_be(&often, 1990000000));
    cr_expect(silent_cannot_be(&often, 2000000000));
}

static bool tell(const struct silent_view *view, struct cpu_use *list, size_t count, enum log_level *level,
                 char *text, size_t size)
{
    struct cpu_uses uses = {.list = list, .count = count};
    return silent_tell(view, &uses, level, text, size);
}

Test(silent, processes_without_samples_are_named_with_the_reason)
{
    struct event clock = event_of(PERF_COUNT_SW_CPU_CLOCK, 1000000);
    struct table *sampled = table_new();
    struct cpu_use list[] = {{.pid = 7, .name = "seen", .user = ticks(2)},
                             {.pid = 8, .name = "silent", .user = ticks(1.5)},
                             {.pid = 9, .name = "in kernel", .kernel = ticks(3)},
                             {.pid = 10, .name = "short", .user = ticks(0.05)}};
    struct silent_view view = {.event = &clock, .sampled = sampled};
    enum log_level level;
    char text[512];
    cr_assert(table_put(sampled, 7, NULL));
    cr_assert(tell(&view, list, 4, &level, text, sizeof text));
    cr_expect(strstr(text, "1 process used 1.5 s of CPU time and has no sample: 8 (silent): "), "%s", text);
    cr_expect(strstr(text, "set-user-ID"), "%s", text);
    cr_expect_eq(level, LOG_WARNING);
    view.lost = 12;
    cr_assert(tell(&view, list, 4, &level, text, sizeof text));
    cr_expect(strstr(text, "12 samples were lost"), "%s", text);
    cr_assert(table_put(sampled, 8, NULL));
    cr_expect_not(tell(&view, list, 4, &level, text, sizeof text));
    clock.attr.exclude_kernel = 0;
    cr_assert(tell(&view, list, 4, &level, text, sizeof text));
    cr_expect(strstr(text, "9 (in kernel)"), "%s", text);
    table_free(sampled);
}

Test(silent, an_event_need_not_occur_in_each)
{
    struct event faults = event_of(PERF_COUNT_SW_PAGE_FAULTS, 1);
    struct table *sampled = table_new();
    struct cpu_use list[6];
    struct silent_view view = {.event = &faults, .sampled = sampled};
    enum log_level level;
    char text[512];
    for (int i = 0; i < 6; i++)
        list[i] = (struct cpu_use){.pid = 20 + i, .name = "fifteen-letters", .user = ticks(1)};
    cr_assert(tell(&view, list, 6, &level, text, sizeof text));
    cr_expect(strstr(text, "6 processes used 6.0 s of CPU time and have no sample: 20 (fifteen-letters), "),
              "%s", text);
    cr_expect(strstr(text, "23 (fifteen-letters), ...: event an-event:u did not occur there"), "%s", text);
    cr_expect_eq(level, LOG_NOTE);
    table_free(sampled);
}
