/* event_attr.c - see event_attr.h. */
#include "collector/events/event_attr.h"

#include <errno.h>
#include <inttypes.h>

#include "collector/events/open.h"
#include "perfdata/record.h"
#include "perfdata/stack_record.h"

#define NS UINT64_C(1000000000)
/* A timer interrupt can cost 15 us in a virtual machine: a period below 50 us would leave little time to the
 * program. */
#define CLOCK_PERIOD_MIN UINT64_C(50000)
#define DEFAULT_HZ       1000
/* A record's size is 16 bits wide; this is what the largest set of other fields leaves of it, so that the
 * kernel never shortens a dump below attr.sample_stack_user (kernel/events/core.c, perf_sample_ustack_size).
 */
#define STACK_SIZE_MAX 65280u
#define STACK_ASK_MAX  65528u /* the most that the kernel accepts in the attr */

static uint64_t max_rate(void)
{
    long rate = open_setting("/proc/sys/kernel/perf_event_max_sample_rate", 100000);
    return rate < 1 ? 1 : (uint64_t)rate;
}

bool attr_is_hardware(const struct perf_event_attr *attr)
{
    return attr->type != PERF_TYPE_SOFTWARE && attr->type != PERF_TYPE_TRACEPOINT &&
           attr->type != PERF_TYPE_BREAKPOINT;
}

uint64_t attr_clock_period_min(void)
{
    uint64_t least = NS / max_rate();
    return least < CLOCK_PERIOD_MIN ? CLOCK_PERIOD_MIN : least;
}

uint64_t attr_interval(const struct perf_event_attr *attr)
{
    if (attr_is_clock(attr))
        return attr->sample_period;
    return attr->freq && attr->sample_freq ? NS / attr->sample_freq : 0;
}

int attr_set_clock(const char *name, uint64_t period, uint64_t frequency, struct perf_event_attr *attr,
                   struct fathom_error *err)
{
    uint64_t least = attr_clock_period_min();
    uint64_t asked = period ? period : frequency > NS ? 0 : NS / frequency;
    if (asked < least)
        return error_set(err, EINVAL,
                         "%s cannot be sampled more often than every %" PRIu64 " ns (%" PRIu64
                         " Hz): a timer interrupt can cost 15 us in a virtual machine, and a shorter period "
                         "would leave the CPU no time for anything else",
                         name, least, NS / least);
    attr->sample_period = asked;
    return 0;
}

int attr_set_rate(const char *name, uint64_t period, uint64_t frequency, struct perf_event_attr *attr,
                  struct fathom_error *err)
{
    if (period && frequency)
        return error_set(err, EINVAL, "event '%s': give a period or a frequency, not both", name);
    if (period >> 63)
        return error_set(err, EINVAL, "event '%s': the period %" PRIu64 " is larger than 2^63-1", name,
                         period);
    if (!period && !frequency) {
        if (attr_is_clock(attr) || attr_is_hardware(attr))
            frequency = DEFAULT_HZ;
        else
            period = 1;
    }
    if (attr_is_clock(attr))
        return attr_set_clock(name, period, frequency, attr, err);
    if (period) {
        attr->sample_period = period;
        return 0;
    }
    uint64_t most = max_rate();
    if (frequency > most)
        return error_set(err, EINVAL,
                         "event '%s': %" PRIu64 " Hz is more than this machine allows: "
                         "kernel.perf_event_max_sample_rate is %" PRIu64,
                         name, frequency, most);
    attr->freq = 1;
    attr->sample_freq = frequency;
    attr->sample_type |= PERF_SAMPLE_PERIOD;
    return 0;
}

void attr_set_layout(bool in_kernel, struct perf_event_attr *attr)
{
    attr->size = OPEN_ATTR_SIZE;
    attr->sample_type |= PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
    if (in_kernel) {
        attr->sample_type |= PERF_SAMPLE_REGS_USER;
        attr->sample_regs_user = ATTR_REGISTERS;
    } else {
        attr->sample_type |= PERF_SAMPLE_REGS_INTR;
        attr->sample_regs_intr = ATTR_REGISTERS;
        attr->exclude_kernel = 1;
    }
    attr->exclude_hv = 1;
    attr->exclude_guest = 1;
    attr->sample_id_all = 1;
    attr->disabled = 1;
    attr->inherit = 1;
    attr->watermark = 1;
    attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_LOST;
}

void attr_set_kernel(struct perf_event_attr *attr)
{
    attr->exclude_kernel = 0;
    attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_CALLCHAIN;
    attr->sample_regs_user = ATTR_REGISTERS;
    attr->exclude_callchain_user = 1;
    if (!attr->precise_ip) {
        attr->sample_type &= ~(uint64_t)PERF_SAMPLE_REGS_INTR;
        attr->sample_regs_intr = 0;
    }
}

int attr_set_dump(uint32_t stack_size, struct perf_event_attr *attr, struct fathom_error *err)
{
    if (stack_size > STACK_ASK_MAX)
        return error_set(err, EINVAL, "a stack dump of %u bytes is too large: at most %u fit into a record",
                         stack_size, STACK_ASK_MAX);
    stack_size = (stack_size + 7) & ~7u;
    attr->sample_stack_user = stack_size > STACK_SIZE_MAX ? STACK_SIZE_MAX : stack_size;
    attr->sample_type |= PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_USER;
    attr->sample_regs_user =
        STACK_RECORD_REGISTERS; /* some frames' CFAs depend on registers other than SP and BP */
    return 0;
}
