/* record.c - `fathom record`: samples a command or running processes into a perf.data file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/exit.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/pager.h"
#include "cli/phases_policy.h"
#include "cli/privilege.h"
#include "cli/record.h"
#include "cli/target.h"

/* Functions whose calls are timed. */
struct latencies {
    const char *functions[8]; /* [FILE:]FUNCTION, borrowed; the limit of events in a recording */
    unsigned count;
};

struct record_options {
    struct fathom_recorder_options recorder; /* first, as rows of options have offsets in either struct */
    struct latencies latencies;
    bool list_events;
    bool report; /* write no file */
    bool paths;  /* -g was given, which changes nothing */
};

/* The command line as it was typed, of argc + 1 words: argv[0] has been replaced by a prefix of messages. The caller frees the list.
 * NULL: out of memory. */
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

static int report_failure(const struct fathom_error *err, struct terminal *terminal)
{
    const int code = exit_code_of(err);
    terminal_error(terminal, err);
    if (code == EXIT_PERMISSION)
        terminal_say(terminal, LOG_NOTE,
                     "'fathom doctor' tells what this user may record, and how to change that");
    return code;
}

INTERRUPT_BY(stop_recorder, fathom_recorder_stop)

static void profile_once(void *recorder)
{
    fathom_recorder_control(recorder, FATHOM_CONTROL_ONCE);
}

static int record_to_file(struct record_options *options, int argc, char **argv, struct terminal *terminal)
{
    struct fathom_recorder_options *o = &options->recorder;
    struct fathom_recorder *recorder = NULL;
    struct fathom_recorder_summary summary;
    struct fathom_error err = {0};
    struct interrupts before;
    int code = EXIT_OK;
    char **words = typed_words(argc, argv);
    o->stream = output_divert(o->output);
    o->argc = argc + 1;
    o->argv = words;
    int rc = words ? fathom_recorder_open(o, &terminal->listener, &recorder, &err) : error_memory(&err);
    if (rc == 0) {
        privilege_only_observe(
            &(struct privilege_observing){.output = o->output,
                                          .launched = o->target.command,
                                          .opens_again = o->part_bytes || o->part_seconds > 0},
            terminal);
        interrupt_catch(stop_recorder, recorder, &before);
        if (o->phase_interval > 0)
            interrupt_ask(profile_once, recorder);
        rc = fathom_recorder_run(recorder, &err);
        interrupt_unask();
        interrupt_restore(&before);
        terminal_progress_end(terminal);
        privilege_only_read(terminal);
    }
    if (rc == 0) {
        fathom_recorder_summary(recorder, &summary);
        fathom_recorder_keep(recorder);
        if (o->map)
            terminal_say(terminal, LOG_NOTE, "'fathom report -m %s' takes the map", o->map);
        if (o->target.command && summary.status >= 0)
            code = exit_code_of_status(summary.status);
        else if (!o->target.command && summary.nothing)
            code = EXIT_NOTHING;
    } else {
        code = report_failure(&err, terminal);
    }
    fathom_recorder_close(recorder);
    free(words);
    return code;
}

static bool latencies_take(struct terminal *terminal, const struct option_row *row, char *text, void *value)
{
    struct latencies *l = value;
    if (l->count == sizeof l->functions / sizeof *l->functions)
        return terminal_wrong(terminal, "--%s: at most %u at a time, of which each can be a pattern",
                              row->name, l->count),
               false;
    l->functions[l->count++] = text;
    return true;
}

/* Whether it has the name of a file before a colon; "::" is from C++. */
static bool names_file(const char *function)
{
    const char *colon = strchr(function, ':');
    return colon && colon[1] != ':';
}

/* Finds the program's file, for events of functions. false: there is not exactly one. */
static bool find_program(const struct fathom_target *target, char *out, size_t size)
{
    const struct fathom_pids *pids = target->pids.count ? &target->pids : &target->tids;
    struct stat first = {0}, file;
    if (target->command)
        return snprintf(out, size, "%s", target->command[0]) < (int)size;
    for (size_t i = 0; i < pids->count; i++) {
        snprintf(out, size, "/proc/%d/exe", (int)pids->pids[i]);
        if (stat(out, &file) != 0)
            break; /* it has ended, or is another user's: attaching to it will report that */
        first = i ? first : file;
        if (file.st_dev != first.st_dev || file.st_ino != first.st_ino)
            return false;
    }
    return pids->count > 0;
}

/* Puts the events before the target's, which must be complete. -1, or EXIT_USAGE after printing the error. */
static int latencies_complete(const struct latencies *latencies, struct fathom_target *target,
                              struct terminal *terminal)
{
    char program[4096];
    for (unsigned i = latencies->count; i-- > 0;) {
        const char *function = latencies->functions[i], *more = target->event;
        const bool named = names_file(function);
        char *event;
        if (!named && !find_program(target, program, sizeof program))
            return option_usage(terminal,
                                "--latency %s: several programs may be recorded: give the function's file, "
                                "too, as in ./program:%s",
                                function, function);
        if (asprintf(&event, "latency:%s%s%s%s%s", named ? "" : program, named ? "" : ":", function,
                     more ? "," : "", more ? more : "") < 0)
            return option_usage(terminal, "--latency: out of memory");
        free((char *)(uintptr_t)more);
        target->event = event;
    }
    return -1;
}

/* Refuses options that batches exclude (collector/events/pebs.h). */
static int check_passive(const struct fathom_recorder_options *o, struct terminal *terminal)
{
    const char *other = o->target.frequency ? "-F, which adjusts the period at an interrupt"
                        : o->target.verify.wish == FATHOM_VERIFY_ASKED
                            ? "--verify and --dumps, which look at each stack"
                        : o->kernel ? "--kernel, whose registers are read at an interrupt"
                                    : NULL;
    if (o->map && !o->passive)
        return option_usage(terminal, "-m is for --passive: 'fathom report -m' takes a map");
    if (o->passive && other)
        return option_usage(terminal, "--passive takes samples without interrupts: leave out %s", other);
    return -1;
}

static int report_live(struct record_options *options, int argc, char **argv, struct terminal *terminal)
{
    char **words = typed_words(argc, argv);
    options->recorder.argc = words ? argc + 1 : 0;
    options->recorder.argv = words;
    int code = record_and_report(&options->recorder, terminal);
    free(words);
    return code;
}

/* Also for `-e list` and `-e help`, which users of perf know. */
static bool wants_list(const struct record_options *o)
{
    const char *event = o->recorder.target.event;
    return o->list_events || (event && (strcmp(event, "list") == 0 || strcmp(event, "help") == 0));
}

static int record_run(int argc, char **argv, struct terminal *terminal)
{
    struct record_options options = {.recorder = {.audit_hz = FATHOM_AUDIT_DEFAULT,
                                                  .alloc_runtime = getenv("FATHOM_HEAP_LIBRARY"),
                                                  .target.verify = fathom_verify_default}};
    struct fathom_recorder_options *recorder = &options.recorder;
    interrupt_expect();
    int code = options_parse(&record_command, &options, false, argc, argv, terminal);
    if (code < 0 && wants_list(&options)) {
        optind = 0; /* getopt begins anew */
        code = events_command.run(1, (char *[]){argv[0], NULL}, terminal);
    }
    if (code < 0)
        code = target_complete(&recorder->target, argc, argv, terminal);
    if (code < 0)
        code = latencies_complete(&options.latencies, &recorder->target, terminal);
    const bool parts = recorder->part_bytes || recorder->part_seconds > 0;
    if (code < 0 && recorder->parts_kept && !parts)
        code = option_usage(terminal, "--keep tells how many files of --switch to have");
    if (code < 0 && parts && (options.report || (recorder->output && strcmp(recorder->output, "-") == 0)))
        code = option_usage(terminal, "--switch writes files: leave out %s",
                            options.report ? "--report" : "-o -");
    if (code < 0)
        code = check_passive(recorder, terminal);
    if (code < 0 && fathom_target_wide(&recorder->target) && recorder->scope == FATHOM_SCOPE_THREAD)
        code = option_usage(terminal, "%s counts per CPU: leave out --per-cpu never",
                            target_wide_option(&recorder->target));
    if (code < 0 && options.paths)
        terminal_say(terminal, LOG_NOTE, "call paths are always recorded: -g changes nothing");
    if (code < 0 && recorder->ring_kib & (recorder->ring_kib - 1))
        code = option_usage(terminal, "--ring: %llu is not a power of two",
                            (unsigned long long)recorder->ring_kib);
    if (code < 0 && options.report && recorder->output)
        code = option_usage(terminal, "--report writes no file: leave out -o, or --report");
    if (code < 0 && options.report && recorder->stack_samples)
        code = option_usage(terminal, "--report writes no file: leave out --stack-samples, or --report");
    if (code < 0 && recorder->kernel && recorder->stack_samples)
        code = option_usage(terminal,
                            "--kernel has the chains of callers that --stack-samples leaves to user code: "
                            "leave out one of the two");
    if (code < 0 && options.report && recorder->phase_interval > 0)
        code = option_usage(terminal, "--phases records into a file: leave out --report");
    if (code < 0 && options.report)
        code = report_live(&options, argc, argv, terminal);
    if (!recorder->output)
        recorder->output = "perf.data";
    if (code < 0)
        code = record_to_file(&options, argc, argv, terminal);
    target_free(&recorder->target);
    return code;
}

/* --switch: a size (K, M, G) or a time (s, m, h, d). */
static bool take_switch(struct terminal *terminal, const struct option_row *row, char *text, void *value)
{
    static const char sizes[] = "KMG", times[] = "smhd";
    static const double seconds[] = {1, 60, 3600, 86400};
    struct fathom_recorder_options *o = value;
    char *end;
    const unsigned long number = strtoul(text, &end, 10);
    const char *size = *end ? strchr(sizes, *end) : NULL, *time = *end ? strchr(times, *end) : NULL;
    if (text[0] >= '0' && text[0] <= '9' && number <= UINT32_MAX && *end && !end[1] && size)
        o->part_bytes = (uint64_t)number << 10 * (size - sizes + 1);
    else if (text[0] >= '0' && text[0] <= '9' && number <= UINT32_MAX && *end && !end[1] && time)
        o->part_seconds = (double)number * seconds[time - times];
    if (o->part_bytes >= FATHOM_PART_BYTES || o->part_seconds >= FATHOM_PART_SECONDS)
        return true;
    terminal_wrong(terminal, "--%s: '%s' is neither a size from 1M (K, M, G) nor a time from 1s (s, m, h, d)",
                   row->name, text);
    return false;
}

static bool take_policy(struct terminal *terminal, const struct option_row *row, char *text, void *value)
{
    struct fathom_recorder_options *o = value;
    return phases_policy_option(terminal, row, text, &o->phase_policy, &o->phase_share);
}

#define ALLOC_BYTES 524288

static bool take_alloc(struct terminal *terminal, const struct option_row *row, char *text, void *value)
{
    struct fathom_recorder_options *o = value;
    (void)terminal;
    (void)row;
    (void)text;
    o->alloc_bytes = o->alloc_bytes ? o->alloc_bytes : ALLOC_BYTES;
    return true;
}

static const struct option_word scopes[] = {
    {"auto", FATHOM_SCOPE_AUTO}, {"always", FATHOM_SCOPE_CPU}, {"never", FATHOM_SCOPE_THREAD}, {0}};

_Static_assert(offsetof(struct record_options, recorder) == 0, "rows have offsets in either struct");
static const struct option_row rows[] = {
    TARGET_EVENT(struct fathom_recorder_options,
                 "what to sample: cpu-clock, page-faults, cache-miss, a tracepoint, ...: 'fathom events' "
                 "lists them (default: cycles, or cpu-clock where there is no PMU)"),
    OPTION_FLAG("list-events", 0, struct record_options, list_events,
                "print what 'fathom events' does, and exit; '-e list' too"),
    TARGET_FREQUENCY(struct fathom_recorder_options, "samples per second (default for clocks: 1000)"),
    TARGET_PERIOD(struct fathom_recorder_options, "one sample every N events (clocks: nanoseconds)"),
    TARGET_FIELDS(struct fathom_recorder_options, "filter"),
    TARGET_PID(struct fathom_recorder_options, "attach to these processes, their threads and their children"),
    TARGET_EVERYONE(struct fathom_recorder_options,
                    "record all processes, until Ctrl-C, the end of --duration or of a command"),
    TARGET_CGROUP(struct fathom_recorder_options),
    TARGET_CONTAINER(struct fathom_recorder_options),
    TARGET_UID(struct fathom_recorder_options),
    TARGET_NO_CHILDREN(struct fathom_recorder_options),
    TARGET_TID(struct fathom_recorder_options, "attach to these threads only"),
    OPTION_FLAG("report", 0, struct record_options, report,
                "print the report at the end, as 'fathom report' does, and write no file"),
    OPTION_TEXT("output", 'o', "FILE", struct fathom_recorder_options, output,
                "default: perf.data; '-': standard output"),
    TARGET_DURATION(struct fathom_recorder_options,
                    "stop after S seconds (and terminate a launched command)"),
    TARGET_VERIFY(struct fathom_recorder_options, "return addresses to compare with those of known stacks: "
                                                  "all, none, or the K innermost (default: all)"),
    TARGET_DUMPS(struct fathom_recorder_options),
    OPTION_FLAG("passive", 0, struct fathom_recorder_options, passive,
                "sample precise events in batches, without an interrupt for each (large PEBS): few stacks "
                "are read, by a clock (--audit), and the other paths are inferred"),
    OPTION_TEXT("map", 'm', "MAP", struct fathom_recorder_options, map,
                "with --passive: the path map that the report takes, so that the clock stays slow"),
    OPTION_NUMBER(
        "audit", 0, "HZ", 0, 20000, struct fathom_recorder_options, audit_hz,
        "read stacks by a clock instead, so many per second of CPU time, and infer the other paths from them "
        "(default: only where stacks cannot be compared, 10 to 1000, by how much is news; 0: read none)"),
    OPTION_NUMBER("audit-stack", 0, "N", 64, 65528, struct fathom_recorder_options, audit_stack,
                  "bytes of stack in each dump (default: 65528, the kernel's maximum)"),
    OPTION_FLAG("stack-samples", 0, struct fathom_recorder_options, stack_samples,
                "write stacks so that perf and other tools unwind them: new ones as samples of an event "
                "'new-stacks'"),
    OPTION_FLAG("keep-stacks", 0, struct fathom_recorder_options, keep_stacks,
                "write the copies of new stacks, too, not only the frames that were found in them"),
    OPTION_OWN("switch", 0, "SIZE|TIME", take_switch,
               "go on in another file at this size (100M) or age (10m): FILE.20261127T190530Z, ..."),
    OPTION_NUMBER("keep", 0, "N", 1, 1000000, struct fathom_recorder_options, parts_kept,
                  "with --switch: the files to have at a time; then the oldest is removed (default: all)"),
    OPTION_FRACTION(
        "phases", 0, "MS", 100, 1e12, struct fathom_recorder_options, phase_interval,
        "switch the events after the first one on in some intervals of each phase only: intervals of MS "
        "milliseconds of a clock, or MS events of the first one, whose samples tell the phases"),
    OPTION_OWN("phases-policy", 0, "WHICH[:N]", take_policy,
               "with --phases: the third, second or a random interval of a phase, then one in N (28) of it; "
               "or one in N of all, periodic or by chance (default: third)"),
    OPTION_TEXT("trigger", 0, "EVENT:N", struct fathom_recorder_options, trigger,
                "with --phases: switch them on, too, after an interval in which this event happened more "
                "than N times"),
    OPTION_TEXT("control", 0, "SOCKET", struct fathom_recorder_options, control,
                "with --phases: take commands at this socket, of this user: once, on, off, auto, status"),
    OPTION_FLAG("off-cpu", 0, struct fathom_recorder_options, off_cpu,
                "record where threads wait, too, for how long and why: event 'off-cpu'"),
    OPTION_FLAG("wakers", 0, struct fathom_recorder_options, wakers,
                "likewise, and which path of which thread ended the wait: event 'wakers'"),
    {"latency", 0, "[FILE:]FUNCTION", latencies_take,
     OPTION_AT(struct record_options, latencies, struct latencies),
     .help = "record how long each call of a function takes, from entry to return, by path: event 'latency', "
             "whose weight is in ns (FILE: a library; default: the program's own)"},
    OPTION_OWN("alloc", 0, NULL, take_alloc,
               "record what the command allocates, by path, what of it is not freed, and what was alive when "
               "most was: events 'allocated', 'freed', 'live' and 'peak', whose weight is in bytes; of "
               "processes (-p) 'allocated' alone"),
    OPTION_NUMBER("alloc-bytes", 0, "BYTES", 1, 1e12, struct fathom_recorder_options, alloc_bytes,
                  "likewise; one allocation is sampled in so many bytes on average (default: 524288)"),
    OPTION_FLAG("wall", 0, struct fathom_recorder_options, wall,
                "record all of the time that threads live, with a CPU and without: event 'wall-clock'"),
    OPTION_FLAG("java-map", 0, struct fathom_recorder_options, java_map,
                "at the end, ask each Java that still runs, by jcmd, what code it has made: its methods have "
                "names then"),
    OPTION_FLAG("compress", 'z', struct fathom_recorder_options, compress,
                "compress what is written, with zstd, as 'perf record -z' does"),
    OPTION_NUMBER("ring", 0, "KIB", 4, 1 << 20, struct fathom_recorder_options, ring_kib,
                  "ring buffer of each CPU (default: chosen from the event)"),
    OPTION_CHOICE(
        "per-cpu", 0, "WHEN", scopes, enum fathom_scope, struct fathom_recorder_options, scope,
        "count per CPU rather than per thread, so that processes shorter than a period are sampled too: "
        "always, never, auto (default: for clocks of at most 1000 Hz, if the kernel allows it)"),
    OPTION_FLAG("no-cache", 0, struct fathom_recorder_options, no_cache,
                "keep nothing of what is learned for other recordings, and use nothing kept"),
    OPTION_FLAG("kernel", 0, struct fathom_recorder_options, kernel,
                "sample in the kernel too: its functions stand below the path that entered it; each sample "
                "is taken at an interrupt"),
    OPTION_FLAG(
        "paths", 'g', struct record_options, paths,
        "changes nothing, as call paths are always recorded: for those who are used to perf record -g"),
    OPTION_FLAG("data", 0, struct fathom_recorder_options, data,
                "record data addresses (page faults, memory events)"),
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
                "[OPTIONS] -a | --cgroup PATH [-- COMMAND [ARG...]]\n"
                "[OPTIONS] --container ID | --uid USER [-- COMMAND [ARG...]]\n"
                "--list-events",
    .about = "Records the thread, program counter and stack pointer of each sample, and each stack that is "
             "new; 'fathom report' shows the call paths. The file is a standard perf.data file.",
    .options = rows,
    .notes = "SIGUSR1 switches the events of --phases on in the next interval. If the recording succeeds, "
             "the exit code is the command's own; see fathom-record(1).",
    .run = record_run,
};
