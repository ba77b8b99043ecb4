/* event_parse.c - the events that an option names; see event.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "collector/events/event.h"
#include "collector/events/event_attr.h"
#include "collector/events/event_name.h"
#include "collector/events/pebs.h"
#include "collector/events/sysfs_event.h"
#include "collector/events/vary.h"

bool event_is_ibs(const struct pmus *pmus, const struct perf_event_attr *attr)
{
    return attr->type == pmus_type(pmus, "ibs_op") || attr->type == pmus_type(pmus, "ibs_fetch");
}

/* An event whose records have the address, latency and source of a load or store: Intel's by their number (umasks with
 * other numbers have none), and IBS. */
static bool is_memory(const struct pmus *pmus, const struct perf_event_attr *attr)
{
    if (attr->type == pmus_type(pmus, "ibs_op"))
        return true;
    bool core = attr->type == PERF_TYPE_RAW || pmus_is_core(pmus, attr->type);
    uint8_t number = attr->config & 0xff;
    return core && attr->precise_ip &&
           (number == 0xcd || (number >= 0xd0 && number <= 0xd4) || (attr->config & 0xffff) == 0x100b);
}

static bool is_load_latency(const struct perf_event_attr *attr)
{
    return attr->type == PERF_TYPE_RAW && (attr->config & 0xffff) == 0x1cd;
}

static void set_data_address(const struct event_options *o, const struct pmus *pmus,
                             struct perf_event_attr *attr)
{
    struct pebs_machine machine;
    if (attr_is_hardware(attr) && (o->data_address || is_memory(pmus, attr))) {
        attr->sample_type |= PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC;
        /* Before Linux 6.0 a weight costs an interrupt for each sample. */
        pebs_machine_for(pmus, attr, &machine);
        if (!o->data_address && !is_load_latency(attr) && attr->precise_ip && !machine.weights)
            attr->sample_type &= ~(uint64_t)PERF_SAMPLE_WEIGHT;
    } else if (o->data_address &&
               (attr->type == PERF_TYPE_BREAKPOINT ||
                (attr->type == PERF_TYPE_SOFTWARE && (attr->config == PERF_COUNT_SW_PAGE_FAULTS ||
                                                      attr->config == PERF_COUNT_SW_PAGE_FAULTS_MIN ||
                                                      attr->config == PERF_COUNT_SW_PAGE_FAULTS_MAJ))))
        attr->sample_type |= PERF_SAMPLE_ADDR;
}

/* The kernel passes "cycles:p" to IBS; with the real name its samples are recognised as IBS samples. */
static void take_ibs_cycles(const struct pmus *pmus, const struct log *log, struct perf_event_attr *attr)
{
    long type = pmus_type(pmus, "ibs_op");
    if (type < 0 || !attr->precise_ip || attr->type != PERF_TYPE_HARDWARE ||
        attr->config != PERF_COUNT_HW_CPU_CYCLES)
        return;
    log_write(log, LOG_NOTE, "precise cycles are ibs_op// on this CPU");
    attr->type = (__u32)type;
    attr->config = 0;
    attr->precise_ip = 0;
}

/* IBS: SP and BP are those at the interrupt, which comes after the sampled instruction; only the IP in the
 * call chain is from that moment. Its counter uses multiples of 16, and it can sample user code alone only
 * with a filter in the kernel (Linux 6.14). */
static void set_ibs(const struct pmus *pmus, const char *name, const struct log *log,
                    struct perf_event_attr *attr)
{
    struct perf_event_attr filter = {0};
    const bool kernel = !attr->exclude_kernel;
    attr->precise_ip = 0;
    attr->exclude_guest = 0;
    attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
    attr->exclude_callchain_kernel = !kernel;
    attr->exclude_callchain_user = 0;
    attr->sample_max_stack = 1;
    if (!kernel && sysfs_event_parse(
                       pmus, attr->type == pmus_type(pmus, "ibs_op") ? "ibs_op/swfilt/" : "ibs_fetch/swfilt/",
                       &filter, NULL) == 0) {
        attr->config2 |= filter.config2;
    } else {
        attr->exclude_kernel = attr->exclude_hv = 0;
        attr->sample_type &= ~(uint64_t)PERF_SAMPLE_REGS_INTR;
        attr->sample_type |= PERF_SAMPLE_REGS_USER;
        attr->sample_regs_user = ATTR_REGISTERS;
        attr->sample_regs_intr = 0;
    }
    if (attr->freq || attr->sample_period % 16 == 0)
        return;
    uint64_t period = attr->sample_period < 16 ? 16 : attr->sample_period & ~UINT64_C(15);
    log_write(log, LOG_NOTE, "event %s: the period is %" PRIu64 ", as IBS has only multiples of 16", name,
              period);
    attr->sample_period = period;
}

/* Lowers precise_ip to what the CPU supports; a message tells so if it was asked for. */
static void settle_precision(const char *name, const struct pmus *pmus, const struct log *log,
                             struct perf_event_attr *attr)
{
    unsigned asked = attr->precise_ip;
    struct perf_event_attr tried = *attr;
    int rc = pmus->probe(&tried);
    while ((rc == -EINVAL || rc == -EOPNOTSUPP || rc == -ENOENT) && tried.precise_ip > 0) {
        tried.precise_ip--;
        rc = pmus->probe(&tried);
    }
    if (rc == -EINVAL || rc == -EOPNOTSUPP || rc == -ENOENT) {
        attr->precise_ip = 0;
        return; /* refused at every level: not because of the precision */
    }
    attr->precise_ip = tried.precise_ip;
    if (tried.precise_ip < asked)
        log_write(log, LOG_NOTE, "event %s: precise level %u is not available, using level %u%s", name, asked,
                  (unsigned)tried.precise_ip,
                  tried.precise_ip ? "" : ": samples can be some instructions late");
}

static void set_name(const struct event_name *name, const struct perf_event_attr *attr, struct event *event)
{
    static const char precise[] = "ppp";
    snprintf(event->name, sizeof event->name, "%.100s%s%.*s", name->text,
             attr->exclude_kernel ? ":u"
             : attr->precise_ip   ? ":"
                                  : "",
             (int)attr->precise_ip, precise);
}

/* For cycles, or equally frequent events: a thousand samples a second at 2 GHz. */
#define BATCH_PERIOD 2000003

/* A name being parsed, with the options for it. */
struct making {
    const struct event_options *options;
    const struct pmus *pmus;
    const struct log *log;
    struct event_name name;
};

static int make_event(const struct making *m, const struct perf_event_attr *code, struct event *event,
                      struct fathom_error *err)
{
    const struct event_options *o = m->options;
    const struct event_name *name = &m->name;
    struct event made = {.attr = *code};
    attr_set_layout(name->in_kernel, &made.attr);
    made.attr.precise_ip = name->precise & 3;
    uint64_t period = o->period, frequency = o->frequency;
    if (!period && !frequency) {
        period = name->alias.alias ? name->alias.events[0].period : name->period;
        frequency = name->frequency;
    }
    if (o->batches && !period && !frequency && attr_is_hardware(&made.attr))
        period = BATCH_PERIOD;
    int rc = attr_set_rate(name->text, period, frequency, &made.attr, err);
    if (rc == 0 && o->stack_size)
        rc = attr_set_dump(o->stack_size, &made.attr, err);
    if (rc)
        return rc;
    take_ibs_cycles(m->pmus, m->log, &made.attr);
    if (o->kernel)
        attr_set_kernel(&made.attr);
    set_data_address(o, m->pmus, &made.attr);
    if (event_is_ibs(m->pmus, &made.attr))
        set_ibs(m->pmus, name->text, m->log, &made.attr);
    if (attr_is_hardware(&made.attr) && vary_is(&made.attr))
        made.attr.sample_type |= PERF_SAMPLE_PERIOD;
    if (made.attr.precise_ip)
        settle_precision(name->text, m->pmus, m->log, &made.attr);
    set_name(name, &made.attr, &made);
    *event = made;
    return 0;
}

/* Sapphire Rapids and Alder Lake count load latency only with another event ahead of it in its group
 * (arch/x86/events/intel/core.c, intel_pmu_hw_config). */
static bool make_helper(const struct pmus *pmus, const struct event *of, struct event *event)
{
    const char *pmu = pmus_type(pmus, PMUS_CORE) >= 0 ? PMUS_CORE : "cpu";
    char text[64];
    struct event made = {.helper = true};
    if (!is_load_latency(&of->attr) || !(of->attr.sample_type & PERF_SAMPLE_DATA_SRC) ||
        !pmus_has(pmus, pmu, "events/mem-loads-aux"))
        return false;
    snprintf(text, sizeof text, "%s/mem-loads-aux/", pmu);
    if (sysfs_event_parse(pmus, text, &made.attr, NULL) != 0)
        return false;
    attr_set_layout(false, &made.attr);
    made.attr.sample_type &= ~(uint64_t)PERF_SAMPLE_REGS_INTR;
    made.attr.sample_regs_intr = 0;
    snprintf(made.name, sizeof made.name, "mem-loads-aux:u");
    *event = made;
    return true;
}

/* Without counters, an alias for what counters count becomes a clock. */
static int without_counters(struct making *m, struct perf_event_attr attrs[ALIAS_EVENTS],
                            struct event_options *clock, struct fathom_error *err)
{
    char name[sizeof m->name.text];
    const struct event_options *o = m->options;
    snprintf(name, sizeof name, "%s", m->name.text);
    log_write(m->log, LOG_WARNING,
              "this machine has no hardware counters (in a virtual machine: they are not passed on), so "
              "event %s is "
              "cpu-clock: the recording tells where time goes%s",
              name, o->period ? ", and the period is not used" : "");
    *clock = *o;
    clock->period = 0;
    m->options = clock;
    return event_name_parse(m->pmus, "cpu-clock", &m->name, attrs, err);
}

static void tell_alias(const struct making *m)
{
    const struct alias_match *match = &m->name.alias;
    for (size_t i = 0; match->alias && i < match->count; i++) {
        const struct alias_event *event = &match->events[i];
        if (event->caveat)
            log_write(m->log, LOG_WARNING, "event %s is %s, which %s", m->name.text, event->text,
                      event->caveat);
        else if (strcmp(event->text, m->name.text) != 0)
            log_write(m->log, LOG_NOTE, "event %s is %s", m->name.text, event->text);
    }
}

/* All events that one name stands for. */
static int parse_one(struct making *m, const char *text, uint8_t group, struct event events[EVENT_PARSED],
                     size_t *count, struct fathom_error *err)
{
    struct perf_event_attr attrs[ALIAS_EVENTS];
    struct event_options clock;
    int rc = event_name_parse(m->pmus, text, &m->name, attrs, err);
    if (rc == 0 && m->name.alias.alias && (!m->name.kinds || attr_is_hardware(&attrs[0])) &&
        !pmus_counters(m->pmus))
        rc = without_counters(m, attrs, &clock, err);
    if (rc)
        return rc;
    if (!m->name.kinds)
        return error_set(
            err, ENOENT,
            "this CPU has no event for '%s', or libpfm4 does not know the CPU: 'fathom events' shows what "
            "can be sampled here",
            m->name.text);
    if (m->name.precise > 3)
        return error_set(err, EINVAL, "event '%s': a precise level above 3 (':ppp') does not exist",
                         m->name.text);
    tell_alias(m);
    for (size_t i = 0; i < m->name.kinds; i++) {
        if (*count + 2 > EVENT_PARSED)
            return error_set(err, EINVAL, "too many events: at most %d can be recorded at a time",
                             EVENT_PARSED - 1);
        struct event *event = &events[*count];
        rc = make_event(m, &attrs[i], event, err);
        if (rc)
            return rc;
        event->group = group;
        event->partial = m->name.kinds > 1;
        ++*count;
        if (make_helper(m->pmus, event, event + 1)) {
            if (!event->group)
                event->group = (uint8_t)(UINT8_MAX - *count);
            event[1].group = event->group;
            event[1].partial = event->partial;
            ++*count;
        }
    }
    return 0;
}

/* cycles, as precise as the CPU supports; -ENOENT if there is no counter at all. */
static int default_cycles(struct making *m, struct event events[EVENT_PARSED], size_t *count,
                          struct fathom_error *err)
{
    struct perf_event_attr attrs[ALIAS_EVENTS];
    if (event_name_parse(m->pmus, "cycles", &m->name, attrs, NULL) != 0 || !m->name.kinds)
        return -ENOENT;
    /* IBS and samples in the kernel interrupt at each: then stacks may as well be compared. */
    m->name.precise = m->options->kernel || pmus_type(m->pmus, "ibs_op") >= 0 ? 0 : 3;
    for (size_t i = 0; i < m->name.kinds; i++) {
        int rc = make_event(m, &attrs[i], &events[i], err);
        if (rc)
            return rc;
        events[i].partial = m->name.kinds > 1;
        rc = m->pmus->probe(&events[i].attr);
        if (rc == -ENOENT || rc == -EOPNOTSUPP || rc == -ENODEV || rc == -EINVAL)
            return -ENOENT;
    }
    *count = m->name.kinds; /* a lack of permission is reported when the event is opened for its process */
    return 0;
}

/* Takes the next name off the list *text: up to a comma outside of a PMU's terms. *group: number of its
 * group, 0: none; *groups: number of groups so far. */
static int next_name(const char **text, char *out, size_t size, uint8_t *group, uint8_t *groups,
                     struct fathom_error *err)
{
    const char *at = *text;
    bool terms = false;
    size_t used = 0;
    if (*at == '{') {
        if (*group)
            return error_set(err, EINVAL, "events '%s': a group cannot hold another", *text);
        *group = ++*groups;
        at++;
    }
    for (; *at && (terms || (*at != ',' && *at != '}')); at++) {
        terms ^= *at == '/';
        if (used + 1 >= size)
            return error_set(err, EINVAL, "the event name is longer than %zu bytes", size - 1);
        out[used++] = *at;
    }
    out[used] = '\0';
    if (used == 0)
        return error_set(err, EINVAL, "the list of events lacks a name at '%s'", *text);
    *text = at;
    return 0;
}

/* What follows a name: a comma, the end of a group, or nothing. */
static int next_mark(const char **text, uint8_t *group, struct fathom_error *err)
{
    if (**text == '}') {
        if (!*group)
            return error_set(err, EINVAL, "the list of events has a '}' without a '{'");
        *group = 0;
        ++*text;
    } else if (!**text && *group)
        return error_set(err, EINVAL, "the list of events has a '{' without a '}'");
    if (!**text)
        return 0;
    if (**text != ',' || !(*text)[1])
        return error_set(err, EINVAL, "the list of events lacks a %s at '%s'",
                         **text == ',' ? "name" : "comma", *text);
    ++*text;
    return 0;
}

static int parse_list(struct making *m, const char *text, struct event events[EVENT_PARSED], size_t *count,
                      struct fathom_error *err)
{
    const struct event_options *options = m->options;
    uint8_t group = 0, groups = 0;
    int rc = 0;
    while (rc == 0 && *text) {
        char name[128];
        rc = next_name(&text, name, sizeof name, &group, &groups, err);
        m->options = options;
        if (rc == 0)
            rc = parse_one(m, name, group, events, count, err);
        if (rc == 0)
            rc = next_mark(&text, &group, err);
    }
    return rc;
}

int events_parse(const struct event_options *options, const struct log *log,
                 struct event events[EVENT_PARSED], size_t *count, struct fathom_error *err)
{
    struct making m = {.options = options, .pmus = options->pmus ? options->pmus : &pmus_here, .log = log};
    const char *name = options->name;
    struct event made[EVENT_PARSED] = {0};
    size_t made_count = 0;
    int rc = -ENOENT;
    if (name && !*name)
        return error_set(err, EINVAL, "the event has no name");
    if (!name) {
        rc = default_cycles(&m, made, &made_count, err);
        if (rc == -ENOENT)
            log_write(log, LOG_NOTE,
                      "this machine has no hardware counter for cycles: the event is cpu-clock (a timer)");
    }
    if (name || rc == -ENOENT)
        rc = parse_list(&m, name ? name : "cpu-clock", made, &made_count, err);
    if (rc)
        return rc;
    memcpy(events, made, sizeof made);
    *count = made_count;
    return 0;
}

int event_parse(const struct event_options *options, const struct log *log, struct event *event,
                struct fathom_error *err)
{
    struct event events[EVENT_PARSED];
    size_t count;
    int rc = events_parse(options, log, events, &count, err);
    if (rc == 0)
        *event = events[0];
    return rc;
}
