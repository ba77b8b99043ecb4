/* Events that are opened together. */
#include <criterion/criterion.h>

#include <sys/mman.h>
#include <unistd.h>

#include "collector/events/event.h"
#include "collector/events/open.h"
#include "collector/rings/counters.h"

/* A helper is opened ahead of its event, in its group, and makes the ring; it has no samples. */
Test(groups, an_event_with_a_helper)
{
    struct event events[2];
    struct fathom_error err = {0};
    struct counters *counters;
    struct counters_totals faults, helper;
    struct ring *rings;
    cr_assert_eq(event_parse(&(struct event_options){.name = "page-faults"}, NULL, &events[0], &err), 0, "%s",
                 err.text);
    event_tasks(&events[1]);
    events[1].attr.sample_period = 0;
    events[1].attr.config = PERF_COUNT_SW_TASK_CLOCK;
    events[1].helper = true;
    events[0].group = events[1].group = 7;
    events[0].attr.task = 1;
    cr_assert_eq(counters_new(events, 2, 0, NULL, &counters, &err), 0, "%s", err.text);
    cr_assert_eq(counters_open(counters, gettid(), false, &err), 0, "%s", err.text);
    counters_enable(counters);
    char *pages = mmap(NULL, 100 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert(pages != MAP_FAILED);
    madvise(pages, 100 * 4096, MADV_NOHUGEPAGE);
    for (int i = 0; i < 100; i++)
        ((volatile char *)pages)[i * 4096] = 1;
    counters_disable(counters);
    counters_totals(counters, 0, &faults);
    counters_totals(counters, 1, &helper);
    cr_expect_geq(faults.value, 100);
    cr_expect_gt(helper.value, 0);
    size_t count = counters_rings(counters, &rings), bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += rings[i].page ? ring_head(&rings[i]) : 0;
    cr_expect_geq(bytes, 100 * 72);
    counters_free(counters);
}
