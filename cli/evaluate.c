/* evaluate.c - `fathom evaluate`: how often inference is right, and how far its probabilities can be
 * believed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/evaluate.h"
#include "cli/exit.h"
#include "perfdata/writer.h"

#define STACK_BYTES 65528
#define AUDIT_HZ    10

static int evaluate_sink(void *context, const void *records, size_t size, struct fathom_error *err)
{
    return writer_append(context, records, size, err);
}

/* Runs the target with a stack dump in every sample. */
static int evaluate_record(const struct evaluate_options *options, const char *path,
                           struct terminal *terminal, struct fathom_error *err)
{
    struct collector *collector = NULL;
    struct writer *writer = NULL;
    struct collector_options collect;
    target_collector(&options->target, terminal, &collect);
    collect.audit_hz = options->audit_hz;
    collect.audit_stack_size = STACK_BYTES;
    int rc = collector_open(&collect, &collector, err);
    if (rc < 0)
        return rc;
    const struct event *events;
    size_t count = collector_events(collector, &events);
    rc = writer_open(path, events, count, &writer, err);
    if (rc == 0 && writer_is_stream(writer)) {
        writer_discard(writer);
        rc = error_set(err, EINVAL, "%s: the recording is read again, so it needs a regular file", path);
    }
    enum target_end end;
    if (rc == 0) {
        writer_keep_old(writer);
        rc = target_run(&options->target, collector, evaluate_sink, writer, NULL, &end, err);
        if (rc == 0)
            rc = writer_close(writer, err);
        else
            writer_discard(writer);
    }
    collector_close(collector);
    return rc;
}

/* Records into a temporary file, or one to keep (-o), and evaluates that; or evaluates a recording that has
 * dumps (-i). */
static int evaluate_target(const struct evaluate_options *options, struct terminal *terminal)
{
    struct fathom_error err = {0};
    char *temporary = NULL;
    const char *path = options->input ? options->input : options->output, *directory = getenv("TMPDIR");
    bool stale = false;
    int rc = 0;
    if (options->output)
        rc = evaluate_record(options, path, terminal, &err);
    if (!path) {
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

enum {
    EVALUATE_TRUTH = TARGET_OWN,
    EVALUATE_WRONG,
    EVALUATE_STAGES,
    EVALUATE_STACK,
    EVALUATE_AUDIT,
    EVALUATE_FORMAT,
    EVALUATE_NO_AUTOMATON,
    EVALUATE_NO_TEMPORAL,
    EVALUATE_NO_EM
};

static bool take_option(void *context, int option, struct terminal *terminal)
{
    struct evaluate_options *o = context;
    switch (option) {
    case 'm':
        o->map = optarg;
        return true;
    case 'i':
        o->input = optarg;
        return true;
    case 'o':
        o->output = optarg;
        return true;
    case EVALUATE_TRUTH:
        o->truth = strcmp(optarg, "unwind") == 0 ? NULL : optarg;
        return true;
    case EVALUATE_WRONG:
        return option_number(terminal, "--wrong", optarg, 1, 100000, &o->wrong);
    case EVALUATE_STAGES:
        o->stages = true;
        return true;
    case EVALUATE_STACK:
        return option_number(terminal, "--stack", optarg, 64, 65528, &o->target.stack_bytes);
    case EVALUATE_AUDIT:
        o->pipeline.learning = strcmp(optarg, "0") == 0 ? LEARN_NOTHING : LEARN_AUDITS;
        return option_number(terminal, "--audit", optarg, 0, 20000, &o->audit_hz);
    case EVALUATE_NO_AUTOMATON:
        o->pipeline.no_automaton = true;
        return true;
    case EVALUATE_NO_TEMPORAL:
        o->pipeline.no_temporal = true;
        return true;
    case EVALUATE_NO_EM:
        o->pipeline.no_em = true;
        return true;
    case EVALUATE_FORMAT:
        o->json = strcmp(optarg, "json") == 0;
        if (!o->json && strcmp(optarg, "text") != 0)
            return terminal_wrong(terminal, "--format takes text or json, not '%s'", optarg), false;
        return true;
    default:
        return false;
    }
}

/* Two maps and nothing to sample: the maps are compared. */
static bool compares_maps(const struct evaluate_options *o, bool command)
{
    return o->map && o->truth && !o->input && !o->output && !command && !o->target.pid_count &&
           !o->target.tid_count;
}

static int evaluate_run(int argc, char **argv, struct terminal *terminal)
{
    static const struct option longs[] = {
        TARGET_LONG,
        {"map", required_argument, NULL, 'm'},
        {"input", required_argument, NULL, 'i'},
        {"output", required_argument, NULL, 'o'},
        {"truth", required_argument, NULL, EVALUATE_TRUTH},
        {"wrong", required_argument, NULL, EVALUATE_WRONG},
        {"stages", no_argument, NULL, EVALUATE_STAGES},
        {"stack", required_argument, NULL, EVALUATE_STACK},
        {"audit", required_argument, NULL, EVALUATE_AUDIT},
        {"no-automaton", no_argument, NULL, EVALUATE_NO_AUTOMATON},
        {"no-temporal", no_argument, NULL, EVALUATE_NO_TEMPORAL},
        {"no-em", no_argument, NULL, EVALUATE_NO_EM},
        {"format", required_argument, NULL, EVALUATE_FORMAT},
        {0},
    };
    struct evaluate_options options = {.pipeline = {.learning = LEARN_AUDITS}, .audit_hz = AUDIT_HZ};
    struct target_parser parser = {&evaluate_command, "+m:i:o:" TARGET_SHORT, longs, take_option, &options};
    int code = target_parse(&options.target, &parser, argc, argv, terminal);
    if (code < 0 && compares_maps(&options, optind < argc)) {
        struct fathom_error err = {0};
        code = evaluate_maps(&options, &err) < 0 ? exit_code_of(&err) : EXIT_OK;
        if (code != EXIT_OK)
            terminal_error(terminal, &err);
    }
    if (code < 0 && !options.input)
        code = target_complete(&options.target, &evaluate_command, argc, argv, terminal);
    if (code < 0 && options.input && (optind < argc || options.output))
        code = option_usage(terminal, &evaluate_command, "--input goes with neither a command nor --output");
    if (!options.target.stack_bytes && !options.truth)
        options.target.stack_bytes = STACK_BYTES;
    if (code < 0)
        code = evaluate_target(&options, terminal);
    target_free(&options.target);
    return code;
}

const struct command evaluate_command = {
    .name = "evaluate",
    .summary = "how often the inferred paths are right",
    .usage =
        "usage: fathom evaluate [OPTIONS] -- COMMAND [ARG...]\n"
        "       fathom evaluate [OPTIONS] -p PID[,PID...]\n"
        "       fathom evaluate [OPTIONS] -i FILE\n"
        "       fathom evaluate [OPTIONS] -m MAP --truth MAP\n"
        "\n"
        "Infers the path of each sample and holds it against the true one, all frames of it. Prints how "
        "many\n"
        "paths, and how much weight, are precise, ambiguous, incorrect and missing (ICPP paper, section "
        "8.4),\n"
        "how much is on the right path, and how far the reported probabilities can be believed. With two "
        "maps alone, "
        "every\n"
        "context of the second is looked up in the first.\n"
        "\n"
        "  -m, --map MAP          a path map from 'fathom train'\n"
        "  -i, --input FILE       a recording whose samples have stack dumps, instead of running a command\n"
        "  -o, --output FILE      keep the recording, to evaluate it again with -i\n"
        "      --truth MAP        what is true: a map from training on this very input, or 'unwind', the\n"
        "                         samples' own stack dumps (the default)\n"
        "      --wrong N          show the N heaviest wrong contexts, answer and truth\n"
        "      --stages           with and without each stage of inference\n"
        "      --stack N          bytes of stack in each sample (default: 65528, the kernel's maximum)\n"
        "      --audit HZ         audit samples per second to infer from (default: 10; 0: the map alone)\n"
        "      --no-automaton     leave contexts that were never trained unknown\n"
        "      --no-temporal      judge each sample by itself, not by what its thread did before and after\n"
        "      --no-em            do not learn from ambiguous samples how often each path runs\n"
        "      --format FORMAT    text or json\n"
        "  -e, --event EVENT      what to sample (default: cycles, or cpu-clock where there is no PMU)\n"
        "  -F, --frequency HZ     samples per second (default for clocks: 1000)\n"
        "  -c, --period N         one sample every N events (clocks: nanoseconds)\n"
        "  -p, --pid PID,...      attach to these processes\n"
        "  -t, --tid TID,...      attach to these threads only\n"
        "      --duration S       stop after S seconds (a launched command is then ended)\n"
        "  -q, --quiet            no progress, no notes\n"
        "  -v, --verbose          say more\n"
        "  -h, --help             this text\n",
    .run = evaluate_run,
};
