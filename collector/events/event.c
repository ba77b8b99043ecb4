/* event.c - the events that a collection needs besides those that were asked for; see event.h. */
#include "collector/events/event.h"

#include <errno.h>

#include "collector/events/event_attr.h"

#define NS UINT64_C(1000000000)

void event_tasks(struct event *event)
{
    struct event made = {.attr = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY},
                         .name = "dummy:u"};
    attr_set_layout(false, &made.attr);
    made.attr.sample_period = 1;
    *event = made;
}

/* PERF_REG_X86_CS: a register that no record of the CPU has, so that the kernel reads each one by an interrupt
 * (arch/x86/events/intel/core.c, intel_pmu_large_pebs_flags). */
#define REGISTER_CS (UINT64_C(1) << 10)

void event_interrupts(struct event *event)
{
    event->attr.sample_regs_intr |= REGISTER_CS;
}

void event_stacks(struct event *event)
{
    struct event made = {.attr = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_BPF_OUTPUT},
                         .name = EVENT_STACKS_NAME,
                         .stacks = true};
    attr_set_layout(true, &made.attr);
    made.attr.sample_type &= ~((uint64_t)PERF_SAMPLE_REGS_USER | PERF_SAMPLE_REGS_INTR);
    made.attr.sample_type |= PERF_SAMPLE_RAW;
    made.attr.sample_regs_user = made.attr.sample_regs_intr = 0;
    made.attr.sample_period = 1;
    made.attr.inherit = 0;
    *event = made;
}

/* A little slower than requested, so that it does not run in lockstep with the main event or with a program that does
 * the same every 10 ms. */
static uint64_t not_in_lockstep(uint64_t period)
{
    return period + period / 37;
}

int event_audit(uint64_t hz, uint32_t stack_size, struct event *event, struct fathom_error *err)
{
    struct event made = {.attr = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK},
                         .name = EVENT_AUDIT_NAME,
                         .audit = true};
    if (hz == 0 || stack_size == 0)
        return error_set(err, EINVAL, "audit samples need a frequency and a dump size above 0");
    attr_set_layout(false, &made.attr);
    int rc = attr_set_clock("the audit clock", 0, hz, &made.attr, err);
    made.attr.sample_period = not_in_lockstep(made.attr.sample_period);
    if (rc == 0)
        rc = attr_set_dump(stack_size, &made.attr, err);
    if (rc)
        return rc;
    *event = made;
    return 0;
}

uint64_t event_audit_period(double hz)
{
    double period = (double)NS / hz, least = (double)attr_clock_period_min();
    return not_in_lockstep(period < least  ? (uint64_t)least
                           : period > 1e18 ? UINT64_C(1) << 60
                                           : (uint64_t)period);
}
