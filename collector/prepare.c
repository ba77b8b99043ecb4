/* prepare.c - chooses a collection's events; see collector_data.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "collector/events/event_attr.h"
#include "collector/events/fields.h"
#include "collector/events/remedy.h"
#include "collector/collector_data.h"
#include "collector/events/open.h"
#include "collector/events/pebs.h"
#include "collector/probes/probes.h"
#include "collector/verify/kernel_interrupts.h"
#include "perfdata/latency.h"
#include "perfdata/heap_event.h"

static const struct pmus *pmus_of(const struct collector *c)
{
    return c->options->event.pmus ? c->options->event.pmus : &pmus_here;
}

/* Why the event is not sampled in batches. NULL: it is. */
static const char *refusal_of(const struct collector *c, const struct perf_event_attr *attr)
{
    struct pebs_machine machine;
    pebs_machine_for(pmus_of(c), attr, &machine);
    return pebs_refusal(attr, &machine);
}

/* The first precise event that causes an interrupt for each sample. NULL: none; *reason: why it does. */
static const struct event *find_interrupting(const struct collector *c, const char **reason)
{
    for (size_t i = 0; i < c->asked; i++) {
        *reason = c->events[i].attr.precise_ip ? refusal_of(c, &c->events[i].attr) : NULL;
        if (*reason)
            return &c->events[i];
    }
    return NULL;
}

/* A precise event is cheap only in batches: always report whether it gets them, unless its stacks are to be
 * compared, which needs an interrupt. An event that does not qualify ends the batches of all on its CPU
 * (arch/x86/events/intel/ds.c, pebs_needs_sched_cb). */
static void tell_batching(struct collector *c)
{
    const struct log *log = c->options->log;
    struct pebs_machine machine;
    const char *reason;
    const enum log_level asked = c->options->event.batches ? LOG_WARNING : LOG_NOTE;
    pebs_machine_of(pmus_of(c), &machine);
    if (c->options->event.batches && !machine.max_precise)
        log_write(log, LOG_WARNING,
                  "this CPU has no PEBS: --passive has no batches here, each sample interrupts the program");
    const struct event *first = machine.max_precise ? find_interrupting(c, &reason) : NULL;
    for (size_t i = 0; i < c->asked && machine.max_precise; i++) {
        struct event *event = &c->events[i];
        const char *own = event->attr.precise_ip ? refusal_of(c, &event->attr) : NULL;
        event->batched = event->attr.precise_ip && !own;
        if (!event->attr.precise_ip || (i && strcmp(event->name, c->events[i - 1].name) == 0))
            continue;
        if (event->followed)
            log_write(
                log, LOG_NOTE,
                "event %s interrupts the program at each sample, whose stack is compared (--passive: in "
                "batches, and paths are inferred)",
                event->name);
        else if (own)
            log_write(log, asked, "event %s interrupts the program at each sample: %s", event->name, own);
        else if (first)
            log_write(log, asked,
                      "event %s interrupts the program at each sample, as event %s beside it does",
                      event->name, first->name);
        else
            log_write(log, LOG_NOTE, "event %s is sampled in batches, without an interrupt each (large PEBS)",
                      event->name);
    }
}

/* Reports the cost of samples in the kernel. */
static void tell_kernel(const struct collector *c)
{
    const struct event *hardware = NULL;
    for (size_t i = 0; i < c->asked && !hardware; i++)
        hardware = attr_is_hardware(&c->events[i].attr) ? &c->events[i] : NULL;
    log_write(
        c->options->log, LOG_NOTE,
        "samples in the kernel are added (--kernel), each larger by 8 bytes for every function there on its "
        "path%s%s%s",
        hardware ? "; event " : "", hardware ? hardware->name : "",
        hardware ? " interrupts the program at each sample, as batches of a precise one (large PEBS) have no "
                   "registers from outside the kernel"
                 : "");
}

/* Sampling by CPU interrupts all programs: a program that is not recorded takes 1.5% more CPU time at 1 kHz
 * and 16% at 10 kHz, measured in a virtual machine. The former is acceptable by default. */
#define BY_CPU_PERIOD 1000000u /* ns, at least */

static void choose_scope(struct collector *c)
{
    enum collector_scope scope = c->options->scope;
    bool slow = true;
    for (size_t i = 0; i < c->asked; i++)
        slow &= attr_is_clock(&c->events[i].attr) && c->events[i].attr.sample_period >= BY_CPU_PERIOD;
    c->by_cpu =
        c->wide || scope == COLLECT_BY_CPU ||
        (scope == COLLECT_BY_CPU_IF_ALLOWED && slow && open_probe_for(&c->events[0].attr, -1, 0) == 0);
    for (size_t i = 0; i < c->asked && c->by_cpu; i++)
        c->events[i].attr.inherit = 0;
}

/* Reports why stacks are not compared, and what is done instead. */
static void tell_way(const struct collector *c, const char *reason)
{
    enum log_level level = c->options->verify.wish == VERIFY_ASKED ? LOG_WARNING : LOG_NOTE;
    if (c->options->audit_hz)
        log_write(c->options->log, level, "stacks are read by a clock, as %s: paths are partly inferred",
                  reason);
    else
        log_write(c->options->log, level, "stacks are not read, as %s: paths are inferred", reason);
}

static void tell_refusal(const struct collector *c, int rc, const struct fathom_error *why)
{
    char reason[sizeof why->text + 64];
    snprintf(reason, sizeof reason, "the BPF program that compares them does not load (%s)", why->text);
    tell_way(c, rc == -EPERM || rc == -EACCES
                    ? "the BPF program that compares them may not be loaded (" REMEDY_PROGRAM ")"
                    : reason);
}

static void tell_unfollowed(const struct collector *c, const struct event *event)
{
    char reason[sizeof event->name + 100];
    const char *remedy = event->attr.type == PERF_TYPE_TRACEPOINT &&
                                 verify_where_of(pmus_of(c), &event->attr) == VERIFY_NOWHERE
                             ? " unless each is sampled (-c 1, which is the default)"
                             : "";
    snprintf(reason, sizeof reason, "those of event %s cannot be compared%s", event->name, remedy);
    if (!c->verify)
        tell_way(c, reason);
    else
        log_write(c->options->log, LOG_NOTE,
                  "the stacks of event %s are not compared, but those of other events are: its paths are "
                  "inferred from "
                  "them",
                  event->name);
}

/* Dynamic tracepoints, such as those of perf probe, take another type of program than the kernel's own. */
static enum verify_where where_of(const struct collector *c, const struct event *event)
{
    const enum verify_where where = verify_where_of(pmus_of(c), &event->attr);
    return where == VERIFY_TRACEPOINT && fields_of_probe(event) ? VERIFY_PROBE : where;
}

/* Whether an event's samples mark the beginnings of calls: the paths are recorded where the calls end. */
static bool has_no_paths(const struct event *event)
{
    return event->helper || latency_event_of(&event->attr) == LATENCY_ENTERED;
}

/* The BPF program follows all events of the first kind present: each kind needs a program of its own. */
static enum verify_where choose_followed(struct collector *c)
{
    enum verify_where where = VERIFY_NOWHERE;
    for (size_t i = 0; i < c->asked; i++) {
        struct event *event = &c->events[i];
        enum verify_where here = has_no_paths(event) || event->filter ? VERIFY_NOWHERE : where_of(c, event);
        where = where == VERIFY_NOWHERE ? here : where;
        event->followed = where != VERIFY_NOWHERE && here == where;
    }
    return where;
}

/* Whether the program runs wherever the event happens, not only for what is sampled. */
static bool runs_for_all(enum verify_where where)
{
    return where == VERIFY_TRACEPOINT || where == VERIFY_PROBE;
}

/* A wakeup costs the program 13 us (a record 1), and us as much. But until a stack is added to the known
 * ones, further samples with it write it again. */
#define WAKE_SAMPLES  4
#define WAKE_LEAST_NS 400000u
#define WAKE_MOST_NS  40000000u

/* How often a new stack may wake us, ns: in this time a CPU hardly has more samples with it than can be read
 * at once. */
static uint64_t wake_of(const struct collector *c)
{
    uint64_t least = WAKE_MOST_NS;
    for (size_t i = 0; i < c->asked; i++) {
        const uint64_t samples = WAKE_SAMPLES * attr_interval(&c->events[i].attr);
        if (c->events[i].followed && samples < least)
            least = samples;
    }
    return least < WAKE_LEAST_NS ? WAKE_LEAST_NS : least;
}

/* Loads the program for the followed events, and makes precise events interrupt at each record. */
static int load_program(struct collector *c, struct verify_options *options, struct fathom_error *why)
{
    options->one_user = c->options->one_user;
    options->user = c->options->user;
    /* A tracepoint's program that drops samples also drops those of other recorders. */
    c->filtered = c->cgroup.fd >= 0 && !runs_for_all(options->where) &&
                  cgroup_number(&c->cgroup, &options->cgroup, &options->level);
    if (!c->filtered)
        options->cgroup = 0;
    if (c->wide)
        options->follow = c->cgroup.fd >= 0 ? VERIFY_WITHIN : VERIFY_EVERYONE;
    else if (c->by_cpu)
        options->follow = c->options->tid_count ? VERIFY_TIDS : VERIFY_PIDS;
    else /* a tracepoint's program runs for all processes */
        options->follow = runs_for_all(options->where) ? VERIFY_TIDS : VERIFY_ALL;
    if (options->waits && options->follow == VERIFY_ALL)
        options->follow = VERIFY_TIDS; /* the program at the scheduler's tracepoints runs for all */
    if (options->waits && options->follow == VERIFY_WITHIN && !c->filtered)
        return error_set(
            why, ENOTSUP,
            "those of a cgroup cannot be told apart where the event is a tracepoint, or groups are "
            "not those of cgroup v2");
    options->wake_ns = wake_of(c);
    int rc = verify_new(options, &c->verify, why);
    for (size_t i = 0; rc == 0 && options->where == VERIFY_PRECISE && i < c->asked; i++) {
        struct event *event = &c->events[i];
        if (!event->followed)
            continue;
        if (!refusal_of(c, &event->attr))
            event_interrupts(event);
        rc = open_with_program(&event->attr, verify_program(c->verify));
        if (rc == -ENOENT && event->partial)
            rc = 0; /* this CPU has the other kind */
        if (rc < 0)
            error_system(why, -rc, "the kernel takes no BPF program on event %s", event->name);
    }
    if (rc == 0)
        return 0;
    verify_free(c->verify);
    c->verify = NULL;
    return rc;
}

/* Uses less precise cycles instead of the default event: the stack at the interrupt is that of the sample. */
static int take_plain_cycles(struct collector *c, const struct event_options *more, struct fathom_error *err)
{
    struct event_options options = *more;
    options.name = "cycles";
    int rc = events_parse(&options, c->options->log, c->events, &c->asked, err);
    if (rc == 0)
        choose_scope(c);
    return rc;
}

/* Whether the default event interrupts at each sample without need, as its stacks are not compared. */
static bool interrupts_idly(const struct collector *c)
{
    const struct collector_options *o = c->options;
    return !o->event.name && attr_is_hardware(&c->events[0].attr) && o->audit_adapts &&
           !o->unwound_elsewhere && !o->event.kernel && !o->event.stack_size && !o->event.frequency &&
           !o->event.period;
}

/* Without the program: the kernel copies the stack at each interrupt of the default event. */
static int take_copies(struct collector *c, struct fathom_error *err)
{
    struct event_options options = c->options->event;
    options.frequency = COPIED_HZ;
    options.stack_size =
        c->options->audit_stack_size < FAST_STACK ? c->options->audit_stack_size : FAST_STACK;
    int rc = take_plain_cycles(c, &options, err);
    c->copied = rc == 0;
    if (rc == 0)
        log_write(
            c->options->log, c->options->verify.wish == VERIFY_ASKED ? LOG_WARNING : LOG_NOTE,
            "each sample has a copy of its stack, as the BPF program that compares them may not be loaded "
            "(" REMEDY_PROGRAM "): the event is cycles, %u times a second, whose samples can be some "
            "instructions late (--passive: precise ones, and paths are inferred)",
            COPIED_HZ);
    return rc;
}

static bool all_filtered(const struct collector *c)
{
    for (size_t i = 0; i < c->asked; i++)
        if (!c->events[i].filter)
            return false;
    return true;
}

/* The program also sees what a filter drops, and would read those stacks: each sample of such an event gets a
 * copy of its stack instead. */
static int copy_filtered(struct collector *c, struct fathom_error *err)
{
    int rc = 0;
    for (size_t i = 0; i < c->asked && rc == 0; i++)
        if (c->events[i].filter && !c->options->event.stack_size)
            rc = attr_set_dump(c->options->audit_stack_size, &c->events[i].attr, err);
    return rc;
}

/* Mean bytes between two samples of allocator functions; 0: no event is one of these. */
static uint32_t allocation_bytes(const struct collector *c)
{
    for (size_t i = 0; i < c->asked; i++)
        if (c->events[i].cookie)
            return heap_event_mean(&c->events[i].attr);
    return 0;
}

/* Chooses which events' stacks are compared, and loads the program for that if it is wanted and allowed. */
static int prepare_verify(struct collector *c, struct fathom_error *err)
{
    struct fathom_error why;
    struct verify_options options = c->options->verify;
    struct verify_interrupts interrupts;
    options.waits = c->options->waits;
    options.wakers = c->options->wakers ? &interrupts : NULL;
    if (options.wakers && !kernel_interrupts_find(&interrupts))
        return error_set(
            err, EACCES,
            "who ends waits cannot be recorded (--wakers): wakes by interrupts could not be told from those "
            "by threads, as /proc/kallsyms does not tell where the kernel's entries of interrupts are: run "
            "as root or give CAP_SYSLOG, with kernel.kptr_restrict 0 or 1 (kernels before 5.8 have other "
            "entries)");
    if (options.wish == VERIFY_NEVER)
        return 0;
    options.where = choose_followed(c);
    options.allocation_bytes = allocation_bytes(c);
    int rc = options.where == VERIFY_NOWHERE ? 0 : load_program(c, &options, &why);
    if (options.where == VERIFY_NOWHERE) {
        if (!all_filtered(c))
            tell_unfollowed(c, &c->events[0]);
        return 0;
    }
    if (rc < 0 && options.where == VERIFY_PRECISE && !c->options->event.name && rc != -EPERM &&
        rc != -EACCES) {
        int taken = take_plain_cycles(c, &c->options->event, err);
        if (taken < 0)
            return taken;
        log_write(
            c->options->log, LOG_NOTE,
            "stacks of precise cycles cannot be compared (%s): the event is cycles, whose samples can be "
            "some instructions late",
            why.text);
        options.where = choose_followed(c);
        rc = load_program(c, &options, &why);
    }
    if (rc < 0 && options.waits)
        return error_set(err, -rc, "waits cannot be recorded (--off-cpu): %s", why.text);
    if (rc < 0) {
        for (size_t i = 0; i < c->asked; i++)
            c->events[i].followed = false;
        if ((rc == -EPERM || rc == -EACCES) && interrupts_idly(c))
            return take_copies(c, err);
        tell_refusal(c, rc, &why);
        return 0;
    }
    c->stacks = c->asked;
    event_stacks(&c->events[c->stacks]);
    for (size_t i = 0; i < c->asked; i++)
        if (!c->events[i].followed && !has_no_paths(&c->events[i]) && !c->events[i].filter)
            tell_unfollowed(c, &c->events[i]);
    return 0;
}

static int add_audit(struct collector *c, uint64_t hz, uint32_t stack_size, struct fathom_error *err)
{
    struct event *event = &c->events[c->event_count];
    int rc = event_audit(hz, stack_size, event, err);
    if (rc)
        return rc;
    if (c->options->unwound_elsewhere) {
        event->attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
        event->attr.exclude_callchain_kernel = event->attr.exclude_callchain_user = 1;
    }
    c->event_count++;
    return 0;
}

/* Adds adaptive clocks: a fast one with small dumps and, at the rate of the options, one with large ones. */
static int prepare_clocks(struct collector *c, struct fathom_error *err)
{
    const struct collector_options *o = c->options;
    uint32_t small = o->audit_stack_size < FAST_STACK ? o->audit_stack_size : FAST_STACK;
    c->first_clock = c->event_count;
    c->clock_hz[0] = FAST_HZ;
    c->clock_hz[1] = (double)o->audit_hz;
    int rc = add_audit(c, FAST_HZ, small, err);
    if (rc == 0 && o->audit_stack_size > FAST_STACK)
        rc = add_audit(c, o->audit_hz, o->audit_stack_size, err);
    c->clock_count = c->event_count - c->first_clock;
    return rc;
}

static int prepare_audits(struct collector *c, struct fathom_error *err)
{
    const struct collector_options *o = c->options;
    if (!o->audit_hz || ((c->verify || all_filtered(c)) && o->audit_instead))
        return 0;
    /* besides copies only few larger ones are needed */
    return o->audit_adapts && !c->copied ? prepare_clocks(c, err)
                                         : add_audit(c, o->audit_hz, o->audit_stack_size, err);
}

/* If another event has call chains, perf report uses the previous chain for a sample without one. Not for
 * precise events: their samples would no longer be written in batches. */
static void add_own_frame(struct perf_event_attr *attr)
{
    if (attr->precise_ip)
        return;
    attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
    attr->exclude_callchain_kernel = 1;
    attr->sample_max_stack = 1;
}

/* One event carries the task and mapping records for all: the first, or an extra one if that is opened by CPU
 * or not on every CPU. */
static void prepare_tasks(struct collector *c)
{
    c->tasks = 0;
    if (c->by_cpu || c->events[0].partial) {
        c->tasks = c->event_count;
        event_tasks(&c->events[c->event_count++]);
    }
    struct perf_event_attr *attr = &c->events[c->tasks].attr;
    attr->mmap = attr->mmap2 = attr->comm = attr->comm_exec = attr->task = 1;
    /* The kernel also marks mapping records as having a build-id for the events after this one, which did not
     * ask for it (perf_event_mmap_output() restores all of the header but that): other users' recorders on
     * the same CPUs fail. */
    attr->build_id = !c->wide;
    attr->mmap_data = c->options->unwound_elsewhere || c->options->event.data_address || c->options->waits;
}

/* Samples of all processes contain their cgroup, and records report new cgroups, also those created from
 * outside of the recorded one. Not in batches, which cannot have it. */
static void prepare_cgroups(struct collector *c)
{
    if (!c->wide || c->options->event.batches)
        return;
    for (size_t i = 0; i < c->asked; i++)
        if (!c->events[i].helper)
            c->events[i].attr.sample_type |= PERF_SAMPLE_CGROUP;
    c->cgroups = c->cgroup.fd >= 0 ? c->event_count++ : c->tasks;
    if (c->cgroups != c->tasks)
        event_tasks(&c->events[c->cgroups]);
    c->events[c->cgroups].attr.cgroup = 1;
}

/* Checks whether this user may record other users' processes. Other errors are reported when the events are
 * opened. */
static int check_wide(struct collector *c, struct fathom_error *err)
{
    int rc = c->wide ? open_probe_for(&c->events[0].attr, -1, 0) : 0;
    if (rc == -EACCES || rc == -EPERM)
        return error_set(err, -rc,
                         "recording all processes%s is not allowed: " REMEDY_CPUS
                         "; your own processes can be "
                         "recorded by their numbers (-p)",
                         c->options->one_user ? " of a user"
                         : c->cgroup.fd >= 0  ? " of a cgroup"
                                              : " (-a)");
    if (rc == 0 && c->cgroup.fd >= 0 && open_probe_in(&c->events[0].attr, c->cgroup.fd) == -EINVAL)
        return error_set(err, ENOENT, "this kernel counts no event %s in cgroups (CONFIG_CGROUP_PERF)",
                         c->events[0].name);
    return 0;
}

/* Only the BPF program can drop other users' samples. */
static int check_user(const struct collector *c, struct fathom_error *err)
{
    const struct collector_options *o = c->options;
    for (size_t i = 0; o->one_user && c->verify && i < c->asked; i++) {
        const struct event *event = &c->events[i];
        if (!event->helper && (!event->followed || event->attr.type == PERF_TYPE_TRACEPOINT))
            return error_set(err, EINVAL,
                             "samples of event %s cannot be told apart by user: record all (-a), or a cgroup",
                             event->name);
    }
    if (o->one_user && (!c->verify || (o->audit_hz && !o->audit_instead)))
        return error_set(err, c->verify || o->verify.wish == VERIFY_NEVER ? EINVAL : EPERM,
                         "users are told apart by the BPF program that compares stacks: %s",
                         c->verify || o->verify.wish == VERIFY_NEVER
                             ? "leave out --passive, --audit and --dumps none"
                             : REMEDY_PROGRAM);
    return 0;
}

/* Switches the events with other names than the first one, which may be one event per kind of core. */
static int prepare_switched(struct collector *c, struct fathom_error *err)
{
    bool any = false;
    for (size_t i = 1; i < c->asked; i++)
        any |= c->events[i].switched = strcmp(c->events[i].name, c->events[0].name) != 0;
    return any ? 0
               : error_set(err, EINVAL,
                           "there is no event to switch on and off: name some after the first one, which is "
                           "always on (-e cpu-clock,page-faults)");
}

/* The trigger is counted by thread: by CPU, samples of other processes are dropped, but counts would include
 * them. */
static int prepare_trigger(struct collector *c, struct fathom_error *err)
{
    const struct collector_options *o = c->options;
    if (!o->trigger)
        return 0;
    if (o->one_user)
        return error_set(
            err, EINVAL,
            "what is counted of a trigger cannot be told apart by user: record all (-a), or a cgroup");
    c->first_trigger = c->event_count;
    int rc = trigger_events(o->trigger, o->event.pmus, &c->events[c->event_count], &c->trigger_count,
                            &c->trigger_most, err);
    c->event_count += rc == 0 ? c->trigger_count : 0;
    return rc;
}

static bool any_clock(const struct collector *c)
{
    bool any = false;
    for (size_t i = 0; i < c->asked; i++)
        any |= attr_is_clock(&c->events[i].attr);
    return any;
}

/* Checks for options that need the BPF program. */
static int check_program(const struct collector *c, struct fathom_error *err)
{
    if (c->options->waits && !c->verify)
        return error_set(
            err, EINVAL,
            "waits are told by the BPF program that compares stacks (--off-cpu): leave out --passive, "
            "--dumps, --audit and --filter, and record an event whose stacks are compared");
    if (!allocation_bytes(c))
        return 0;
    if (!c->verify)
        return error_set(
            err, EINVAL,
            "allocations of a process that runs are sampled by the BPF program that compares stacks "
            "(--alloc -p): leave out --passive, --dumps and --audit");
    log_write(
        c->options->log, LOG_NOTE,
        "what a process that runs allocates is told, and not what it frees: events freed, live and peak "
        "are of commands (--alloc -- COMMAND)");
    return 0;
}

int collector_prepare(struct collector *c, struct fathom_error *err)
{
    const struct collector_options *o = c->options;
    struct event_options options = o->event;
    int rc = probes_new(options.name, true, o->tid_count ? o->tids : o->pids,
                        o->tid_count ? o->tid_count : o->pid_count, o->log, &c->probes, err);
    if (rc == 0) {
        options.name = probes_names(c->probes);
        rc = events_parse(&options, o->log, c->events, &c->asked, err);
    }
    if (rc == 0) {
        probes_name_events(c->probes, c->events, c->asked);
        rc = fields_use(c->events, c->asked, o->event.filter, o->event.weight, err);
    }
    if (rc == 0 && o->switched)
        rc = prepare_switched(c, err);
    if (rc)
        return rc;
    choose_scope(c);
    rc = check_wide(c, err);
    if (rc == 0)
        rc = copy_filtered(c, err);
    if (rc == 0)
        rc = prepare_verify(c, err);
    if (rc == 0)
        rc = check_user(c, err);
    if (rc == 0)
        rc = check_program(c, err);
    if (rc == 0 && o->wall && !any_clock(c))
        rc = error_set(err, EINVAL, "--wall needs a clock among the events (-e cpu-clock)");
    if (rc)
        return rc;
    tell_batching(c);
    if (c->options->event.kernel)
        tell_kernel(c);
    for (size_t i = 0; i < c->asked && c->options->unwound_elsewhere; i++)
        add_own_frame(&c->events[i].attr);
    c->event_count = c->asked + (c->verify != NULL);
    rc = prepare_audits(c, err);
    if (rc == 0)
        rc = prepare_trigger(c, err);
    if (rc)
        return rc;
    prepare_tasks(c);
    prepare_cgroups(c);
    for (size_t i = 0; i < c->event_count; i++) {
        struct perf_event_attr *attr = &c->events[i].attr;
        attr->inherit &= !c->wide;
        attr->exclude_idle = c->wide && attr_is_clock(attr); /* clocks tick on idle CPUs too */
        attr->enable_on_exec =
            c->options->command && !c->options->raised && attr->inherit && !c->events[i].switched;
        attr->inherit_thread = c->options->no_children && attr->inherit;
    }
    return 0;
}
