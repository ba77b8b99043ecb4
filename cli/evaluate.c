/* evaluate.c - `fathom evaluate`: how often inference is right, and how reliable its probabilities are. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/evaluate.h"
#include "cli/exit.h"
#include "cli/inferred.h"
#include "api/record/learning.h"
#include "api/record/mapped_sink.h"
#include "cli/privilege.h"
#include "cli/symfs.h"

#define STACK_BYTES 65528
#define AUDIT_HZ    10

/* Runs the target with a stack dump in every sample. */
static int evaluate_record(const struct evaluate_options *options, const char *path,
                           struct terminal *terminal, struct fathom_error *err)
{
    struct collector *collector = NULL;
    struct writer *writer = NULL;
    struct mapped_sink *sink = NULL;
    struct learning *learning = NULL;
    struct collector_options collect;
    target_collector(&options->target, &terminal->log, &collect);
    collect.audit_hz = options->audit_hz;
    collect.audit_instead = collect.audit_adapts = !options->audit_given;
    collect.audit_stack_size = STACK_BYTES;
    int rc = collector_open(&collect, &collector, err);
    if (rc < 0)
        return rc;
    privilege_only_observe(path, collect.command, terminal);
    const struct event *events;
    size_t count = collector_events(collector, &events);
    rc = writer_open(path, events, count, &writer, err);
    if (rc == 0 && writer_is_stream(writer))
        rc = error_set(err, EINVAL, "%s: the recording is read again, so it needs a regular file", path);
    if (rc == 0)
        rc = learning_new(collector, &collect, mapped_sink_write, writer, &learning, err);
    if (rc == 0)
        rc = mapped_sink_new(
            &(struct mapped_sink_input){events, count, &terminal->log, learning_add, learning}, &sink, err);
    enum target_end end;
    if (rc == 0) {
        writer_keep_old(writer);
        rc = target_run(&options->target, collector, &(struct target_user){mapped_sink_add, NULL, sink}, &end,
                        err);
    }
    if (rc == 0) {
        mapped_sink_finish(sink);
        rc = mapped_sink_build_ids(sink, writer, err);
    }
    if (rc == 0)
        rc = writer_close(writer, err);
    else if (writer)
        writer_discard(writer);
    learning_free(learning);
    mapped_sink_free(sink);
    collector_close(collector);
    return rc;
}

/* Records into a temporary file or the one to keep (-o) and evaluates it, or evaluates a recording that has
 * stack dumps (-i). */
static int evaluate_target(const struct evaluate_options *options, struct terminal *terminal)
{
    struct fathom_error err = {0};
    char *temporary = NULL;
    const char *path = options->input ? options->input : options->output, *directory = getenv("TMPDIR");
    bool stale = false;
    int rc = symfs_check(options->symfs, &err);
    if (rc == 0 && options->output)
        rc = evaluate_record(options, path, terminal, &err);
    if (rc == 0 && !path) {
        if (asprintf(&temporary, "%s/fathom-XXXXXX", directory && *directory ? directory : "/tmp") < 0)
            return terminal_error(terminal, &(struct fathom_error){ENOMEM, "out of memory"}), EXIT_OTHER;
        int fd = mkstemp(temporary);
        if (fd < 0) {
            rc = error_system(&err, errno, "cannot create %s", temporary);
        } else {
            close(fd);
            rc = evaluate_record(options, temporary, terminal, &err);
        }
        path = temporary;
    }
    if (rc == 0)
        rc = evaluate_stages(options, path, terminal, &stale, &err);
    if (temporary)
        unlink(temporary);
    free(temporary);
    if (rc < 0)
        terminal_error(terminal, &err);
    return rc < 0 ? exit_code_of(&err) : stale ? EXIT_BUILD : EXIT_OK;
}

/* --truth: "unwind" is the default. */
static bool take_truth(struct terminal *terminal, const struct option_row *row, char *text, void *value)
{
    struct evaluate_options *options = value;
    (void)terminal, (void)row;
    options->truth = strcmp(text, "unwind") == 0 ? NULL : text;
    return true;
}

/* --audit: 0 means the map alone. */
static bool take_audit(struct terminal *terminal, const struct option_row *row, char *text, void *value)
{
    struct evaluate_options *options = value;
    bool good = option_number(terminal, row, text, &options->audit_hz);
    options->audit_given = true;
    options->engine.learning = options->audit_hz ? LEARN_AUDITS : LEARN_NOTHING;
    return good;
}

/* Whether the command line asks to compare two maps: both are given, and there is nothing to sample. */
static bool compares_maps(const struct evaluate_options *o, bool command)
{
    return o->map && o->truth && !o->input && !o->output && !command && !o->target.pids.count &&
           !o->target.tids.count;
}

/* -1, or the exit code. */
static int open_input(struct evaluate_options *o, struct terminal *terminal)
{
    struct fathom_error err = {0};
    int rc = archived_begin(o->input, &o->archived, &err);
    privilege_only_read_and(
        &(struct privilege_writing){&(const char *){archived_directory(o->archived)}, 1, NULL}, terminal);
    if (rc == 0)
        rc = archived_unpack(o->archived, &err);
    if (rc < 0) {
        terminal_error(terminal, &err);
        return exit_code_of(&err);
    }
    o->input = archived_recording(o->archived, o->input);
    o->map = archived_map(o->archived, o->map);
    return -1;
}

static int evaluate_run(int argc, char **argv, struct terminal *terminal)
{
    struct evaluate_options options = {.engine = {.learning = LEARN_AUDITS}, .audit_hz = AUDIT_HZ};
    options.target.verify = fathom_verify_default;
    options.target.verify.wish = FATHOM_VERIFY_NEVER;
    int code = options_parse(&evaluate_command, &options, false, argc, argv, terminal);
    if (code < 0 && compares_maps(&options, optind < argc)) {
        struct fathom_error err = {0};
        code = evaluate_maps(&options, &err) < 0 ? exit_code_of(&err) : EXIT_OK;
        if (code != EXIT_OK)
            terminal_error(terminal, &err);
    }
    if (code < 0 && !options.input)
        code = target_complete(&options.target, &evaluate_command, argc, argv, terminal);
    if (code < 0 && options.input && (optind < argc || options.output))
        code = option_usage(terminal, &evaluate_command,
                            "--input cannot be combined with a command or --output");
    if (code < 0 && options.engine.learning == LEARN_NOTHING &&
        options.target.verify.wish == FATHOM_VERIFY_ASKED)
        code =
            option_usage(terminal, &evaluate_command,
                         "--audit 0 (infer from the map alone) cannot be combined with --verify or --dumps");
    if (!options.target.stack_bytes && !options.truth)
        options.target.stack_bytes = STACK_BYTES;
    if (code < 0 && options.input)
        code = open_input(&options, terminal);
    if (code < 0)
        code = evaluate_target(&options, terminal);
    archived_close(options.archived);
    target_free(&options.target);
    return code;
}

static const struct option_word formats[] = {{"text", EVALUATE_TEXT}, {"json", EVALUATE_JSON}, {0}};

static const struct option_row rows[] = {
    OPTION_TEXT("map", 'm', "MAP", struct evaluate_options, map, "a path map from 'fathom train'"),
    OPTION_TEXT("input", 'i', "FILE", struct evaluate_options, input,
                "a recording whose samples have stack dumps or call chains, instead of running a command"),
    OPTION_TEXT("output", 'o', "FILE", struct evaluate_options, output,
                "keep the recording, to evaluate it again with -i"),
    OPTION_OWN("truth", 0, "MAP", take_truth,
               "ground truth: a map trained on this very input, or 'unwind', the samples' own stack dumps "
               "(the default)"),
    OPTION_NUMBER("wrong", 0, "N", 1, 100000, struct evaluate_options, wrong,
                  "show the N heaviest wrong contexts, with the inferred and the true path"),
    OPTION_FLAG("stages", 0, struct evaluate_options, stages,
                "evaluate with and without each stage of inference"),
    OPTION_NUMBER("stack", 0, "N", 64, 65528, struct evaluate_options, target.stack_bytes,
                  "bytes of stack in each sample (default: 65528, the kernel's maximum)"),
    {"audit", 0, "HZ", take_audit, .whole = {0, 20000},
     .help = "audit samples per second to infer from (default: 10 to 1000, by how much is news, within "
             "--dumps; 0: the map alone)"},
    TARGET_VERIFY(
        struct evaluate_options,
        "compare stacks while recording, or as if so (-i), as 'fathom record' does, instead of audit "
        "samples: all of their return addresses, none, or the K innermost"),
    TARGET_DUMPS(struct evaluate_options),
    INFERENCE_NO_AUTOMATON(struct evaluate_options),
    INFERENCE_NO_TEMPORAL(struct evaluate_options),
    INFERENCE_NO_EM(struct evaluate_options),
    SYMFS_OPTION(struct evaluate_options),
    OPTION_CHOICE("format", 0, "FORMAT", formats, enum evaluate_format, struct evaluate_options, format,
                  "text or json"),
    TARGET_EVENT(struct evaluate_options,
                 "what to sample (default: cycles, or cpu-clock where there is no PMU)"),
    TARGET_FREQUENCY(struct evaluate_options, "samples per second (default for clocks: 1000)"),
    TARGET_PERIOD(struct evaluate_options, "one sample every N events (clocks: nanoseconds)"),
    TARGET_PID(struct evaluate_options, "attach to these processes, their threads and their children"),
    TARGET_NO_CHILDREN(struct evaluate_options),
    TARGET_TID(struct evaluate_options, "attach to these threads only"),
    TARGET_DURATION(struct evaluate_options, "stop after S seconds (and terminate a launched command)"),
    OPTION_QUIET("print no progress and no notes"),
    OPTION_VERBOSE("print more details"),
    OPTION_HELP,
    OPTION_END,
};

const struct command evaluate_command = {
    .name = "evaluate",
    .summary = "how often the inferred paths are right",
    .synopsis = "[OPTIONS] -- COMMAND [ARG...]\n"
                "[OPTIONS] -p PID[,PID...]\n"
                "[OPTIONS] -i FILE\n"
                "[OPTIONS] -m MAP --truth MAP",
    .about = "Infers the path of each sample and compares all its frames with the true one. Prints how many "
             "paths, and how much weight, are precise, ambiguous, incorrect and missing (ICPP paper, section "
             "8.4), how much is on the right path, and how reliable the reported probabilities are. With two "
             "maps and no samples, looks up every context of the second map in the first.",
    .options = rows,
    .run = evaluate_run,
};
