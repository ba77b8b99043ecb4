/*
 * collector.c - a collection from open to close; see collector.h. Its parts: launch.c (the command),
 * counters.c (events and rings), synth.c (processes already running), drain.c (records out), stackbase.c.
 */
#include "collector/collector.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "collector/drain.h"
#include "collector/events/open.h"
#include "collector/events/pebs.h"
#include "collector/events/tracing.h"
#include "collector/rings/counters.h"
#include "collector/targets/launch.h"
#include "collector/targets/members.h"
#include "collector/targets/synth.h"

/* The stack base of a process that starts and ends between two rounds of draining is lost: drain at least
 * this often, 40 times a second, and more often for a while after something started. */
#define ROUND_MS     25
#define ROUND_NEW_MS 4
#define NEW_ROUNDS   10
/* Re-readings of a process's threads while new ones keep appearing. */
#define SCANS 100

/* The clocks that adapt. The fast one's dumps are small: a dump takes up its whole size in the ring until it is drained,
 * and ordinary users may have rings of 512 KiB only. Into 16 KiB fit 94 to 100% of the stacks of cc1, lua, perl, python,
 * redis and sqlite; into 8 KiB, half of sqlite's. At most half of a ring is filled in the time that the recorder may come
 * late. */
#define FAST_HZ    1000
#define FAST_STACK 16384u
#define LATE_S     0.03

struct process {
    pid_t pid;
    pid_t tid; /* only this thread; 0: all */
};

struct collector {
    const struct collector_options *options; /* borrowed */
    struct event
        events[COLLECTOR_EVENTS]; /* the main one; stacks; audit; the one for tasks, if counting by CPU */
    size_t event_count;
    size_t first_clock, clock_count; /* among the events: those whose rate can be set */
    double clock_hz[COLLECTOR_CLOCKS];
    struct counters *counters;
    struct decoder *decoder;
    struct stackbases *bases;
    struct process *processes; /* attached */
    size_t process_count;
    struct launch launch;
    struct batch batch;
    struct sideband to;
    struct drain drain;
    bool by_cpu;             /* the main event is counted by CPU */
    struct members *members; /* NULL: not by CPU */
    struct verify *verify;   /* NULL: stacks are not compared */
    int new_rounds;          /* remaining short rounds */
    struct collector_summary summary;
};

static int check_options(const struct collector_options *options, struct fathom_error *err)
{
    int ways =
        (options->command && options->command[0]) + (options->pid_count > 0) + (options->tid_count > 0);
    if (ways != 1)
        return error_set(err, EINVAL, "give exactly one of: a command, processes, threads");
    return 0;
}

/* A precise event is cheap only in batches: always report whether it gets them. */
static void tell_batching(const struct event *event, const struct log *log)
{
    struct pebs_machine machine;
    pebs_machine(&machine);
    if (!event->attr.precise_ip || !machine.max_precise)
        return;
    const char *reason = pebs_refusal(&event->attr, &machine);
    if (reason)
        log_write(log, LOG_NOTE, "event %s interrupts the program at each sample: %s", event->name, reason);
    else
        log_write(log, LOG_NOTE, "event %s is sampled in batches, without an interrupt each (large PEBS)",
                  event->name);
}

/* Index of the event that carries the records about tasks and mappings. */
static size_t tasks_event(const struct collector *c)
{
    return c->by_cpu ? c->event_count - 1 : 0;
}

/* Whether the kernel allows us to count by CPU. */
static int probe_cpus(const struct event *event)
{
    struct perf_event_attr attr = event->attr;
    attr.inherit = 0;
    attr.disabled = 1;
    int fd = open_event(&attr, -1, 0);
    if (fd < 0)
        return fd;
    close(fd);
    return 0;
}

/* Sampling by CPU interrupts all programs: a program that is not recorded takes 1.5% more CPU time at 1 kHz
 * and 16% at 10 kHz, measured in a virtual machine. The former is acceptable by default. */
#define BY_CPU_PERIOD 1000000u /* ns, at least */

static void choose_scope(struct collector *c)
{
    enum collector_scope scope = c->options->scope;
    c->by_cpu = scope == COLLECT_BY_CPU ||
                (scope == COLLECT_BY_CPU_IF_ALLOWED && attr_is_clock(&c->events[0].attr) &&
                 c->events[0].attr.sample_period >= BY_CPU_PERIOD && probe_cpus(&c->events[0]) == 0);
    if (c->by_cpu)
        c->events[0].attr.inherit = 0;
}

/* Says why stacks are not compared, and what is done instead. */
static void tell_way(const struct collector *c, const char *reason)
{
    if (c->options->audit_hz)
        log_write(c->options->log, LOG_NOTE, "stacks are read by a clock, as %s: paths are partly inferred",
                  reason);
    else
        log_write(c->options->log, LOG_NOTE, "stacks are not read, as %s: paths are inferred", reason);
}

static void tell_refusal(const struct collector *c, int rc, const struct fathom_error *why)
{
    char reason[sizeof why->text + 64];
    snprintf(reason, sizeof reason, "the BPF program that compares them does not load (%s)", why->text);
    tell_way(c, rc == -EPERM || rc == -EACCES
                    ? "the BPF program that compares them may not be loaded (run as root, or "
                      "give CAP_BPF and CAP_PERFMON)"
                    : reason);
}

static void tell_unfollowed(const struct collector *c)
{
    const struct event *event = &c->events[0];
    char reason[sizeof event->name + 100];
    snprintf(reason, sizeof reason, "those of event %s cannot be compared%s", event->name,
             event->attr.precise_ip ? " (those of a less precise one, such as cycles, can)" : "");
    tell_way(c, reason);
}

/* Loads the program that compares stacks, if that is wanted and allowed. */
static void prepare_verify(struct collector *c)
{
    struct fathom_error why;
    struct verify_options options = c->options->verify;
    options.where = event_verifiable(&c->events[0].attr);
    if (options.wish == VERIFY_NEVER)
        return;
    if (options.where == VERIFY_NOWHERE) {
        tell_unfollowed(c);
        return;
    }
    /* A tracepoint's program runs wherever it is hit. */
    options.follow_all = !c->by_cpu && options.where != VERIFY_TRACEPOINT;
    int rc = verify_new(&options, &c->verify, &why);
    if (rc < 0) {
        c->verify = NULL;
        tell_refusal(c, rc, &why);
        return;
    }
    event_stacks(&c->events[c->event_count++]);
}

static int add_audit(struct collector *c, uint64_t hz, uint32_t stack_size, struct fathom_error *err)
{
    int rc = event_audit(hz, stack_size, &c->events[c->event_count], err);
    c->event_count += rc == 0;
    return rc;
}

/* Clocks that adapt: a fast one with small dumps and, at the rate of the options, one with large ones. */
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
    if (!o->audit_hz || (c->verify && o->audit_instead))
        return 0;
    return o->audit_adapts ? prepare_clocks(c, err) : add_audit(c, o->audit_hz, o->audit_stack_size, err);
}

/* One event carries the records about tasks and mappings for all: the first, or the last if counting by CPU.
 */
static int prepare_events(struct collector *c, struct fathom_error *err)
{
    int rc = event_parse(&c->options->event, c->options->log, &c->events[0], err);
    if (rc)
        return rc;
    tell_batching(&c->events[0], c->options->log);
    c->event_count = 1;
    choose_scope(c);
    prepare_verify(c);
    rc = prepare_audits(c, err);
    if (rc)
        return rc;
    if (c->by_cpu)
        event_tasks(&c->events[c->event_count++]);
    struct perf_event_attr *attr = &c->events[tasks_event(c)].attr;
    attr->mmap = attr->mmap2 = attr->comm = attr->comm_exec = attr->task = attr->build_id = 1;
    for (size_t i = 0; i < c->event_count; i++)
        c->events[i].attr.enable_on_exec =
            c->options->command && !c->options->raised && c->events[i].attr.inherit;
    return 0;
}

static bool contains(const pid_t *list, size_t count, pid_t wanted)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == wanted)
            return true;
    return false;
}

static int gone(struct fathom_error *err, pid_t pid)
{
    return error_set(err, ESRCH, "process %d does not exist", (int)pid);
}

struct threads {
    pid_t *tids;
    size_t count;
};

static int open_thread(struct collector *c, pid_t tid, bool late, struct fathom_error *err)
{
    int rc = counters_open(c->counters, tid, late, err);
    if (rc == 0 && c->verify)
        verify_follow(c->verify, tid, true);
    return rc;
}

/* Opens the threads that are not in `known`. *opened counts them. */
static int attach_threads(struct collector *c, struct threads all, struct threads known, size_t *opened,
                          struct fathom_error *err)
{
    for (size_t i = 0; i < all.count; i++) {
        if (contains(known.tids, known.count, all.tids[i]))
            continue;
        int rc = open_thread(c, all.tids[i], known.count > 0, err);
        if (rc && rc != -ESRCH) /* ESRCH: it has ended since */
            return rc;
        *opened += rc == 0;
    }
    return 0;
}

/* Attaches to all threads of a process. Those that start meanwhile appear in the next reading of the list. */
static int attach_process(struct collector *c, pid_t pid, struct fathom_error *err)
{
    struct threads known = {0}, all;
    size_t opened = 0, before;
    int rc = 0, scan = 0;
    do {
        before = opened;
        rc = proc_threads(pid, &all.tids, &all.count);
        if (rc) {
            rc = rc == -ESRCH ? gone(err, pid)
                              : error_system(err, -rc, "cannot list the threads of process %d", (int)pid);
            break;
        }
        rc = attach_threads(c, all, known, &opened, err);
        free(known.tids);
        known = all;
    } while (rc == 0 && opened > before && ++scan < SCANS);
    free(known.tids);
    return rc == 0 && opened == 0 ? gone(err, pid) : rc;
}

static int attach(struct collector *c, struct fathom_error *err)
{
    const struct collector_options *o = c->options;
    c->process_count = o->pid_count + o->tid_count;
    c->processes = calloc(c->process_count, sizeof *c->processes);
    if (!c->processes)
        return error_memory(err);
    int rc = 0;
    for (size_t i = 0; i < o->pid_count && rc == 0; i++) {
        c->processes[i].pid = o->pids[i];
        rc = attach_process(c, o->pids[i], err);
    }
    for (size_t i = 0; i < o->tid_count && rc == 0; i++) {
        struct process *p = &c->processes[o->pid_count + i];
        p->tid = o->tids[i];
        if (proc_thread_group(p->tid, &p->pid) != 0)
            return error_set(err, ESRCH, "thread %d does not exist", (int)p->tid);
        rc = open_thread(c, p->tid, false, err);
    }
    return rc;
}

/* Launches the command and stops it before its exec or right after it. */
static int launch(struct collector *c, struct fathom_error *err)
{
    const struct collector_options *o = c->options;
    int rc = launch_fork(o->command, &c->launch, err);
    if (rc == 0 && o->raised) {
        rc = launch_go(&c->launch, o->command[0], err);
        c->processes = calloc(1, sizeof *c->processes);
        if (rc == 0 && !c->processes)
            rc = error_memory(err);
        if (rc)
            return rc;
        c->processes[c->process_count++].pid = c->launch.pid;
    }
    if (rc == 0)
        rc = open_thread(c, c->launch.pid, false, err);
    if (rc == 0 && c->launch.pidfd >= 0)
        rc = counters_watch(c->counters, c->launch.pidfd, err);
    return rc;
}

static int attach_output(void *verify, int fd, int cpu, bool wakes, struct fathom_error *err)
{
    return verify_output(verify, cpu, wakes, fd, err);
}

/* Lets the program write to the stacks' event, which is the second one, and follow what is recorded. */
static int attach_verify(struct collector *c, struct fathom_error *err)
{
    if (!c->verify)
        return 0;
    int rc = counters_each(c->counters, 1, attach_output, c->verify, err);
    for (size_t i = 0; i < c->process_count && c->by_cpu && !c->processes[i].tid; i++)
        verify_follow(c->verify, c->processes[i].pid, true);
    return rc;
}

/* Opens the events by CPU, once those of the threads have made the rings, and lists the processes to record.
 */
static int open_cpus(struct collector *c, struct fathom_error *err)
{
    const struct collector_options *o = c->options;
    if (!c->by_cpu)
        return c->verify ? counters_open_cpus(c->counters, err) : 0;
    bool good = true;
    c->members = members_new(o->tid_count > 0);
    if (!c->members)
        return error_memory(err);
    for (size_t i = 0; i < c->process_count && good; i++)
        good = members_add(c->members, c->processes[i].pid, c->processes[i].tid);
    if (!good)
        return error_memory(err);
    c->drain.expected = o->command && !o->raised ? c->launch.pid : 0;
    return counters_open_cpus(c->counters, err);
}

/* Before they start: only now is it known how large a ring the kernel allows. */
static void limit_clocks(struct collector *c)
{
    struct collector_clock clocks[COLLECTOR_CLOCKS];
    size_t count = collector_clocks(c, clocks);
    for (size_t i = 0; i < count; i++)
        if (clocks[i].hz > clocks[i].most)
            collector_set_clock(c, i, clocks[i].most);
}

int collector_open(const struct collector_options *options, struct collector **out, struct fathom_error *err)
{
    int rc = check_options(options, err);
    if (rc)
        return rc;
    struct collector *c = calloc(1, sizeof *c);
    if (!c)
        return error_memory(err);
    c->options = options;
    c->launch = LAUNCH_NONE;
    rc = prepare_events(c, err);
    if (rc == 0)
        rc = batch_init(&c->batch, err);
    if (rc == 0)
        rc = stackbases_new(&c->bases, err);
    if (rc == 0)
        rc = counters_new(c->events, c->event_count, options->ring_bytes, options->log, &c->counters, err);
    if (rc == 0 && c->verify)
        counters_attach(c->counters, verify_program(c->verify));
    if (rc == 0)
        rc = options->command ? launch(c, err) : attach(c, err);
    if (rc == 0)
        rc = open_cpus(c, err);
    if (rc == 0)
        rc = attach_verify(c, err);
    if (rc == 0)
        limit_clocks(c);
    if (rc == 0) /* now that all events have their ids */
        rc = decoder_new(c->events, c->event_count, &c->decoder, err);
    if (rc) {
        collector_close(c);
        return rc;
    }
    c->to = (struct sideband){.batch = &c->batch, .id = c->events[tasks_event(c)].ids[0]};
    c->drain = (struct drain){.expected = c->drain.expected,
                              .members = c->members,
                              .counters = c->counters,
                              .decoder = c->decoder,
                              .events = c->events,
                              .event_count = c->event_count,
                              .bases = c->bases,
                              .to = &c->to,
                              .verify = c->verify,
                              .summary = &c->summary};
    *out = c;
    return 0;
}

size_t collector_events(const struct collector *c, const struct event **out)
{
    *out = c->events;
    return c->event_count;
}

int collector_tracing_data(const struct collector *c, uint8_t **data, size_t *size, struct fathom_error *err)
{
    return tracing_data(c->events, c->event_count, data, size, err);
}

bool collector_follows(const struct collector *c)
{
    return c->verify;
}

int collector_know(struct collector *c, const struct known_stack *stack, struct fathom_error *err)
{
    return verify_know(c->verify, stack, err);
}

void collector_forget(struct collector *c, uint32_t pid)
{
    verify_forget(c->verify, pid);
}

size_t collector_clocks(const struct collector *c, struct collector_clock out[COLLECTOR_CLOCKS])
{
    double room = (double)counters_ring_bytes(c->counters) / 2;
    for (size_t i = 0; i < c->clock_count; i++) {
        const struct event *event = &c->events[c->first_clock + i];
        double most = room / (event->attr.sample_stack_user * LATE_S), least = (double)c->options->audit_hz;
        out[i] = (struct collector_clock){.stack_size = event->attr.sample_stack_user,
                                          .hz = c->clock_hz[i],
                                          .least = i + 1 == c->clock_count ? least : 0,
                                          .most = most < FAST_HZ ? most : FAST_HZ,
                                          .dumps = c->drain.dumps[c->first_clock + i]};
    }
    return c->clock_count;
}

double collector_clock_time(const struct collector *c, size_t clock)
{
    struct counters_totals totals;
    counters_totals(c->counters, c->first_clock + clock, &totals);
    return (double)totals.value * 1e-9;
}

void collector_set_clock(struct collector *c, size_t clock, double hz)
{
    size_t event = c->first_clock + clock;
    if (hz > 0)
        counters_period(c->counters, event, event_audit_period(hz));
    if ((hz > 0) != (c->clock_hz[clock] > 0))
        counters_switch(c->counters, event, hz > 0);
    c->clock_hz[clock] = hz;
}

static void use_sink(struct collector *c, collector_sink *sink, void *context)
{
    c->batch.sink = sink;
    c->batch.context = context;
}

/* Writes the records of a process that is already running; it is not an error if it has ended. */
static int introduce(struct collector *c, const struct process *p, struct fathom_error *err)
{
    pid_t *tids;
    size_t count;
    int rc = synth_process(p->pid, &c->to, err);
    if (rc)
        return rc == -ESRCH ? 0 : rc;
    if (p->tid)
        return stackbases_attach(c->bases, p->pid, p->tid, &c->to, err);
    if (proc_threads(p->pid, &tids, &count) != 0)
        return 0;
    for (size_t i = 0; i < count && rc == 0; i++)
        rc = stackbases_attach(c->bases, p->pid, tids[i], &c->to, err);
    free(tids);
    return rc;
}

int collector_start(struct collector *c, collector_sink *sink, void *context, struct fathom_error *err)
{
    use_sink(c, sink, context);
    if (c->launch.pid && !c->launch.started) {
        counters_enable_cpus(c->counters);
        int rc = launch_go(&c->launch, c->options->command[0], err);
        if (rc == 0 && c->launch.base)
            rc = stackbases_expect(c->bases, c->launch.pid, c->launch.low, c->launch.base, err);
        if (rc == 0 && c->launch.base && c->verify)
            verify_base(c->verify, c->launch.pid, c->launch.base);
        launch_release(&c->launch);
        return rc;
    }
    /* The mappings first: a mapping made in between is recorded twice, but none is missed. */
    counters_enable(c->counters);
    int rc = 0;
    for (size_t i = 0; i < c->process_count && rc == 0; i++)
        rc = introduce(c, &c->processes[i], err);
    launch_release(&c->launch);
    return rc ? rc : batch_flush(&c->batch, err);
}

int collector_poll(struct collector *c, int timeout_ms, collector_sink *sink, void *context,
                   struct fathom_error *err)
{
    use_sink(c, sink, context);
    int longest = c->new_rounds > 0 ? ROUND_NEW_MS : ROUND_MS;
    int rc = counters_wait(c->counters, timeout_ms < 0 || timeout_ms > longest ? longest : timeout_ms, err);
    if (rc == 0)
        rc = drain_round(&c->drain, NULL, err);
    if (c->drain.start_count)
        c->new_rounds = NEW_ROUNDS;
    else if (c->new_rounds > 0)
        c->new_rounds--;
    if (rc)
        return rc;
    launch_check(&c->launch);
    if (c->launch.pid)
        return c->launch.status == -1;
    return counters_alive(c->counters);
}

int collector_stop(struct collector *c, collector_sink *sink, void *context, struct fathom_error *err)
{
    use_sink(c, sink, context);
    counters_disable(c->counters);
    bool any = true;
    int rc = 0;
    while (rc == 0 && any)
        rc = drain_round(&c->drain, &any, err);
    if (rc == 0)
        rc = drain_losses(&c->drain, err);
    return rc ? rc : drain_totals(&c->drain, err);
}

int collector_status(const struct collector *c)
{
    return c->launch.status;
}

void collector_signal(struct collector *c, int signal)
{
    if (c->launch.pid && c->launch.status == -1)
        kill(c->launch.pid, signal);
}

void collector_summary(const struct collector *c, struct collector_summary *out)
{
    *out = c->summary;
    out->bases_missing = stackbases_missing(c->bases);
    if (c->verify) {
        struct verify_counts counts;
        verify_counts(c->verify, &counts);
        out->stacks_read = counts.news;
        out->stacks_refused = counts.refused;
    }
}

void collector_close(struct collector *c)
{
    if (!c)
        return;
    decoder_free(c->decoder);
    counters_free(c->counters);
    verify_free(c->verify);
    launch_close(&c->launch);
    drain_free(&c->drain);
    members_free(c->members);
    stackbases_free(c->bases);
    batch_free(&c->batch);
    free(c->processes);
    free(c);
}
