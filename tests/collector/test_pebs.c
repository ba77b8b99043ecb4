/* Large PEBS: which attrs qualify, and the reason of those that do not. */
#include <criterion/criterion.h>

#include <inttypes.h>
#include <string.h>

#include "collector/events/event.h"
#include "collector/events/pebs.h"
#include "collector/events/vary.h"

static const struct pebs_machine skylake = {.max_precise = 3, .times = true, .weights = true};

/* A precise event as it is recorded. */
static struct perf_event_attr precise(void)
{
    struct event event;
    struct fathom_error err = {0};
    struct event_options options = {.name = "r1a8", .period = 100003, .data_address = true};
    cr_assert_eq(event_parse(&options, NULL, &event, &err), 0, "%s", err.text);
    event.attr.precise_ip = 2; /* parsed without: here may be no such CPU */
    event.attr.wakeup_watermark = 131072;
    return event.attr;
}

static void refused(const struct perf_event_attr *attr, const struct pebs_machine *machine, const char *word)
{
    const char *reason = pebs_refusal(attr, machine);
    cr_assert_not_null(reason, "not refused: %s", word);
    cr_assert(strstr(reason, word), "'%s' is not in: %s", word, reason);
}

Test(pebs, our_events_with_a_period_qualify)
{
    struct perf_event_attr attr = precise();
    cr_assert(attr.sample_type & PERF_SAMPLE_TIME && attr.sample_type & PERF_SAMPLE_WEIGHT &&
              attr.sample_type & PERF_SAMPLE_DATA_SRC && attr.sample_type & PERF_SAMPLE_REGS_INTR);
    cr_assert_null(pebs_refusal(&attr, &skylake));
    attr.precise_ip = 1;
    cr_assert_null(pebs_refusal(&attr, &skylake));
}

Test(pebs, what_needs_an_interrupt_per_sample)
{
    struct perf_event_attr attr = precise();
    attr.precise_ip = 0;
    refused(&attr, &skylake, "not precise");
    attr = precise();
    attr.freq = 1;
    refused(&attr, &skylake, "frequency");
    attr = precise();
    attr.watermark = 0;
    attr.wakeup_events = 1;
    refused(&attr, &skylake, "number of samples");
    attr = precise();
    attr.sample_type |= PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_USER;
    refused(&attr, &skylake, "copies of the stack");
    attr = precise();
    attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
    refused(&attr, &skylake, "call chains");
    attr = precise();
    attr.sample_type |= PERF_SAMPLE_RAW;
    refused(&attr, &skylake, "field");
    attr = precise();
    attr.use_clockid = 1;
    refused(&attr, &skylake, "another clock");
    attr.sample_type &= ~(__u64)PERF_SAMPLE_TIME;
    cr_assert_null(pebs_refusal(&attr, &skylake));
}

Test(pebs, registers_inside_the_record)
{
    struct perf_event_attr attr = precise();
    attr.sample_regs_intr = 0xff03ff; /* all of AX to FLAGS and R8 to R15 */
    cr_assert_null(pebs_refusal(&attr, &skylake));
    attr.sample_regs_intr |= 1 << 10; /* CS */
    refused(&attr, &skylake, "register");
    attr.sample_regs_intr = 1ULL << 32; /* XMM0 */
    refused(&attr, &skylake, "register");
    attr = precise();
    attr.sample_type |= PERF_SAMPLE_REGS_USER;
    attr.sample_regs_user = 0x1c0;
    cr_assert_null(pebs_refusal(&attr, &skylake));
    attr.exclude_kernel = 0;
    refused(&attr, &skylake, "samples in the kernel");
    attr.exclude_kernel = 1;
    attr.sample_regs_user |= 1 << 11; /* SS */
    refused(&attr, &skylake, "register");
}

Test(pebs, bare_records_of_virtual_machines)
{
    struct perf_event_attr attr = precise();
    refused(&attr, &(struct pebs_machine){.max_precise = 3, .times = true, .weights = true, .bare = true},
            "neither time nor registers");
}

Test(pebs, periods_of_batches_stay_and_have_no_small_factor)
{
    struct perf_event_attr attr = {.sample_period = 100000};
    uint64_t state = 1, sum = 0;
    for (unsigned i = 0; i < 1000; i++) {
        uint64_t period = vary_once(&attr, &state);
        cr_assert(period >= 93750 && period <= 106350, "%" PRIu64, period);
        for (uint64_t factor = 2; factor < 100; factor++)
            cr_assert(period % factor, "%" PRIu64 " is a multiple of %" PRIu64, period, factor);
        sum += period;
    }
    cr_assert(sum > 99000000 && sum < 101000000, "mean of %" PRIu64, sum / 1000);
}

Test(pebs, older_machines)
{
    struct perf_event_attr attr = precise();
    refused(&attr, &(struct pebs_machine){0}, "no PEBS");
    refused(&attr, &(struct pebs_machine){.max_precise = 2, .weights = true}, "Skylake");
    refused(&attr, &(struct pebs_machine){.max_precise = 3, .times = true}, "weights");
    attr.sample_type &= ~(__u64)PERF_SAMPLE_WEIGHT;
    cr_assert_null(pebs_refusal(&attr, &(struct pebs_machine){.max_precise = 3, .times = true}));
    cr_assert_eq(pebs_format("core2"), 1, "it was taken for one with timestamps");
    cr_assert_eq(pebs_format("broadwell"), 2);
    cr_assert_eq(pebs_format("skylake"), 3);
    cr_assert_eq(pebs_format("alderlake_hybrid"), 4);
    cr_assert_eq(pebs_format("of the next century"), 0);
    cr_assert_eq(pebs_format(NULL), 0);
    cr_assert(!pebs_weights("5.19.17"));
    cr_assert(pebs_weights("6.0.0-rc1"));
    cr_assert(pebs_weights("10.1"));
    cr_assert(!pebs_weights("unknown"));
}
