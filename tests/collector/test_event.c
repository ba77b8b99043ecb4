/* Event names and rates: the attrs that they make, and what is refused. */
#include <criterion/criterion.h>

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <stdlib.h>
#include <string.h>

#include "base/slips.h"
#include "collector/events/event.h"
#include "collector/events/event_list.h"
#include "collector/events/event_name.h"
#include "collector/events/open.h"
#include "collector/events/tracefs.h"

static struct event parse(const struct event_options *options)
{
    struct event event;
    struct fathom_error err = {0};
    cr_assert_eq(event_parse(options, NULL, &event, &err), 0, "%s: %s", options->name, err.text);
    return event;
}

static void refused(const struct event_options *options, int code, const char *word)
{
    struct event event;
    struct fathom_error err = {0};
    cr_assert_eq(event_parse(options, NULL, &event, &err), -code, "%s", options->name);
    cr_assert(strstr(err.text, word), "'%s' is not in: %s", word, err.text);
}

Test(event, a_plain_sample_is_small_and_from_user_mode)
{
    struct event e = parse(&(struct event_options){.name = "cpu-clock"});
    cr_assert_str_eq(e.name, "cpu-clock:u");
    cr_assert_eq(e.attr.type, PERF_TYPE_SOFTWARE);
    cr_assert_eq(e.attr.config, PERF_COUNT_SW_CPU_CLOCK);
    cr_assert_eq(e.attr.size, 128);
    cr_assert_eq(e.attr.sample_type, PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                                         PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_INTR);
    cr_assert_eq(e.attr.sample_regs_intr, 0x1c0);
    cr_assert_eq(e.attr.sample_period, 1000000);
    cr_assert(!e.attr.freq);
    cr_assert(e.attr.exclude_kernel && e.attr.disabled && e.attr.inherit && e.attr.sample_id_all);
    cr_assert_null(e.ids);
}

Test(event, names_of_the_kernels_software_events)
{
    static const struct {
        const char *name;
        uint64_t config;
        const char *shown;
        uint64_t period;
    } known[] = {
        {"task-clock:u", PERF_COUNT_SW_TASK_CLOCK, "task-clock:u", 1000000},
        {"page-faults", PERF_COUNT_SW_PAGE_FAULTS, "page-faults:u", 1},
        {"faults", PERF_COUNT_SW_PAGE_FAULTS, "faults:u", 1},
        {"minor-faults", PERF_COUNT_SW_PAGE_FAULTS_MIN, "minor-faults:u", 1},
        {"major-faults", PERF_COUNT_SW_PAGE_FAULTS_MAJ, "major-faults:u", 1},
        {"alignment-faults", PERF_COUNT_SW_ALIGNMENT_FAULTS, "alignment-faults:u", 1},
        {"dummy", PERF_COUNT_SW_DUMMY, "dummy:u", 1},
        {"perf::PERF_COUNT_SW_CPU_CLOCK", PERF_COUNT_SW_CPU_CLOCK, "perf::PERF_COUNT_SW_CPU_CLOCK:u",
         1000000},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct event e = parse(&(struct event_options){.name = known[i].name});
        cr_assert_eq(e.attr.type, PERF_TYPE_SOFTWARE, "%s", known[i].name);
        cr_assert_eq(e.attr.config, known[i].config, "%s", known[i].name);
        cr_assert_str_eq(e.name, known[i].shown);
        cr_assert_eq(e.attr.sample_period, known[i].period, "%s", known[i].name);
    }
}

Test(event, what_fires_in_the_kernel_takes_the_user_registers)
{
    struct event e = parse(&(struct event_options){.name = "cs"});
    cr_assert_eq(e.attr.config, PERF_COUNT_SW_CONTEXT_SWITCHES);
    cr_assert(!parse(&(struct event_options){.name = "cgroup-switches"}).attr.exclude_kernel);
    cr_assert(!e.attr.exclude_kernel);
    cr_assert(e.attr.sample_type & PERF_SAMPLE_REGS_USER);
    cr_assert(!(e.attr.sample_type & PERF_SAMPLE_REGS_INTR));
    cr_assert_eq(e.attr.sample_regs_user, 0x1c0);
    cr_assert_str_eq(e.name, "cs");
}

Test(event, tracepoints_by_their_id)
{
    uint64_t id = 0, other = 0;
    if (tracefs_number("events/sched/sched_switch/id", &id) != 0)
        cr_skip_test("tracefs is neither mounted nor may we mount it");
    cr_assert_gt(id, 0);
    cr_assert_eq(tracefs_number("events/sched/sched_wakeup/id", &other), 0);
    cr_assert_neq(id, other);
    cr_assert_eq(tracefs_number("events/sched/no_such_event/id", &other), -ENOENT);
    struct event e = parse(&(struct event_options){.name = "sched:sched_switch", .period = 7});
    cr_assert_str_eq(e.name, "sched:sched_switch");
    cr_assert_eq(e.attr.type, PERF_TYPE_TRACEPOINT);
    cr_assert_eq(e.attr.config, id);
    cr_assert_eq(e.attr.sample_period, 7);
    cr_assert(!e.attr.exclude_kernel);
    cr_assert(e.attr.sample_type & PERF_SAMPLE_REGS_USER);
}

Test(event, breakpoints)
{
    struct event e = parse(&(struct event_options){.name = "mem:0x1234"});
    cr_assert_eq(e.attr.type, PERF_TYPE_BREAKPOINT);
    cr_assert_eq(e.attr.bp_addr, 0x1234);
    cr_assert_eq(e.attr.bp_type, HW_BREAKPOINT_R | HW_BREAKPOINT_W);
    cr_assert_eq(e.attr.bp_len, 4);
    e = parse(&(struct event_options){.name = "mem:0x1230/8:w"});
    cr_assert_eq(e.attr.bp_type, HW_BREAKPOINT_W);
    cr_assert_eq(e.attr.bp_len, 8);
    e = parse(&(struct event_options){.name = "mem:0x1230:x"});
    cr_assert_eq(e.attr.bp_type, HW_BREAKPOINT_X);
    cr_assert_eq(e.attr.bp_len, 8);
    refused(&(struct event_options){.name = "mem:0x1230/3"}, EINVAL, "1, 2, 4 or 8");
    refused(&(struct event_options){.name = "mem:rsp"}, EINVAL, "mem:ADDRESS");
    refused(&(struct event_options){.name = "mem:0x1230:rwx"}, EINVAL, "combined");
}

Test(event, modifiers_and_raw_codes)
{
    struct event_name name;
    struct perf_event_attr attrs[ALIAS_EVENTS];
    cr_assert_eq(event_name_parse(&pmus_here, "r1a8:upp", &name, attrs, NULL), 0);
    cr_assert_eq(attrs[0].type, PERF_TYPE_RAW);
    cr_assert_eq(attrs[0].config, 0x1a8);
    cr_assert_eq(name.precise, 2);
    cr_assert_str_eq(name.text, "r1a8");
    cr_assert_eq(event_name_parse(&pmus_here, "cycles:p", &name, attrs, NULL), 0);
    cr_assert_eq(attrs[0].type, PERF_TYPE_HARDWARE);
    cr_assert_eq(attrs[0].config, PERF_COUNT_HW_CPU_CYCLES);
    cr_assert_eq(name.precise, 1);
    refused(&(struct event_options){.name = "cpu-clock:k"}, EINVAL, "kernel");
    refused(&(struct event_options){.name = "cpu-clock:uk"}, EINVAL, "kernel");
    refused(&(struct event_options){.name = "no-such-event"}, ENOENT, "no event 'no-such-event'");
    refused(&(struct event_options){.name = "sched:no_such_tracepoint"}, ENOENT, "no event");
    refused(&(struct event_options){.name = "../../x:y"}, ENOENT, "no event");
}

Test(event, a_name_that_is_none_offers_near_ones)
{
    refused(&(struct event_options){.name = "cpu-clok"}, ENOENT, "did you mean 'cpu-clock'?");
    refused(&(struct event_options){.name = "paeg-fautls"}, ENOENT, "'page-faults'");
    refused(&(struct event_options){.name = "cache-mises"}, ENOENT, "'cache-misses'");
    refused(&(struct event_options){.name = "Context_Switch"}, ENOENT, "did you mean 'context-switches'?");
    refused(&(struct event_options){.name = "no-such-event"}, ENOENT,
            "there is no event 'no-such-event': 'fathom events'");
    char *names;
    size_t size;
    if (tracefs_read("available_events", &names, &size) != 0)
        return;
    free(names);
    refused(&(struct event_options){.name = "sched:sched_swich"}, ENOENT,
            "did you mean 'sched:sched_switch'");
}

Test(event, distance_of_names)
{
    static const struct {
        const char *a, *b;
        unsigned distance;
    } known[] = {
        {"", "", 0},
        {"a", "", 1},
        {"cycles", "CYCLES", 0},
        {"a-b", "a_b", 0},
        {"cycels", "cycles", 1},
        {"cs", "sc", 1},
        {"kitten", "sitting", 3},
        {"faults", "fault", 1},
        {"abc", "xyz", 3},
        {"ca", "abc", 3}, /* 3, as what was swapped is not changed again */
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        cr_assert_eq(slips_between(known[i].a, known[i].b, true, 10), known[i].distance, "%s", known[i].a);
        cr_assert_eq(slips_between(known[i].b, known[i].a, true, 10), known[i].distance, "%s", known[i].a);
    }
    cr_assert_eq(slips_between("kitten", "sitting", true, 2), 3);
    cr_assert_eq(slips_between("cs", "context-switches", true, 4), 5);
    char longest[200];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    cr_assert_eq(slips_between(longest, longest, true, 5), 6);
}

static void see(void *context, const struct listed_event *event)
{
    unsigned *seen = context;
    struct event made;
    struct fathom_error err = {0};
    cr_assert(*event->group && *event->name && event->description);
    cr_assert_eq(event_parse(&(struct event_options){.name = event->name}, NULL, &made, &err), 0, "%s",
                 err.text);
    *seen |= strcmp(event->name, "cpu-clock") == 0 ? 1u : 0;
    *seen |= strcmp(event->name, "page-faults") == 0 ? 2u : 0;
    *seen |= made.attr.type == PERF_TYPE_HARDWARE ? 4u : 0;
    cr_assert_str_neq(event->name, "dummy");
}

Test(event, what_is_listed_can_be_asked_for)
{
    unsigned seen = 0;
    struct perf_event_attr cycles = {.size = 128, .type = PERF_TYPE_HARDWARE, .exclude_kernel = 1};
    int rc = open_probe(&cycles);
    event_list(&pmus_here, see, &seen);
    cr_assert_eq(seen & 3, 3);
    cr_assert_eq((seen & 4) != 0, rc == 0 || rc == -EACCES || rc == -EPERM);
    uint64_t id;
    if (tracefs_number("events/sched/sched_switch/id", &id) == 0)
        cr_assert_gt(event_list_tracepoints(NULL, NULL), 100);
}

Test(event, rates_that_would_stop_the_machine_are_refused)
{
    refused(&(struct event_options){.name = "cpu-clock", .period = 49999}, EINVAL, "timer interrupt");
    refused(&(struct event_options){.name = "task-clock", .frequency = 20001}, EINVAL, "timer interrupt");
    refused(&(struct event_options){.name = "cpu-clock", .frequency = UINT64_MAX}, EINVAL, "timer interrupt");
    refused(&(struct event_options){.name = "page-faults", .frequency = UINT64_MAX}, EINVAL,
            "max_sample_rate");
    refused(&(struct event_options){.name = "page-faults", .period = 1ULL << 63}, EINVAL, "2^63");
    refused(&(struct event_options){.name = "page-faults", .period = 1, .frequency = 1}, EINVAL, "not both");
    cr_assert_eq(parse(&(struct event_options){.name = "page-faults", .period = 3}).attr.sample_period, 3);
    struct event e = parse(&(struct event_options){.name = "cpu-clock", .frequency = 250});
    cr_assert_eq(e.attr.sample_period, 4000000);
    e = parse(&(struct event_options){.name = "page-faults", .frequency = 100});
    cr_assert(e.attr.freq);
    cr_assert_eq(e.attr.sample_freq, 100);
    cr_assert(e.attr.sample_type & PERF_SAMPLE_PERIOD);
}

Test(event, dumps_and_addresses)
{
    struct event e =
        parse(&(struct event_options){.name = "page-faults", .stack_size = 1001, .data_address = true});
    cr_assert_eq(e.attr.sample_stack_user, 1008);
    cr_assert(e.attr.sample_type & PERF_SAMPLE_STACK_USER);
    cr_assert(e.attr.sample_type & PERF_SAMPLE_REGS_USER);
    cr_assert(e.attr.sample_type & PERF_SAMPLE_REGS_INTR);
    cr_assert(e.attr.sample_type & PERF_SAMPLE_ADDR);
    cr_assert_eq(e.attr.sample_regs_user, 0xff01ff);
    refused(&(struct event_options){.name = "page-faults", .stack_size = 65536}, EINVAL, "too large");

    struct fathom_error err;
    cr_assert_eq(event_audit(10, 32768, &e, &err), 0);
    cr_assert(e.audit);
    cr_assert_eq(e.attr.config, PERF_COUNT_SW_CPU_CLOCK);
    cr_assert_gt(e.attr.sample_period, 100000000u);
    cr_assert_lt(e.attr.sample_period, 104000000u);
    cr_assert_neq(e.attr.sample_period % 1000000, 0u, "in step with nothing");
    cr_assert_eq(e.attr.sample_stack_user, 32768);
    cr_assert_eq(event_audit(100000, 32768, &e, &err), -EINVAL);
    cr_assert_eq(event_audit(0, 32768, &e, &err), -EINVAL);
}

static void count_note(void *context, enum log_level level, const char *text)
{
    *(int *)context += level == LOG_NOTE && strstr(text, "cpu-clock") != NULL;
}

Test(event, the_default_is_cycles_or_an_announced_clock)
{
    int notes = 0;
    struct log log = {count_note, &notes};
    struct event e;
    cr_assert_eq(event_parse(&(struct event_options){0}, &log, &e, NULL), 0);
    if (e.attr.type == PERF_TYPE_HARDWARE)
        cr_assert_eq(notes, 0);
    else {
        cr_assert_str_eq(e.name, "cpu-clock:u");
        cr_assert_eq(notes, 1);
    }
}
