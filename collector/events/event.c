/*
 * event.c - turns an event's name into a perf_event_attr; see event.h.
 *
 * All our events have this layout: one sample is IDENTIFIER, IP, TID, TIME and three
 * registers, 72 bytes with its header. The registers are those at the interrupt; only an event that fires
 * inside the kernel (a tracepoint, a context switch) has the user's registers instead.
 */
#include "collector/events/event.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/events/event_name.h"
#include "collector/events/open.h"

/* PERF_REG_X86_BP, _SP and _IP (arch/x86/include/uapi/asm/perf_regs.h) */
#define REGS_MASK (1ULL << 6 | 1ULL << 7 | 1ULL << 8)
#define NS        UINT64_C(1000000000)
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

static bool is_hardware(const struct perf_event_attr *attr)
{
    return attr->type != PERF_TYPE_SOFTWARE && attr->type != PERF_TYPE_TRACEPOINT &&
           attr->type != PERF_TYPE_BREAKPOINT;
}

static uint64_t clock_period_min(void)
{
    uint64_t least = NS / max_rate();
    return least < CLOCK_PERIOD_MIN ? CLOCK_PERIOD_MIN : least;
}

/* A clock gets a fixed period in ns: the kernel converts a frequency the same way. */
static int set_clock_rate(const char *name, uint64_t period, uint64_t frequency, struct perf_event_attr *attr,
                          struct fathom_error *err)
{
    uint64_t least = clock_period_min();
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

static int set_rate(const char *name, uint64_t period, uint64_t frequency, struct perf_event_attr *attr,
                    struct fathom_error *err)
{
    if (period && frequency)
        return error_set(err, EINVAL, "event '%s': give a period or a frequency, not both", name);
    if (period >> 63)
        return error_set(err, EINVAL, "event '%s': the period %" PRIu64 " is larger than 2^63-1", name,
                         period);
    if (!period && !frequency) {
        bool cycles = attr->type == PERF_TYPE_HARDWARE && attr->config == PERF_COUNT_HW_CPU_CYCLES;
        if (attr_is_clock(attr) || cycles)
            frequency = DEFAULT_HZ;
        else
            period = 1;
    }
    if (attr_is_clock(attr))
        return set_clock_rate(name, period, frequency, attr, err);
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

/* The fields that all our events share. in_kernel: the event fires in kernel mode. */
static void set_layout(bool in_kernel, struct perf_event_attr *attr)
{
    attr->size = OPEN_ATTR_SIZE;
    attr->sample_type |= PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
    if (in_kernel) {
        attr->sample_type |= PERF_SAMPLE_REGS_USER;
        attr->sample_regs_user = REGS_MASK;
    } else {
        attr->sample_type |= PERF_SAMPLE_REGS_INTR;
        attr->sample_regs_intr = REGS_MASK;
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

/* The kernel takes the dump's start from the user registers, so they must be sampled as well. */
static int set_dump(uint32_t stack_size, struct perf_event_attr *attr, struct fathom_error *err)
{
    if (stack_size > STACK_ASK_MAX)
        return error_set(err, EINVAL, "a stack dump of %u bytes is too large: at most %u fit into a record",
                         stack_size, STACK_ASK_MAX);
    stack_size = (stack_size + 7) & ~7u;
    attr->sample_stack_user = stack_size > STACK_SIZE_MAX ? STACK_SIZE_MAX : stack_size;
    attr->sample_type |= PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_USER;
    attr->sample_regs_user = REGS_MASK;
    return 0;
}

static void set_data_address(struct perf_event_attr *attr)
{
    if (is_hardware(attr))
        attr->sample_type |= PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC;
    else if (attr->type == PERF_TYPE_BREAKPOINT ||
             (attr->type == PERF_TYPE_SOFTWARE &&
              (attr->config == PERF_COUNT_SW_PAGE_FAULTS || attr->config == PERF_COUNT_SW_PAGE_FAULTS_MIN ||
               attr->config == PERF_COUNT_SW_PAGE_FAULTS_MAJ)))
        attr->sample_type |= PERF_SAMPLE_ADDR;
}

/* Lowers precise_ip to what the CPU supports. Returns the kernel's final answer. */
static int settle_precision(const char *name, const struct log *log, struct perf_event_attr *attr)
{
    unsigned asked = attr->precise_ip;
    int rc = open_probe(attr);
    while ((rc == -EINVAL || rc == -EOPNOTSUPP || rc == -ENOENT) && attr->precise_ip > 0) {
        attr->precise_ip--;
        rc = open_probe(attr);
    }
    if (rc == 0 && attr->precise_ip < asked)
        log_write(log, LOG_NOTE, "event %s: precise level %u is not available, using level %u", name, asked,
                  (unsigned)attr->precise_ip);
    return rc;
}

static void set_name(const struct event_name *name, struct event *event)
{
    static const char precise[] = "ppp";
    snprintf(event->name, sizeof event->name, "%.100s%s%.*s", name->text, name->in_kernel ? "" : ":u",
             name->in_kernel ? 0 : (int)event->attr.precise_ip, precise);
}

/* cycles, as precise as the CPU supports; -ENOENT if there is no counter at all. */
static int default_cycles(const struct event_options *options, const struct log *log, struct event *event,
                          struct fathom_error *err)
{
    struct event_name name = {.text = "cycles"};
    struct event made = {.attr = {.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES}};
    set_layout(false, &made.attr);
    made.attr.precise_ip = 3;
    int rc = set_rate(name.text, options->period, options->frequency, &made.attr, err);
    if (rc == 0 && options->stack_size)
        rc = set_dump(options->stack_size, &made.attr, err);
    if (rc)
        return rc;
    if (options->data_address)
        set_data_address(&made.attr);
    rc = settle_precision(name.text, log, &made.attr);
    if (rc == -ENOENT || rc == -EOPNOTSUPP || rc == -ENODEV || rc == -EINVAL)
        return -ENOENT;
    set_name(&name, &made);
    *event = made; /* a lack of permission is reported when the event is opened for its process */
    return 0;
}

int event_parse(const struct event_options *options, const struct log *log, struct event *event,
                struct fathom_error *err)
{
    struct event_name name;
    struct event made = {0};
    int rc;
    if (!options->name) {
        rc = default_cycles(options, log, event, err);
        if (rc != -ENOENT)
            return rc;
        log_write(log, LOG_NOTE,
                  "this machine has no hardware counter for cycles: the event is cpu-clock (a timer)");
    }
    rc = event_name_parse(options->name ? options->name : "cpu-clock", &name, &made.attr, err);
    if (rc)
        return rc;
    set_layout(name.in_kernel, &made.attr);
    if (name.precise > 3)
        return error_set(err, EINVAL, "event '%s': a precise level above 3 (':ppp') does not exist",
                         name.text);
    made.attr.precise_ip = name.precise & 3;
    uint64_t period = options->period, frequency = options->frequency;
    if (!period && !frequency) {
        period = name.period;
        frequency = name.frequency;
    }
    rc = set_rate(name.text, period, frequency, &made.attr, err);
    if (rc == 0 && options->stack_size)
        rc = set_dump(options->stack_size, &made.attr, err);
    if (rc)
        return rc;
    if (options->data_address)
        set_data_address(&made.attr);
    if (made.attr.precise_ip)
        settle_precision(name.text, log, &made.attr);
    set_name(&name, &made);
    *event = made;
    return 0;
}

void event_tasks(struct event *event)
{
    struct event made = {.attr = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY},
                         .name = "dummy:u"};
    set_layout(false, &made.attr);
    made.attr.sample_period = 1;
    *event = made;
}

enum verify_where event_verifiable(const struct perf_event_attr *attr)
{
    bool user = attr->exclude_kernel && attr->sample_type & PERF_SAMPLE_REGS_INTR;
    if (attr->precise_ip)
        return VERIFY_NOWHERE;
    if (attr->type ==
        PERF_TYPE_TRACEPOINT) /* the program runs at each: its records would be without a sample */
        return attr->sample_period == 1 && !attr->freq ? VERIFY_TRACEPOINT : VERIFY_NOWHERE;
    if (attr->type == PERF_TYPE_SOFTWARE)
        return user ? VERIFY_USER : VERIFY_KERNEL;
    bool hardware =
        attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE || attr->type == PERF_TYPE_RAW;
    return user && (hardware || attr->type == PERF_TYPE_BREAKPOINT) ? VERIFY_USER : VERIFY_NOWHERE;
}

void event_stacks(struct event *event)
{
    struct event made = {.attr = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_BPF_OUTPUT},
                         .name = EVENT_STACKS_NAME,
                         .stacks = true};
    set_layout(true, &made.attr);
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
    set_layout(false, &made.attr);
    int rc = set_clock_rate("the audit clock", 0, hz, &made.attr, err);
    made.attr.sample_period = not_in_lockstep(made.attr.sample_period);
    if (rc == 0)
        rc = set_dump(stack_size, &made.attr, err);
    if (rc)
        return rc;
    *event = made;
    return 0;
}

uint64_t event_audit_period(double hz)
{
    double period = (double)NS / hz, least = (double)clock_period_min();
    return not_in_lockstep(period < least  ? (uint64_t)least
                           : period > 1e18 ? UINT64_C(1) << 60
                                           : (uint64_t)period);
}
