/* record.c - `fathom record`: samples a command or running processes into a perf.data file. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/events.h"
#include "cli/exit.h"
#include "cli/kept_maps.h"
#include "api/record/learning.h"
#include "api/record/mapped_sink.h"
#include "cli/output.h"
#include "cli/pager.h"
#include "cli/privilege.h"
#include "cli/record.h"
#include "api/record/stack_sink.h"
#include "pathmap/map/pathmap.h"
#include "perfdata/reader.h"
#include "perfdata/writer.h"

#define AUDIT_HZ          10
#define AUDIT_STACK_BYTES 65528
#define FLUSH_NS          500000000 /* half of the second that fathom-record(1) promises */

struct recording {
    struct collector *collector;
    struct writer *writer;
    struct mapped_sink *sink;
    struct stack_sink *stacks; /* NULL: stack records are written as they are */
    struct learning *learning;
    struct terminal *terminal;
    bool nothing;     /* was sampled */
    uint64_t flushed; /* when the writer's buffer was last flushed, ns */
};

static int record_sink(void *context, const void *records, size_t size, struct fathom_error *err)
{
    struct recording *r = context;
    return mapped_sink_add(r->sink, records, size, err);
}

/* Writes what was drained to the file within FLUSH_NS, so that it survives this process. */
static int record_progress(void *context, struct fathom_error *err)
{
    struct recording *r = context;
    uint64_t now = clock_ns();
    if (now - r->flushed >= FLUSH_NS) {
        r->flushed = now;
        int rc = writer_flush(r->writer, err);
        if (rc < 0)
            return rc;
    }
    struct collector_summary summary;
    collector_summary(r->collector, &summary);
    terminal_progress(r->terminal, "%llu samples, %.1f MB", (unsigned long long)summary.samples,
                      (double)writer_size(r->writer) / 1e6);
    return 0;
}

/* Stock perf reads a recording of tracepoints only with their formats. */
static int write_tracing_data(struct recording *r, struct fathom_error *err)
{
    uint8_t *data = NULL;
    size_t size;
    int rc = collector_tracing_data(r->collector, &data, &size, err);
    if (rc == 0 && size)
        rc = writer_tracing_data(r->writer, data, size, err);
    free(data);
    return rc;
}

bool record_say_losses(const struct collector *collector, struct terminal *terminal)
{
    struct collector_summary summary, *s = &summary;
    char why[512];
    enum log_level level;
    collector_summary(collector, s);
    if (s->lost)
        terminal_say(terminal, LOG_WARNING, "%llu record%s lost: sample less often or use a larger --ring",
                     (unsigned long long)s->lost, s->lost == 1 ? " was" : "s were");
    if (s->stacks_crowded)
        terminal_say(
            terminal, s->stacks_crowded > s->samples / 100 ? LOG_WARNING : LOG_NOTE,
            "%llu new stack%s not read, as they came faster than they could be taken in: use a larger "
            "--ring, or the paths of some samples are inferred",
            (unsigned long long)s->stacks_crowded, s->stacks_crowded == 1 ? " was" : "s were");
    if (s->stacks_returned)
        terminal_say(
            terminal, LOG_NOTE,
            "the stacks of %llu precise sample%s (%.1f%%) were not compared, as their function may have "
            "returned before they could be read: their paths are inferred",
            (unsigned long long)s->stacks_returned, s->stacks_returned == 1 ? "" : "s",
            100 * (double)s->stacks_returned / (double)(s->samples ? s->samples : 1));
    if (s->throttled)
        terminal_say(terminal, LOG_WARNING, "the kernel throttled the event %llu times",
                     (unsigned long long)s->throttled);
    if (s->bases_missing)
        terminal_say(terminal, LOG_NOTE, "%llu thread%s ended before the stack could be located",
                     (unsigned long long)s->bases_missing, s->bases_missing == 1 ? "" : "s");
    bool nothing = collector_why_nothing(collector, why, sizeof why);
    if (nothing)
        terminal_say(terminal, LOG_WARNING, "nothing was sampled: %s", why);
    if (collector_silent(collector, &level, why, sizeof why))
        terminal_say(terminal, level, "%s", why);
    return nothing;
}

static void say_summary(struct recording *r, double bytes, const char *path)
{
    struct collector_summary s;
    collector_summary(r->collector, &s);
    bool large = bytes >= 1e6;
    bool follows = collector_follows(r->collector);
    uint64_t stacks = follows ? s.stacks_new : s.audit_samples;
    terminal_say(r->terminal, LOG_NOTE, "%llu sample%s and %llu %s%s in %s (%.1f %s)",
                 (unsigned long long)s.samples, s.samples == 1 ? "" : "s", (unsigned long long)stacks,
                 follows ? "new stack" : "audit sample", stacks == 1 ? "" : "s", path,
                 bytes / (large ? 1e6 : 1e3), large ? "MB" : "KB");
    r->nothing = record_say_losses(r->collector, r->terminal);
}

/* Closes the file even after a failure, so that what was recorded stays readable. A failure before the first
 * sample, such as a missing command, keeps the previous file. Prints the summary once all is written. */
static int end_file(struct recording *r, const char *output, int rc, struct fathom_error *err)
{
    struct collector_summary s;
    collector_summary(r->collector, &s);
    if (rc < 0 && !s.samples && !s.audit_samples) {
        writer_discard(r->writer);
        return rc;
    }
    double bytes = (double)writer_size(r->writer);
    int closed = writer_close(r->writer, rc ? NULL : err);
    if (rc == 0 && closed == 0)
        say_summary(r, bytes, outfile_name(output));
    return rc < 0 ? rc : closed;
}

/* Reads the recording again: from a regular file alone. */
static void keep_learned(const struct record_options *options, struct terminal *terminal)
{
    struct reader *reader;
    struct stat st;
    if (!kept_maps_wanted(options->no_cache) || strcmp(options->output, "-") == 0 ||
        stat(options->output, &st) != 0 || !S_ISREG(st.st_mode) ||
        reader_open(options->output, NULL, &reader, NULL) < 0)
        return;
    kept_maps_add(reader, &terminal->log, terminal->verbose);
    reader_close(reader);
}

void record_collector(const struct record_options *options, struct terminal *terminal,
                      struct collector_options *out)
{
    target_collector(&options->target, &terminal->log, out);
    out->event.data_address = options->data;
    out->event.kernel = options->kernel;
    bool by_default = options->audit_hz == AUDIT_DEFAULT;
    out->audit_hz = by_default ? AUDIT_HZ : options->audit_hz;
    out->audit_instead = out->audit_adapts = by_default;
    out->event.batches = options->passive;
    if (options->map) /* which has what a faster clock would find */
        out->audit_adapts = false;
    if ((!by_default || options->passive) && out->verify.wish == VERIFY_BY_DEFAULT)
        out->verify.wish = VERIFY_NEVER;
    out->audit_stack_size = (uint32_t)options->audit_stack;
    out->unwound_elsewhere = options->stack_samples;
    out->scope = options->scope;
    out->ring_bytes = options->ring_kib * 1024;
}

/* The writer, with the events that the file is to have. It takes *out. */
static int open_writer(struct recording *r, bool stack_samples, struct outfile **out,
                       struct fathom_error *err)
{
    const struct event *events;
    size_t count = collector_events(r->collector, &events);
    if (stack_samples && collector_follows(r->collector)) {
        int rc = stack_sink_new(events, count, &r->stacks, err);
        if (rc < 0)
            return rc;
        count = stack_sink_events(r->stacks, &events);
    }
    int rc = writer_new(*out, events, count, &r->writer, err);
    if (rc < 0)
        return rc;
    *out = NULL;
    writer_keep_old(r->writer);
    return 0;
}

/* The way of the records to the writer. What is learned needs the build-ids and copies of files that the first part gives. */
static int open_sink(struct recording *r, const struct collector_options *collect, struct fathom_error *err)
{
    int rc;
    if (r->stacks) {
        stack_sink_to(r->stacks, mapped_sink_write, r->writer);
        rc = learning_new(r->collector, collect, stack_sink_add, r->stacks, &r->learning, err);
    } else {
        rc = learning_new(r->collector, collect, mapped_sink_write, r->writer, &r->learning, err);
    }
    struct mapped_sink_input input = {.log = &r->terminal->log, .next = learning_add, .context = r->learning};
    input.count = collector_events(r->collector, &input.events);
    return rc == 0 ? mapped_sink_new(&input, &r->sink, err) : rc;
}

/* What is known only once all records have come. */
static int end_sink(struct recording *r, int rc, struct fathom_error *err)
{
    if (r->stacks) {
        int passed = stack_sink_finish(r->stacks, rc ? NULL : err);
        rc = rc < 0 ? rc : passed;
    }
    mapped_sink_finish(r->sink);
    int told = mapped_sink_build_ids(r->sink, r->writer, rc ? NULL : err);
    return rc < 0 ? rc : told;
}

/* The command line as it was typed, of argc + 1 words: argv[0] is a prefix of messages. The caller frees the list. NULL: out of
 * memory. */
static char **typed_words(int argc, char **argv)
{
    char **words = calloc((size_t)argc + 1, sizeof *words);
    if (!words)
        return NULL;
    words[0] = (char *)(uintptr_t) "fathom";
    words[1] = (char *)(uintptr_t)record_command.name;
    memcpy(words + 2, argv + 1, ((size_t)argc - 1) * sizeof *words);
    return words;
}

static int record_to_file(struct record_options *options, int argc, char **argv, struct terminal *terminal)
{
    struct recording r = {.terminal = terminal};
    struct fathom_error err = {0};
    int code = EXIT_OK;
    struct collector_options collect;
    record_collector(options, terminal, &collect);

    /* Opened before the command is forked, which must not inherit our standard output if the recording goes
     * there. */
    struct outfile *out = NULL;
    int rc = output_open(options->output, &out, &err);
    if (rc == 0)
        rc = collector_open(&collect, &r.collector, &err);
    if (rc < 0)
        goto out;
    rc = open_writer(&r, options->stack_samples, &out, &err);
    if (rc == 0)
        rc = write_tracing_data(&r, &err);
    if (rc < 0)
        goto out;
    privilege_only_observe(options->output, collect.command, terminal);
    rc = open_sink(&r, &collect, &err);
    char **words = typed_words(argc, argv);
    if (rc == 0)
        rc = words ? writer_command(r.writer, argc + 1, words, &err) : error_memory(&err);
    free(words);
    enum target_end end = TARGET_ENDED;
    if (rc == 0)
        rc = target_run(&options->target, r.collector,
                        &(struct target_user){record_sink, record_progress, &r}, &end, &err);
    terminal_progress_end(terminal);
    if (r.sink)
        rc = end_sink(&r, rc, &err);
    int status = collector_status(r.collector);
    rc = end_file(&r, options->output, rc, &err);
    privilege_only_read(terminal);
    if (rc == 0)
        keep_learned(options, terminal);
    if (rc == 0 && options->map)
        terminal_say(terminal, LOG_NOTE, "'fathom report -m %s' takes the map", options->map);
    if (rc == 0 && options->target.command && status >= 0)
        code = exit_code_of_status(status);
    else if (rc == 0 && !options->target.command && r.nothing)
        code = EXIT_NOTHING;
out:
    if (rc < 0) {
        terminal_error(terminal, &err);
        code = exit_code_of(&err);
    }
    if (rc < 0 && code == EXIT_PERMISSION)
        terminal_say(terminal, LOG_NOTE,
                     "'fathom doctor' tells what this user may record, and how to change that");
    outfile_close(out);
    learning_free(r.learning);
    mapped_sink_free(r.sink);
    stack_sink_free(r.stacks);
    collector_close(r.collector);
    return code;
}

/* The command line in one piece, quoted as in a file. The caller frees it. NULL: out of memory. */
static char *join(int argc, char **argv)
{
    size_t size = 1, used = 0;
    for (int i = 0; i < argc; i++)
        size += TEXT_QUOTED(strlen(argv[i])) + 1;
    char *text = malloc(size);
    for (int i = 0; text && i < argc; i++) {
        if (i)
            text[used++] = ' ';
        used += text_quote(argv[i], text + used);
    }
    if (text)
        text[used] = 0;
    return text;
}

/* What batches rule out (collector/events/pebs.h). */
static int check_passive(const struct record_options *o, struct terminal *terminal)
{
    const char *other = o->target.frequency ? "-F, which adjusts the period at an interrupt"
                        : o->target.verify.wish == FATHOM_VERIFY_ASKED
                            ? "--verify and --dumps, which look at each stack"
                        : o->kernel ? "--kernel, whose registers are read at an interrupt"
                                    : NULL;
    if (o->map && !o->passive)
        return option_usage(terminal, &record_command, "-m is for --passive: 'fathom report -m' takes a map");
    if (o->passive && other)
        return option_usage(terminal, &record_command,
                            "--passive takes samples without interrupts: leave out %s", other);
    struct fathom_error err;
    struct pathmap *map;
    if (!o->map)
        return -1;
    if (pathmap_open(o->map, &map, &err) < 0) {
        terminal_error(terminal, &err);
        return exit_code_of(&err);
    }
    pathmap_close(map);
    return -1;
}

static int report_live(const struct record_options *options, int argc, char **argv, struct terminal *terminal)
{
    char **words = typed_words(argc, argv), *command = words ? join(argc + 1, words) : NULL;
    free(words);
    int code = record_and_report(options, command, terminal);
    free(command);
    return code;
}

/* `-e list`, and `-e help` for users of perf. */
static bool wants_list(const struct record_options *o)
{
    const char *event = o->target.event;
    return o->list_events || (event && (strcmp(event, "list") == 0 || strcmp(event, "help") == 0));
}

static int record_run(int argc, char **argv, struct terminal *terminal)
{
    struct record_options options = {.scope = COLLECT_BY_CPU_IF_ALLOWED,
                                     .audit_hz = AUDIT_DEFAULT,
                                     .audit_stack = AUDIT_STACK_BYTES,
                                     .target.verify = fathom_verify_default};
    int code = options_parse(&record_command, &options, false, argc, argv, terminal);
    if (code < 0 && wants_list(&options)) {
        pager_start(terminal);
        code = events_print(terminal);
    }
    if (code < 0)
        code = target_complete(&options.target, &record_command, argc, argv, terminal);
    if (code < 0)
        code = check_passive(&options, terminal);
    if (code < 0 && options.paths)
        terminal_say(terminal, LOG_NOTE, "call paths are always recorded: -g changes nothing");
    if (code < 0 && options.ring_kib & (options.ring_kib - 1))
        code = option_usage(terminal, &record_command, "--ring: %llu is not a power of two",
                            (unsigned long long)options.ring_kib);
    if (code < 0 && options.report && options.output)
        code = option_usage(terminal, &record_command, "--report writes no file: leave out -o, or --report");
    if (code < 0 && options.report && options.stack_samples)
        code = option_usage(terminal, &record_command,
                            "--report writes no file: leave out --stack-samples, or --report");
    if (code < 0 && options.kernel && options.stack_samples)
        code = option_usage(terminal, &record_command,
                            "--kernel has the chains of callers that --stack-samples leaves to user code: "
                            "leave out one of the two");
    if (code < 0 && options.report)
        code = report_live(&options, argc, argv, terminal);
    if (!options.output)
        options.output = "perf.data";
    if (code < 0)
        code = record_to_file(&options, argc, argv, terminal);
    target_free(&options.target);
    return code;
}

static const struct option_word scopes[] = {
    {"auto", COLLECT_BY_CPU_IF_ALLOWED}, {"always", COLLECT_BY_CPU}, {"never", COLLECT_BY_THREAD}, {0}};

static const struct option_row rows[] = {
    TARGET_EVENT(
        struct record_options,
        "what to sample: cpu-clock, page-faults, cache-miss, a tracepoint, ...: 'fathom events' lists them "
        "(default: cycles, or cpu-clock where there is no PMU)"),
    OPTION_FLAG("list-events", 0, struct record_options, list_events,
                "print what 'fathom events' does, and exit; '-e list' too"),
    TARGET_FREQUENCY(struct record_options, "samples per second (default for clocks: 1000)"),
    TARGET_PERIOD(struct record_options, "one sample every N events (clocks: nanoseconds)"),
    TARGET_PID(struct record_options, "attach to these processes, their threads and their children"),
    TARGET_NO_CHILDREN(struct record_options),
    TARGET_TID(struct record_options, "attach to these threads only"),
    OPTION_FLAG("report", 0, struct record_options, report,
                "print the report at the end, as 'fathom report' does, and write no file"),
    OPTION_TEXT("output", 'o', "FILE", struct record_options, output,
                "default: perf.data; '-': standard output"),
    TARGET_DURATION(struct record_options, "stop after S seconds (and terminate a launched command)"),
    TARGET_VERIFY(struct record_options,
                  "return addresses to compare with those of known stacks: all, none, or the K innermost "
                  "(default: all)"),
    TARGET_DUMPS(struct record_options),
    OPTION_FLAG(
        "passive", 0, struct record_options, passive,
        "sample precise events in batches, without an interrupt for each (large PEBS): few stacks are "
        "read, by a clock (--audit), and the other paths are inferred"),
    OPTION_TEXT("map", 'm', "MAP", struct record_options, map,
                "with --passive: the path map that the report takes, so that the clock stays slow"),
    OPTION_NUMBER("audit", 0, "HZ", 0, 20000, struct record_options, audit_hz,
                  "read stacks by a clock instead, so many per second of CPU time, and infer the other paths "
                  "from them (default: only where stacks cannot be compared, 10 to 1000, by how much "
                  "is news; 0: read none)"),
    OPTION_NUMBER("audit-stack", 0, "N", 64, 65528, struct record_options, audit_stack,
                  "bytes of stack in each dump (default: 65528, the kernel's maximum)"),
    OPTION_FLAG("stack-samples", 0, struct record_options, stack_samples,
                "write stacks so that perf and other tools unwind them: new ones as samples of an event "
                "'new-stacks'"),
    OPTION_NUMBER("ring", 0, "KIB", 4, 1 << 20, struct record_options, ring_kib,
                  "ring buffer of each CPU (default: chosen from the event)"),
    OPTION_CHOICE(
        "per-cpu", 0, "WHEN", scopes, enum collector_scope, struct record_options, scope,
        "count per CPU rather than per thread, so that processes shorter than a period are sampled too: "
        "always, never, auto (default: for clocks of at most 1000 Hz, if the kernel allows it)"),
    KEPT_MAPS_NO_CACHE(struct record_options,
                       "keep nothing of what is learned for other recordings, and use nothing kept"),
    OPTION_FLAG("kernel", 0, struct record_options, kernel,
                "sample in the kernel too: its functions stand below the path that entered it; each sample "
                "is taken at an interrupt"),
    OPTION_FLAG(
        "paths", 'g', struct record_options, paths,
        "changes nothing, as call paths are always recorded: for those who are used to perf record -g"),
    OPTION_FLAG("data", 0, struct record_options, data, "record data addresses (page faults, memory events)"),
    OPTION_QUIET("print no progress and no notes"),
    OPTION_VERBOSE("print more details"),
    OPTION_PAGER,
    OPTION_HELP,
    OPTION_END,
};

const struct command record_command = {
    .name = "record",
    .summary = "sample a command or running processes into a perf.data file",
    .synopsis = "[OPTIONS] -- COMMAND [ARG...]\n"
                "[OPTIONS] -p PID[,PID...]\n"
                "[OPTIONS] -t TID[,TID...]\n"
                "--list-events",
    .about =
        "Records the thread, program counter and stack pointer of each sample, and each stack that is new; "
        "'fathom report' shows the call paths. The file is a standard perf.data file.",
    .options = rows,
    .notes = "If the recording succeeds, the exit code is the command's own; see fathom-record(1).",
    .run = record_run,
};
