/*
 * collector.c - a collection from open to close; see collector.h. Its parts: prepare.c (which events), launch.c (the command),
 * counters.c (events and rings), synth.c (processes already running), drain.c (records out), stackbase.c.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/hash.h"
#include "collector/attach.h"
#include "collector/collector_data.h"
#include "collector/events/tracing.h"
#include "collector/events/vary.h"
#include "collector/nothing.h"
#include "collector/probes/probes.h"
#include "collector/rings/counters.h"
#include "collector/scripts/script_poll.h"
#include "collector/silent.h"
#include "collector/waits.h"
#include "collector/targets/container.h"
#include "collector/targets/members.h"
#include "collector/targets/synth.h"

/* What /proc says about a process that starts and ends between two rounds of draining is lost: drain at least
 * this often, and more often for a while after something started. A program that finds files (ROUND_FOUND_MS)
 * also finds stack bases. */
#define ROUND_MS       25
#define ROUND_FOUND_MS 60
#define ROUND_NEW_MS   4
#define NEW_ROUNDS     10
#define POLLED_ID      (UINT64_MAX - 1) /* the kernel counts ids from 1 */
#define WAITS_ID       (UINT64_MAX - 2)
#define WAKERS_ID      (UINT64_MAX - 3)

static int check_options(const struct collector_options *options, struct fathom_error *err)
{
    bool command = options->command && options->command[0];
    int wide = options->everyone + (options->cgroup || options->container) + options->one_user;
    int ways = (command && !wide) + (options->pid_count > 0) + (options->tid_count > 0) + wide;
    if (ways != 1)
        return error_set(err, EINVAL,
                         "give exactly one of: a command, processes, threads, everyone, a cgroup, a user");
    return 0;
}

static int find_cgroup(struct collector *c, struct fathom_error *err)
{
    const struct collector_options *o = c->options;
    char root[PATH_MAX], found[PATH_MAX];
    if (!o->cgroup && !o->container)
        return 0;
    int rc = cgroup_root(CGROUP_MOUNTS, root, err);
    if (rc == 0 && o->container)
        rc = container_find(root, "/", o->container, found, err);
    return rc ? rc : cgroup_open(root, o->container ? found : o->cgroup, &c->cgroup, err);
}

/* Launches the command and stops it before its exec or right after it. */
static int launch_command(struct collector *c, struct fathom_error *err)
{
    const struct collector_options *o = c->options;
    int rc = launch_fork(o->command, o->environment, &c->launch, err);
    if (rc == 0 && o->raised) {
        rc = launch_go(&c->launch, o->command[0], err);
        if (rc == 0)
            rc = attach_add(c, (struct process){.pid = c->launch.pid}, err);
    }
    if (rc == 0 && !c->wide)
        rc = attach_thread(c, c->launch.pid, false, err);
    if (rc == 0 && c->launch.pidfd >= 0)
        rc = counters_watch(c->counters, c->launch.pidfd, err);
    return rc;
}

static int attach_output(void *verify, int fd, int cpu, bool wakes, struct fathom_error *err)
{
    return verify_output(verify, cpu, wakes, fd, err);
}

/* Lets the BPF program write to the event of stacks, and follow what is recorded. */
static int attach_verify(struct collector *c, struct fathom_error *err)
{
    if (!c->verify)
        return 0;
    struct ring *rings;
    size_t count = counters_rings(c->counters, &rings);
    for (size_t i = 0; i < count; i++)
        verify_room(c->verify, rings[i].cpu, rings[i].page ? ring_stack_room(&rings[i]) : 0);
    int rc = counters_each(c->counters, c->stacks, attach_output, c->verify, err);
    for (size_t i = 0; i < c->process_count && c->members; i++)
        verify_follow(c->verify, members_id(c->members, c->processes[i].pid, c->processes[i].tid), true);
    return rc;
}

static int cgroup_gone(const struct cgroup *group, struct fathom_error *err)
{
    return error_set(err, ENOENT, "cgroup %s was removed", group->path);
}

/* Opens the events by CPU, after those of the threads have made the rings. */
static int open_cpus(struct collector *c, struct fathom_error *err)
{
    const struct collector_options *o = c->options;
    if (!c->by_cpu)
        return c->verify ? counters_open_cpus(c->counters, err) : 0;
    if (c->wide && c->cgroup.fd < 0)
        return counters_open_cpus(c->counters, err);
    counters_within(c->counters, c->cgroup.fd, c->verify && c->filtered);
    c->members = members_new(o->tid_count > 0);
    if (!c->members)
        return error_memory(err);
    c->drain.tasks.expected = o->command && !o->raised && !c->wide ? c->launch.pid : 0;
    int rc = counters_open_cpus(c->counters, err);
    return rc == 0 || c->cgroup.fd < 0 || cgroup_exists(&c->cgroup) ? rc : cgroup_gone(&c->cgroup, err);
}

/* Called before the clocks start: only now is it known how large a ring the kernel allows. */
static void limit_clocks(struct collector *c)
{
    struct collector_clock clocks[COLLECTOR_CLOCKS];
    size_t count = collector_clocks(c, clocks);
    for (size_t i = 0; i < count; i++)
        if (clocks[i].hz > clocks[i].most)
            collector_set_clock(c, i, clocks[i].most);
}

/* Without the BPF program: a thread polls what interpreters run; its records belong to an event that is not
 * opened. */
static int poll_scripts(struct collector *c, struct fathom_error *err)
{
    struct event *event = &c->events[c->event_count];
    event_stacks(event);
    event->ids = malloc(sizeof *event->ids);
    if (!event->ids)
        return error_memory(err);
    *event->ids = POLLED_ID;
    event->id_count = 1;
    c->event_count++;
    return script_poll_new(POLLED_ID, c->options->log, &c->scripts, err);
}

/* Records waits; their event is not opened either. */
static int open_waits(struct collector *c, struct fathom_error *err)
{
    const bool wakers = c->options->wakers;
    const struct waits_options options = {.id = WAITS_ID,
                                          .wakers_id = wakers ? WAKERS_ID : 0,
                                          .stacks_id = c->events[c->stacks].ids[0],
                                          .compared = c->options->verify.compared,
                                          .wall = c->options->wall};
    const int rc = waits_new(&options, &c->events[c->event_count], &c->waits, err);
    c->event_count += rc == 0 ? 1 + wakers : 0;
    return rc;
}

/* Opens everything that records come from, before any of it starts. */
static int open_sources(struct collector *c, struct fathom_error *err)
{
    const struct collector_options *o = c->options;
    int rc = find_cgroup(c, err);
    if (rc == 0)
        rc = collector_prepare(c, err);
    /* must happen before privileges are dropped */
    if (rc == 0 && o->event.kernel && !(c->kernel = running_kernel_open(&kernel_places_here)))
        rc = error_memory(err);
    if (rc == 0)
        rc = batch_init(&c->batch, err);
    if (rc == 0)
        rc = stackbases_new(&c->bases, err);
    c->opened = c->event_count;
    if (rc == 0)
        rc = counters_new(c->events, c->opened, o->ring_bytes, o->log, &c->counters, err);
    if (rc == 0 && c->verify)
        counters_attach(c->counters, verify_program(c->verify));
    if (rc == 0)
        rc = o->command ? launch_command(c, err) : c->wide ? 0 : attach_open(c, err);
    if (rc == 0)
        rc = open_cpus(c, err);
    if (rc == 0)
        rc = attach_verify(c, err);
    if (rc == 0)
        limit_clocks(c);
    for (size_t i = 0; i < c->asked; i++)
        c->vary_at[i] = VARY_SAMPLES;
    if (rc == 0 && !c->verify)
        rc = poll_scripts(c, err);
    if (rc == 0 && o->waits)
        rc = open_waits(c, err);
    /* needs the ids of all events */
    return rc == 0 ? decoder_new(c->events, c->event_count, &c->decoder, err) : rc;
}

static int open_drain(struct collector *c, struct fathom_error *err)
{
    const struct collector_options *o = c->options;
    c->to = (struct sideband){.batch = &c->batch, .id = c->events[c->tasks].ids[0]};
    c->drain = (struct drain){.counters = c->counters,
                              .decoder = c->decoder,
                              .events = c->events,
                              .event_count = c->opened,
                              .asked = c->asked,
                              .bases = c->bases,
                              .to = &c->to,
                              .tasks = {.members = c->members,
                                        .verify = c->verify,
                                        .expected = c->drain.tasks.expected,
                                        .no_children = o->no_children},
                              .waits = c->waits,
                              .summary = &c->summary,
                              .by_tid = o->tid_count > 0,
                              .self = c->wide ? getpid() : 0,
                              .meets = c->wide && c->members,
                              .mappings = o->event.data_address || o->waits ? SYNTH_ALL
                                          : o->unwound_elsewhere            ? SYNTH_FILES
                                                                            : SYNTH_CODE};
    return drain_init(&c->drain, err);
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
    c->cgroup = CGROUP_NONE;
    c->wide = options->everyone || options->cgroup || options->container || options->one_user;
    rc = open_sources(c, err);
    if (rc == 0)
        rc = open_drain(c, err);
    if (rc)
        collector_close(c);
    else
        *out = c;
    return rc;
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

struct verify *collector_verify(const struct collector *c)
{
    return c->verify;
}

struct script_poll *collector_polls(const struct collector *c)
{
    return c->scripts;
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
                                          .dumps = c->drain.taken[c->first_clock + i]};
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

void collector_switch(const struct collector *c, bool on)
{
    for (size_t i = 0; i < c->asked; i++)
        if (c->events[i].switched)
            counters_switch(c->counters, i, on);
}

bool collector_triggered(struct collector *c)
{
    uint64_t counted = 0;
    for (size_t i = 0; i < c->trigger_count; i++) {
        struct counters_totals t;
        counters_totals(c->counters, c->first_trigger + i, &t);
        counted += t.running && t.running < t.enabled
                       ? (uint64_t)((double)t.value * (double)t.enabled / (double)t.running)
                       : t.value;
    }
    const uint64_t before = c->trigger_before;
    c->trigger_before = counted;
    return counted > before && counted - before > c->trigger_most;
}

static void use_sink(struct collector *c, collector_sink *sink, void *context)
{
    c->batch.sink = sink;
    c->batch.context = context;
}

static int introduce_thread(struct collector *c, pid_t pid, pid_t tid, struct fathom_error *err)
{
    if (c->members && !members_start(c->members, pid, tid))
        return error_memory(err);
    int rc = stackbases_attach(c->bases, pid, tid, &c->to, err);
    if (rc == 0 && c->waits)
        rc = waits_attach(c->waits, c->verify, pid, tid, &c->batch, err);
    return rc;
}

/* Writes the records of a process that is already running, and makes it a member; it is not an error if it
 * has ended. */
static int introduce_process(struct collector *c, struct process *p, struct fathom_error *err)
{
    pid_t *tids;
    size_t count;
    if (!c->options->everyone)
        cpu_use_begin(p);
    if (c->wide) /* their first samples will show their stack bases: most processes have none */
        return drain_meet(&c->drain, p->pid, err);
    int rc = p->refused ? -ESRCH : synth_process(p->pid, c->drain.mappings, &c->to, err);
    if (rc)
        return rc == -ESRCH ? 0 : rc;
    if (p->tid)
        return introduce_thread(c, p->pid, p->tid, err);
    if (proc_threads(p->pid, &tids, &count) != 0)
        return 0;
    for (size_t i = 0; i < count && rc == 0; i++)
        rc = introduce_thread(c, p->pid, tids[i], err);
    free(tids);
    return rc;
}

/* Writes the mappings of the kernel's code. */
static int introduce_kernel(struct collector *c, struct fathom_error *err)
{
    const struct kernel_layout *layout;
    int rc = running_kernel_layout(c->kernel, &layout, err);
    if (rc < 0)
        return rc;
    if (!layout->kernel.start) {
        log_write(
            c->options->log, LOG_WARNING,
            "functions of the kernel will have no names: it hides its addresses from this user "
            "(kernel.kptr_restrict; CAP_SYSLOG, or kernel.perf_event_paranoid at 1 or less, show them)");
        return 0;
    }
    rc = sideband_kernel(&c->to, &layout->kernel, KERNEL_MAPPING, &layout->id, err);
    for (size_t i = 0; i < layout->count && rc == 0; i++)
        rc = sideband_kernel(&c->to, &layout->modules[i], layout->modules[i].name, NULL, err);
    return rc;
}

static int tell_cgroup(void *collector, uint64_t id, const char *path, struct fathom_error *err)
{
    const struct collector *c = collector;
    return sideband_cgroup(&c->to, id, path, err);
}

/* Writes the paths of the cgroups that samples can be in. */
static int introduce_cgroups(struct collector *c, struct fathom_error *err)
{
    char root[PATH_MAX];
    if (!(c->events[0].attr.sample_type & PERF_SAMPLE_CGROUP))
        return 0;
    if (c->cgroup.fd >= 0)
        return cgroup_each(c->cgroup.root, c->cgroup.path, tell_cgroup, c, err);
    return cgroup_root(CGROUP_MOUNTS, root, NULL) == 0 ? cgroup_each(root, root, tell_cgroup, c, err) : 0;
}

/* Lets the launched command run, with the base of its stack. What the exec does not enable (events by CPU,
 * the program at a tracepoint) starts at the stop after it: the code before the exec is ours. */
static int start_command(struct collector *c, struct fathom_error *err)
{
    int rc = launch_go(&c->launch, c->options->command[0], err);
    if (rc == 0 && c->verify && (c->members || !c->by_cpu))
        verify_follow(c->verify, c->launch.pid, true);
    if (rc == 0)
        counters_enable_cpus(c->counters);
    if (rc == 0 && c->waits)
        waits_begin(c->waits);
    if (rc == 0 && c->launch.base)
        rc = stackbases_expect(c->bases, c->launch.pid, c->launch.low, c->launch.base, err);
    if (rc == 0 && c->launch.base)
        rc = tasks_base(&c->drain.tasks, c->launch.pid, c->launch.base, err);
    launch_release(&c->launch);
    return rc;
}

static void disable_events(struct collector *c)
{
    counters_disable(c->counters);
    if (c->waits)
        waits_end(c->waits);
}

/* Enables all events, except task events that are enabled already. */
static void enable_events(struct collector *c)
{
    counters_enable(c->counters);
    if (c->waits)
        waits_begin(c->waits);
    if (c->before)
        disable_events(c->before);
    c->before = NULL;
}

int collector_start(struct collector *c, collector_sink *sink, void *context, struct fathom_error *err)
{
    use_sink(c, sink, context);
    int told = c->kernel ? introduce_kernel(c, err) : 0;
    if (told < 0)
        return told;
    if (c->launch.pid && !c->launch.started && !c->wide)
        return start_command(c, err);
    /* Mappings come first: one made in between is recorded twice, but none is missed. Writing those of
     * everyone can take a second, in which samples would fill the rings, so these start later. */
    if (c->wide)
        counters_switch(c->counters, c->tasks, true);
    if (c->wide && c->cgroups)
        counters_switch(c->counters, c->cgroups, true);
    if (!c->wide)
        enable_events(c);
    int rc = c->wide ? attach_wide(c, err) : attach_started(c, err);
    if (rc == 0)
        rc = introduce_cgroups(c, err);
    for (size_t i = 0; i < c->process_count && rc == 0; i++)
        rc = introduce_process(c, &c->processes[i], err);
    if (rc == 0 && c->wide)
        enable_events(c);
    if (rc == 0 && c->launch.pid && !c->launch.started)
        rc = start_command(c, err);
    launch_release(&c->launch);
    return rc ? rc : batch_flush(&c->batch, err);
}

/* Changes the periods of events that had enough samples since the last time (vary.h). */
static void vary_periods(struct collector *c)
{
    for (size_t i = 0; i < c->asked; i++) {
        uint64_t taken = c->drain.taken[decoder_first(c->decoder, (uint32_t)i)];
        if (taken >= c->vary_at[i] && !c->events[i].batched && vary_is(&c->events[i].attr))
            c->vary_at[i] = taken + VARY_SAMPLES * counters_vary(c->counters, i);
    }
}

static int round_ms(const struct collector *c)
{
    if (c->new_rounds > 0)
        return ROUND_NEW_MS;
    return c->verify && verify_finds_files(c->verify) && !c->drain.meets ? ROUND_FOUND_MS : ROUND_MS;
}

/* Interpreter records are from before the round's end. */
static int pass_round(struct collector *c, bool *any, struct fathom_error *err)
{
    int rc = c->scripts ? script_poll_pass(c->scripts, &c->batch, err) : 0;
    if (rc == 0 && c->waits && c->options->waits_told)
        rc = drain_waits(&c->drain, false, err);
    return rc < 0 ? rc : drain_round(&c->drain, any, err);
}

int collector_poll(struct collector *c, int timeout_ms, collector_sink *sink, void *context,
                   struct fathom_error *err)
{
    use_sink(c, sink, context);
    int longest = round_ms(c);
    int rc = counters_wait(c->counters, timeout_ms < 0 || timeout_ms > longest ? longest : timeout_ms, err);
    if (rc == 0)
        rc = pass_round(c, NULL, err);
    if (c->drain.start_count)
        c->new_rounds = NEW_ROUNDS;
    else if (c->new_rounds > 0)
        c->new_rounds--;
    if (rc)
        return rc;
    vary_periods(c);
    launch_check(&c->launch);
    if (c->cgroup.fd >= 0 && !cgroup_exists(&c->cgroup)) {
        log_write(c->options->log, LOG_NOTE, "cgroup %s was removed: the recording ends", c->cgroup.path);
        return 0;
    }
    if (c->launch.pid)
        return c->launch.status == -1;
    return counters_alive(c->counters);
}

int collector_stop(struct collector *c, collector_sink *sink, void *context, struct fathom_error *err)
{
    use_sink(c, sink, context);
    disable_events(c);
    bool any = true;
    int rc = 0;
    if (!c->options->everyone)
        cpu_use_read(c, &c->uses);
    while (rc == 0 && any)
        rc = pass_round(c, &any, err);
    const size_t unmet = c->drain.meets ? table_count(c->drain.unmet) : 0;
    if (unmet)
        log_write(c->options->log, LOG_WARNING,
                  "%zu process%s came into the cgroup and ended before %s mappings could be read: %s code "
                  "is unknown",
                  unmet, unmet == 1 ? "" : "es", unmet == 1 ? "its" : "their", unmet == 1 ? "its" : "their");
    if (rc == 0 && c->waits)
        rc = drain_waits(&c->drain, true, err);
    if (rc == 0)
        rc = drain_losses(&c->drain, err);
    return rc ? rc : drain_totals(&c->drain, err);
}

int collector_status(const struct collector *c)
{
    return c->launch.status;
}

pid_t collector_command(const struct collector *c)
{
    return c->launch.pid;
}

int collector_hand_over(struct collector *from, struct collector *to, struct fathom_error *err)
{
    int rc = from->launch.pidfd >= 0 ? counters_watch(to->counters, from->launch.pidfd, err) : 0;
    if (rc < 0)
        return rc;
    to->launch = from->launch;
    from->launch = LAUNCH_NONE;
    to->before = from;
    return 0;
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
        out->stacks_crowded = counts.crowded;
        out->stacks_returned = counts.returned;
    }
}

bool collector_why_nothing(const struct collector *c, char *text, size_t size)
{
    if (c->summary.samples)
        return false;
    nothing_reason(c, text, size);
    return true;
}

bool collector_silent(const struct collector *c, enum log_level *level, char *text, size_t size)
{
    const struct silent_view view = {
        .event = &c->events[0], .sampled = c->drain.sampled, .lost = c->summary.lost};
    return c->summary.samples && !c->wide && silent_tell(&view, &c->uses, level, text, size);
}

void collector_close(struct collector *c)
{
    if (!c)
        return;
    decoder_free(c->decoder);
    counters_free(c->counters);
    verify_free(c->verify);
    probes_free(c->probes); /* no event uses them any more */
    script_poll_free(c->scripts);
    waits_free(c->waits);
    for (size_t i = c->opened; i < c->event_count; i++)
        free(c->events[i].ids);
    launch_close(&c->launch);
    drain_free(&c->drain);
    members_free(c->members);
    stackbases_free(c->bases);
    batch_free(&c->batch);
    running_kernel_close(c->kernel);
    cgroup_close(&c->cgroup);
    free(c->processes);
    free(c->uses.list);
    free(c);
}
