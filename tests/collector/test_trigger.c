/* An event that is counted only: what it is named by, and what becomes of it. */
#include <criterion/criterion.h>

#include <errno.h>
#include <string.h>

#include "collector/events/trigger.h"

Test(trigger, name_and_number)
{
    char name[16];
    uint64_t most = 0;
    cr_expect(trigger_split("page-faults:1000", name, sizeof name, &most));
    cr_expect_str_eq(name, "page-faults");
    cr_expect_eq(most, 1000);
    cr_expect(trigger_split("a:b:pp:0", name, sizeof name, &most));
    cr_expect_str_eq(name, "a:b:pp");
    cr_expect_eq(most, 0);
    cr_expect(trigger_split("x:18446744073709551615", name, sizeof name, &most));
    cr_expect_eq(most, UINT64_MAX);
    for (const char *const *text =
             (const char *const[]){"", ":", "x", "x:", ":5", "x:5y", "x:-5", "x: 5", "x:0x5",
                                   "x:18446744073709551616", "a-name-of-16-byt:5", NULL};
         *text; text++)
        cr_expect(!trigger_split(*text, name, sizeof name, &most), "%s", *text);
}

static int fails(const char *text)
{
    struct event events[TRIGGER_EVENTS];
    struct fathom_error err = {0};
    size_t count = 99;
    uint64_t most;
    int rc = trigger_events(text, NULL, events, &count, &most, &err);
    cr_expect_eq(count, 99, "untouched");
    cr_expect(err.text[0], "%s", text);
    return rc;
}

Test(trigger, counts_and_does_not_sample)
{
    struct event events[TRIGGER_EVENTS];
    struct fathom_error err;
    size_t count;
    uint64_t most;
    for (const char *const *text = (const char *const[]){"page-faults:7", "cpu-clock:7", NULL}; *text;
         text++) {
        cr_assert_eq(trigger_events(*text, NULL, events, &count, &most, &err), 0, "%s", err.text);
        cr_expect(count == 1 && most == 7);
        cr_expect(events[0].attr.sample_period == 0 && !events[0].attr.freq && events[0].attr.inherit);
        cr_expect(events[0].attr.sample_type & PERF_SAMPLE_IDENTIFIER);
        cr_expect_str_eq(events[0].name, "trigger", "no other event of the recording has its name");
    }
}

Test(trigger, refusals)
{
    cr_expect_eq(fails("page-faults"), -EINVAL);
    cr_expect_eq(fails("page-faults,cpu-clock:1"), -EINVAL);
    cr_expect_eq(fails("{page-faults}:1"), -EINVAL);
    cr_expect_eq(fails("no-such-event:1"), -ENOENT);
}
