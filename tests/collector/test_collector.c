/*
 * Whole collections: launch and attach, registers, stacks' bases, dumps, ends and errors. The recorded
 * program is busy.c, which tells its own stacks.
 */
#include <criterion/criterion.h>
#include <criterion/logging.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collector/collector.h"
#include "collector/events/open.h"
#include "collector/events/tracefs.h"
#include "collector/rings/clock_pair.h"
#include "perfdata/stack_record.h"

#define MAX 8192

struct stack {
    int pid, tid;
    uint64_t low, base, time;
};

struct point {
    uint32_t tid;
    uint64_t time, sp, dump; /* dump: valid bytes */
};

/* What a collection's sink saw. */
struct seen {
    const struct event *events;
    size_t event_count;
    struct decoder *decoder;
    size_t samples, audits, rounds, comms, execs, forks, mappings, build_ids;
    size_t others;         /* EXIT records and any other but LOST ones */
    size_t lost_told;      /* by LOST records */
    size_t lost_untold;    /* by LOST_SAMPLES records */
    bool ignore_addresses; /* keep no points: for more samples than MAX */
    /* By judge(), in order of time: */
    size_t outside;     /* samples whose SP is not in the stack that was told for their thread before */
    size_t dumps_past;  /* dumps that reach beyond their base */
    size_t sample_size; /* bytes of a sample of the main event */
    size_t largest_dump;
    struct stack stacks[MAX];
    size_t stack_count;
    struct point points[MAX];
    size_t point_count;
    bool vdso, program;
};

/* Zeroed; a test that runs several collections starts anew with each. */
static struct seen *watch(void)
{
    static struct seen seen;
    memset(&seen, 0, sizeof seen);
    return &seen;
}

/* A command's argument, which argv wants writable. */
static char *arg(const char *text)
{
    static char kept[32][4200];
    static size_t count;
    for (size_t i = 0; i < count; i++)
        if (strcmp(kept[i], text) == 0)
            return kept[i];
    cr_assert(count < 32 && strlen(text) < sizeof kept[0]);
    return strcpy(kept[count++], text);
}

/* The stack of a thread that was told last up to a time. */
static const struct stack *stack_at(const struct seen *seen, uint32_t tid, uint64_t time)
{
    const struct stack *last = NULL;
    for (size_t i = 0; i < seen->stack_count; i++)
        if (seen->stacks[i].tid == (int)tid && seen->stacks[i].time <= time &&
            (!last || seen->stacks[i].time >= last->time))
            last = &seen->stacks[i];
    return last;
}

/* Rings of several CPUs are not in order among each other: what belongs together is known at the end. */
static void judge(struct seen *seen)
{
    for (size_t i = 0; i < seen->point_count; i++) {
        const struct point *p = &seen->points[i];
        const struct stack *stack = stack_at(seen, p->tid, p->time);
        if (!stack || p->sp < stack->low ||
            p->sp > stack->base) { /* at the first instruction SP is the base */
            seen->outside++;
            cr_log_warn(
                "thread %u has SP %llx, %s %llx to %llx; %llu after %llu", p->tid, (unsigned long long)p->sp,
                stack ? "its stack is" : "no stack was told:", stack ? (unsigned long long)stack->low : 0,
                stack ? (unsigned long long)stack->base : 0, (unsigned long long)p->time,
                (unsigned long long)(seen->stack_count ? seen->stacks[0].time : 0));
        }
        seen->dumps_past += stack && p->dump && p->sp + p->dump > stack->base;
    }
}

static bool owns(const struct event *event, uint64_t id)
{
    for (size_t i = 0; i < event->id_count; i++)
        if (event->ids[i] == id)
            return true;
    return false;
}

static void see_sample(struct seen *seen, const void *record, size_t size)
{
    uint64_t id;
    struct record decoded;
    struct fathom_error err;
    cr_assert_eq(decoder_decode(seen->decoder, record, size, &decoded, &err), 0, "%s", err.text);
    const struct sample *s = &decoded.sample;
    memcpy(&id, (const uint8_t *)record + sizeof(struct perf_event_header), sizeof id);
    cr_assert(owns(&seen->events[s->event], id), "a sample of an unknown event");
    if (s->event == 0) {
        seen->samples++;
        seen->sample_size = size;
    } else {
        seen->audits++;
    }
    if (seen->ignore_addresses)
        return;
    cr_assert_lt(seen->point_count, (size_t)MAX);
    seen->points[seen->point_count++] = (struct point){s->tid, s->time, s->sp, s->stack_size};
    if (s->stack_capacity) {
        cr_assert_eq(s->stack_capacity, (s->stack_size + 7) & ~7u, "not cut to its valid bytes");
        if (s->stack_size > seen->largest_dump)
            seen->largest_dump = s->stack_size;
    }
}

static void see_loss(struct seen *seen, const uint8_t *record, const struct perf_event_header *header)
{
    uint64_t lost, id;
    memcpy(&lost, record + (header->type == PERF_RECORD_LOST ? 16 : 8), sizeof lost);
    memcpy(&id, record + header->size - 8, sizeof id);
    cr_assert_eq(header->size, header->type == PERF_RECORD_LOST ? 48 : 40);
    if (header->type == PERF_RECORD_LOST) {
        seen->lost_told += lost;
        return;
    }
    cr_assert_eq(seen->lost_untold, 0, "one such record is enough");
    cr_assert(owns(&seen->events[0], id), "the trailer's id is no event's");
    seen->lost_untold = lost;
}

static void see_mapping(struct seen *seen, const uint8_t *record, size_t size, uint16_t misc)
{
    uint32_t pid, tid;
    uint64_t start, length;
    const char *path = (const char *)record + 72;
    memcpy(&pid, record + 8, 4);
    memcpy(&tid, record + 12, 4);
    memcpy(&start, record + 16, 8);
    memcpy(&length, record + 24, 8);
    if (misc & PERF_RECORD_MISC_MMAP_DATA) {
        char name[32];
        snprintf(name, sizeof name, "[stack:%u]", tid);
        cr_assert_str_eq(path, name);
        cr_assert_lt(seen->stack_count, (size_t)MAX);
        seen->stacks[seen->stack_count++] = (struct stack){(int)pid, (int)tid, start, start + length,
                                                           decoder_time(seen->decoder, record, size)};
        return;
    }
    seen->mappings++;
    seen->build_ids += (misc & PERF_RECORD_MISC_MMAP_BUILD_ID) != 0;
    seen->vdso |= strcmp(path, "[vdso]") == 0;
    const char *slash = strrchr(path, '/');
    seen->program |= slash && strcmp(slash, "/busy") == 0;
}

static int look(void *context, const void *records, size_t size, struct fathom_error *err)
{
    struct seen *seen = context;
    (void)err;
    cr_assert_eq((uintptr_t)records % 8, 0);
    for (size_t at = 0; at < size;) {
        const uint8_t *record = (const uint8_t *)records + at;
        struct perf_event_header header;
        cr_assert_leq(at + sizeof header, size);
        memcpy(&header, record, sizeof header);
        cr_assert(header.size >= 8 && header.size % 8 == 0 && at + header.size <= size);
        if (header.type == PERF_RECORD_SAMPLE)
            see_sample(seen, record, header.size);
        else if (header.type == PERF_RECORD_MMAP2)
            see_mapping(seen, record, header.size, header.misc);
        else if (header.type == PERF_RECORD_LOST || header.type == PERF_RECORD_LOST_SAMPLES)
            see_loss(seen, record, &header);
        else if (header.type < 64 && header.type != PERF_RECORD_COMM && header.type != PERF_RECORD_FORK)
            seen->others++;
        seen->rounds += header.type == 68;
        seen->comms += header.type == PERF_RECORD_COMM;
        seen->execs += header.type == PERF_RECORD_COMM && header.misc & PERF_RECORD_MISC_COMM_EXEC;
        seen->forks += header.type == PERF_RECORD_FORK;
        at += header.size;
    }
    return 0;
}

/* The path of busy, beside this test in the build tree. */
static const char *busy_path(void)
{
    static char path[4096];
    const char *top = getenv("top_builddir");
    snprintf(path, sizeof path, "%s/tests/collector/busy", top ? top : ".");
    cr_assert_eq(access(path, X_OK), 0, "%s is not built", path);
    return path;
}

static struct collector *opened(const struct collector_options *options)
{
    struct collector *c = NULL;
    struct fathom_error err = {0};
    int rc = collector_open(options, &c, &err);
    if (rc == -EPERM || rc == -EACCES)
        cr_skip_test("perf events are not allowed here: %s", err.text);
    cr_assert_eq(rc, 0, "%s", err.text);
    return c;
}

/* Records until the end; *summary and the wait status may be NULL. */
static int collect(const struct collector_options *options, struct seen *seen,
                   struct collector_summary *summary)
{
    struct fathom_error err = {0};
    struct collector *c = opened(options);
    seen->event_count = collector_events(c, &seen->events);
    int rc = decoder_new(seen->events, seen->event_count, &seen->decoder, &err);
    cr_assert_eq(rc, 0, "%s", err.text);
    rc = collector_start(c, look, seen, &err);
    cr_assert_eq(rc, 0, "%s", err.text);
    while ((rc = collector_poll(c, 100, look, seen, &err)) > 0)
        ;
    cr_assert_eq(rc, 0, "%s", err.text);
    cr_assert_eq(collector_stop(c, look, seen, &err), 0, "%s", err.text);
    if (summary)
        collector_summary(c, summary);
    int status = collector_status(c);
    collector_close(c);
    decoder_free(seen->decoder);
    judge(seen);
    return status;
}

/* Runs busy under the collector with its output in a file; returns that as text. */
static char *run_busy(const char *mode, const char *ms, struct collector_options options, struct seen *seen,
                      struct collector_summary *summary)
{
    char name[] = "/tmp/fathom-busy-XXXXXX", script[4200];
    int fd = mkstemp(name);
    cr_assert_geq(fd, 0);
    snprintf(script, sizeof script, "exec '%s' %s %s > '%s'", busy_path(), mode, ms, name);
    char sh[] = "sh", c[] = "-c";
    char *const argv[] = {sh, c, script, NULL};
    options.command = argv;
    int status = collect(&options, seen, summary);
    cr_assert_eq(status, 0, "busy ended with %x", (unsigned)status);
    struct stat st;
    cr_assert_eq(fstat(fd, &st), 0);
    char *text = calloc(1, (size_t)st.st_size + 1);
    cr_assert_eq(pread(fd, text, (size_t)st.st_size, 0), st.st_size);
    close(fd);
    unlink(name);
    return text;
}

/* Compares busy's own words with the stacks that were told. Returns how many stacks it named. */
static size_t check_stacks(const char *text, const struct seen *seen)
{
    size_t count = 0;
    int tid;
    unsigned long low, high;
    for (const char *at = text; at && sscanf(at, "stack %d %lx %lx", &tid, &low, &high) == 3; count++) {
        const struct stack *stack = stack_at(seen, (uint32_t)tid, UINT64_MAX);
        cr_assert_not_null(stack, "no [stack:%d]", tid);
        cr_assert_leq(stack->low, low);
        cr_assert_geq(stack->base, high);
        cr_assert_leq(stack->base - high, 512, "base %lx, highest known address %lx",
                      (unsigned long)stack->base, high);
        if (stack->pid == stack->tid)
            cr_assert_eq(stack->base, high, "not the initial SP");
        at = strchr(at, '\n');
        at = at ? at + 1 : NULL;
    }
    return count;
}

static const struct collector_options plain = {.event = {.name = "cpu-clock", .frequency = 1000}};

/* The two clocks run alike, and the thread keeps its name. */
Test(collector, one_moment_by_two_clocks)
{
    uint64_t monotonic[2], recording[2];
    char name[16] = "", after[16] = "";
    prctl(PR_SET_NAME, "clocked");
    prctl(PR_GET_NAME, name);
    const int rc = clock_pair_read(&monotonic[0], &recording[0]);
    if (rc == -EACCES || rc == -EPERM)
        cr_skip_test("perf events are not allowed here");
    cr_assert_eq(rc, 0);
    cr_assert_eq(clock_pair_read(&monotonic[1], &recording[1]), 0);
    cr_expect_gt(monotonic[1], monotonic[0]);
    cr_expect_gt(recording[1], recording[0]);
    prctl(PR_GET_NAME, after);
    cr_expect_str_eq(after, name);
}

Test(collector, a_launched_command_gives_samples_on_its_stack)
{
    struct seen *seen = watch();
    struct collector_summary summary;
    char *text = run_busy("main", "200", plain, seen, &summary);
    cr_assert_geq(seen->samples, 100);
    cr_assert_leq(seen->samples, 400);
    cr_assert_eq(seen->sample_size, 72);
    cr_assert_eq(seen->samples, summary.samples);
    cr_assert_eq(seen->outside, 0);
    cr_assert_eq(summary.bases_missing, 0);
    cr_assert_eq(summary.lost, 0);
    cr_assert_geq(seen->rounds, 4);
    cr_assert_eq(seen->execs, 2); /* sh, busy */
    cr_assert(seen->program && seen->vdso);
    cr_assert_eq(check_stacks(text, seen), 1);
    free(text);
}

Test(collector, a_command_of_a_millisecond_has_its_base)
{
    char *const argv[] = {arg(busy_path()), arg("main"), arg("1"), NULL};
    struct collector_options options = plain;
    options.event.frequency = 10000;
    options.command = argv;
    uint64_t samples = 0;
    for (int i = 0; i < 5; i++) {
        struct seen *seen = watch();
        struct collector_summary summary;
        cr_assert_eq(collect(&options, seen, &summary), 0);
        samples += seen->samples;
        cr_assert_eq(seen->outside, 0);
        cr_assert_eq(seen->stack_count, 1);
        cr_assert_eq(summary.bases_missing, 0);
    }
    cr_assert_geq(samples, 10); /* of 50; a loaded machine takes the CPU from its guest */
}

Test(collector, threads_that_start_later_have_their_bases)
{
    struct seen *seen = watch();
    struct collector_summary summary;
    char *text = run_busy("threads", "150", plain, seen, &summary);
    cr_assert_eq(check_stacks(text, seen), 3);
    cr_assert_geq(seen->samples, 250);
    cr_assert_eq(seen->forks, 2);
    cr_assert_eq(summary.bases_missing, 0);
    cr_assert_leq(seen->outside, 2); /* inside clone, before the slot is there */
    free(text);
}

Test(collector, forked_children_are_followed)
{
    struct seen *seen = watch();
    struct collector_summary summary;
    char *text = run_busy("fork", "150", plain, seen, &summary);
    cr_assert_eq(check_stacks(text, seen), 2);
    cr_assert_geq(seen->samples, 160); /* of 300; one process alone has 150 at most */
    cr_assert_eq(seen->outside, 0);
    cr_assert_eq(summary.bases_missing, 0);
    free(text);
}

Test(collector, an_exec_moves_the_base)
{
    struct seen *seen = watch();
    char *text = run_busy("exec", "150", plain, seen, NULL);
    cr_assert_eq(seen->execs, 3);
    cr_assert_eq(seen->stack_count, 3);
    cr_assert_neq(seen->stacks[1].base, seen->stacks[2].base);
    cr_assert_eq(check_stacks(text, seen), 1); /* of the last image: the first stays silent */
    cr_assert_leq(seen->outside, 1);
    free(text);
}

Test(collector, audit_dumps_end_at_the_base)
{
    struct seen *seen = watch();
    struct collector_summary summary;
    struct collector_options options = plain;
    options.audit_hz = 100;
    options.audit_stack_size = 32768;
    free(run_busy("main", "300", options, seen, &summary));
    cr_assert_geq(seen->audits, 10);
    cr_assert_eq(seen->audits, summary.audit_samples);
    cr_assert_eq(seen->dumps_past, 0);
    cr_assert_gt(seen->largest_dump, 64);
    cr_assert_lt(seen->largest_dump, 8192); /* busy's main is shallow */
    cr_assert_eq(seen->sample_size, 72);
    cr_assert_geq(seen->samples, 150);
}

Test(collector, dumps_of_the_main_event)
{
    struct seen *seen = watch();
    struct collector_summary summary;
    struct collector_options options = plain;
    options.event.stack_size = 65528;
    options.event.frequency = 500;
    free(run_busy("main", "400", options, seen, &summary));
    cr_assert_geq(seen->samples, 10);
    cr_assert_geq(seen->samples + summary.lost, 50); /* a recorder that comes late finds the ring full */
    cr_assert_eq(seen->dumps_past, 0);
    cr_assert_gt(seen->largest_dump, 64);
}

static pid_t start_busy(const char *mode, const char *ms, int *output)
{
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], 1);
        close(ends[0]);
        close(ends[1]);
        execl(busy_path(), "busy", mode, ms, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    *output = ends[0];
    return pid;
}

Test(collector, attaching_to_a_process_with_threads)
{
    int output;
    pid_t pid = start_busy("threads", "400", &output);
    char text[512] = "";
    for (size_t used = 0, lines = 0; lines < 3;) { /* both threads run */
        ssize_t n = read(output, text + used, sizeof text - 1 - used);
        cr_assert_gt(n, 0);
        used += (size_t)n;
        lines = 0;
        for (const char *c = text; (c = strchr(c, '\n')); c++)
            lines++;
    }
    struct seen *seen = watch();
    struct collector_summary summary;
    struct collector_options options = plain;
    options.pids = &pid;
    options.pid_count = 1;
    /* A second process reaps busy, or it would stay a zombie; events end when it exits all the same. */
    cr_assert_eq(collect(&options, seen, &summary), -1);
    waitpid(pid, NULL, 0);
    close(output);
    cr_assert_geq(seen->samples, 400);
    cr_assert_eq(seen->forks, 3);
    cr_assert_geq(seen->comms, 3);
    cr_assert(seen->program && seen->vdso);
    cr_assert_eq(check_stacks(text, seen), 3);
    cr_assert_eq(summary.bases_missing, 0);
    cr_assert_leq(seen->outside, 2);
}

Test(collector, attaching_to_one_thread)
{
    int output;
    pid_t pid = start_busy("main", "300", &output);
    char text[256] = "";
    cr_assert_gt(read(output, text, sizeof text - 1), 0);
    struct seen *seen = watch();
    struct collector_options options = plain;
    options.tids = &pid;
    options.tid_count = 1;
    collect(&options, seen, NULL);
    waitpid(pid, NULL, 0);
    close(output);
    cr_assert_geq(seen->samples, 50);
    cr_assert_eq(check_stacks(text, seen), 1);
}

/* All records that the kernel made of "busy calls": those that came, and those it had no room for. */
static size_t calls_records(const char *calls, size_t ring_bytes, struct seen *seen)
{
    struct collector_summary summary;
    struct collector_options options = {.event = {.name = "syscalls:sys_enter_getppid", .period = 1},
                                        .audit_hz = 10,
                                        .audit_stack_size = 256};
    char *const argv[] = {arg(busy_path()), arg("calls"), arg(calls), NULL};
    options.command = argv;
    options.ring_bytes = ring_bytes;
    seen->ignore_addresses = true;
    cr_assert_eq(collect(&options, seen, &summary), 0);
    cr_assert_eq(summary.samples, seen->samples);
    cr_assert_eq(summary.lost, seen->lost_told + seen->lost_untold);
    return seen->samples + seen->comms + seen->forks + seen->mappings + seen->others + summary.lost;
}

Test(collector, losses_are_told_to_the_last_record)
{
    uint64_t id;
    struct perf_event_attr attr = {.size = sizeof attr, .type = PERF_TYPE_SOFTWARE};
    attr.read_format = PERF_FORMAT_LOST;
    attr.exclude_kernel = 1;
    if (tracefs_number("events/syscalls/sys_enter_getppid/id", &id) != 0)
        cr_skip_test("tracepoints need root and tracefs");
    if (open_probe(&attr) != 0)
        cr_skip_test("this kernel does not count what it loses (Linux 6.0 does)");
    struct seen *seen = watch();
    const size_t all = calls_records("20000", 16 << 20, seen);
    cr_assert_eq(seen->samples, 40000);
    cr_assert_eq(seen->lost_told + seen->lost_untold, 0);
    size_t told = 0;
    size_t untold = 0;
    /* Whether a ring is full, and is so at the very end, is up to the scheduler. */
    for (int i = 0; i < 40 && (i < 5 || told == 0 || untold == 0); i++) {
        seen = watch();
        cr_assert_eq(calls_records("20000", 4096, seen), all);
        told += seen->lost_told;
        untold += seen->lost_untold;
    }
    if (told == 0 || untold == 0)
        cr_skip_test("no ring was full on the way, or none at the end, in 40 runs");
}

Test(collector, what_cannot_be_recorded_says_why)
{
    struct collector *c;
    struct fathom_error err = {0};
    struct collector_options options = plain;
    pid_t gone = fork();
    if (gone == 0)
        _exit(0);
    waitpid(gone, NULL, 0);
    options.pids = &gone;
    options.pid_count = 1;
    char want[64];
    snprintf(want, sizeof want, "process %d does not exist", (int)gone);
    cr_assert_eq(collector_open(&options, &c, &err), -ESRCH);
    cr_assert_str_eq(err.text, want);
    options.everyone = true;
    cr_assert_eq(collector_open(&options, &c, &err), -EINVAL, "everyone, and a process");
    options = plain;
    cr_assert_eq(collector_open(&options, &c, &err), -EINVAL);
    options.ring_bytes = 12345;
    options.pids = &gone;
    options.pid_count = 1;
    cr_assert_eq(collector_open(&options, &c, &err), -EINVAL);
    cr_assert(strstr(err.text, "power of two"));
}

Test(collector, a_command_that_is_not_there)
{
    char *const argv[] = {arg("fathom-no-such-program"), NULL};
    struct collector_options options = plain;
    options.command = argv;
    struct collector *c = opened(&options);
    struct seen *seen = watch();
    struct fathom_error err = {0};
    cr_assert_eq(collector_start(c, look, seen, &err), -ENOENT);
    cr_assert_str_eq(err.text, "cannot run fathom-no-such-program: not found");
    collector_close(c);
}

Test(collector, closing_before_the_start_ends_the_command)
{
    char *const argv[] = {arg("sleep"), arg("60"), NULL};
    struct collector_options options = plain;
    options.command = argv;
    time_t before = time(NULL);
    collector_close(opened(&options));
    cr_assert_leq(time(NULL) - before, 5);
    cr_assert_eq(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
}

static int refuse(void *context, const void *records, size_t size, struct fathom_error *err)
{
    (void)records;
    *(size_t *)context += size;
    return error_set(err, ENOSPC, "full");
}

Test(collector, a_sinks_failure_is_handed_through)
{
    char *const argv[] = {arg(busy_path()), arg("main"), arg("100"), NULL};
    struct collector_options options = plain;
    options.command = argv;
    struct collector *c = opened(&options);
    struct fathom_error err = {0};
    size_t size = 0;
    cr_assert_eq(collector_start(c, refuse, &size, &err), 0); /* nothing to tell yet */
    int rc;
    do
        rc = collector_poll(c, 100, refuse, &size, &err);
    while (rc > 0);
    cr_assert_eq(rc, -ENOSPC);
    cr_assert_str_eq(err.text, "full");
    cr_assert_gt(size, 0);
    collector_signal(c, SIGKILL);
    waitpid(-1, NULL, 0);
    collector_close(c);
}

/* The kernel takes the program for precise events, which no event here need be. */
Test(collector, the_program_for_precise_events_loads)
{
    const struct verify_options options = {
        .wish = VERIFY_ASKED, .where = VERIFY_PRECISE, .compared = STACK_RECORD_ALL, .follow = VERIFY_ALL};
    struct fathom_error err = {0};
    struct verify *verify;
    struct event clock;
    if (event_parse(&(struct event_options){.name = "cpu-clock"}, NULL, &clock, &err) != 0 ||
        open_probe(&clock.attr) != 0)
        cr_skip_test("the kernel refuses to sample");
    if (verify_new(&options, &verify, &err) != 0) {
        struct verify_options older = options;
        older.where = VERIFY_KERNEL; /* needs what that one needs */
        cr_assert_neq(verify_new(&older, &verify, NULL), 0, "%s", err.text);
        cr_skip_test("%s", err.text);
    }
    cr_assert_eq(open_with_program(&clock.attr, verify_program(verify)), 0);
    verify_free(verify);
}
