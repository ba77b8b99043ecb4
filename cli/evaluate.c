/* evaluate.c - `fathom evaluate`: prints how often inference is right, and how reliable its probabilities are. */
#include <getopt.h>
#include <string.h>

#include "cli/exit.h"
#include "cli/interrupt.h"
#include "cli/privilege.h"
#include "cli/shared_rows.h"
#include "cli/target.h"

INTERRUPT_BY(stop_evaluation, fathom_evaluation_stop)

/* Records a target, or gives up rights that reading a recording does not need. */
static int prepare_evaluation(const struct fathom_evaluation_options *options,
                              struct fathom_evaluation *evaluation, struct terminal *terminal,
                              struct fathom_error *err)
{
    const struct fathom_writing *w = fathom_evaluation_writing(evaluation);
    struct interrupts before;
    if (options->recording)
        privilege_only_read_and(w, terminal);
    if (!w->output)
        return 0;
    privilege_only_observe(
        &(struct privilege_observing){.output = w->output, .launched = options->target.command}, terminal);
    interrupt_catch(stop_evaluation, evaluation, &before);
    int rc = fathom_evaluation_record(evaluation, err);
    interrupt_restore(&before);
    return rc;
}

static int run_evaluation(const struct fathom_evaluation_options *options, struct terminal *terminal)
{
    struct fathom_evaluation *evaluation = NULL;
    struct fathom_error err = {0};
    int rc = fathom_evaluation_open(options, &terminal->listener, &evaluation, &err);
    if (rc == 0)
        rc = prepare_evaluation(options, evaluation, terminal, &err);
    if (rc == 0)
        rc = fathom_evaluation_run(evaluation, &err);
    terminal_progress_end(terminal);
    if (rc == 0)
        rc = fathom_evaluation_write(evaluation, stdout, &err);
    bool stale = rc == 0 && fathom_evaluation_stale(evaluation);
    fathom_evaluation_close(evaluation);
    return stale ? EXIT_BUILD : exit_result(terminal, rc, &err);
}

/* --truth: "unwind" is the default. */
static bool take_truth(struct terminal *terminal, const struct option_row *row, char *text, void *value)
{
    struct fathom_evaluation_options *options = value;
    (void)terminal, (void)row;
    options->truth = strcmp(text, "unwind") == 0 ? NULL : text;
    return true;
}

/* Whether two maps are to be compared: both are given, and nothing is to be sampled. */
static bool compares_maps(const struct fathom_evaluation_options *o, bool command)
{
    return o->map && o->truth && !o->recording && !o->output && !command && !o->target.pids.count &&
           !o->target.tids.count;
}

static int evaluate_run(int argc, char **argv, struct terminal *terminal)
{
    struct fathom_evaluation_options options = {.audit_hz = FATHOM_AUDIT_DEFAULT};
    options.target.verify = fathom_verify_default;
    options.target.verify.wish = FATHOM_VERIFY_NEVER;
    int code = options_parse(&evaluate_command, &options, false, argc, argv, terminal);
    bool maps = code < 0 && compares_maps(&options, optind < argc);
    if (code < 0 && !maps && !options.recording)
        code = target_complete(&options.target, argc, argv, terminal);
    if (code < 0 && options.recording && (optind < argc || options.output))
        code = option_usage(terminal, "--input cannot be combined with a command or --output");
    if (code < 0 && !maps && !options.audit_hz && options.target.verify.wish == FATHOM_VERIFY_ASKED)
        code = option_usage(
            terminal, "--audit 0 (infer from the map alone) cannot be combined with --verify or --dumps");
    if (code < 0)
        code = run_evaluation(&options, terminal);
    target_free(&options.target);
    return code;
}

static const struct option_word formats[] = {
    {"text", FATHOM_EVALUATION_TEXT}, {"json", FATHOM_EVALUATION_JSON}, {0}};

static const struct option_row rows[] = {
    OPTION_TEXT("map", 'm', "MAP", struct fathom_evaluation_options, map, "a path map from 'fathom train'"),
    OPTION_TEXT("input", 'i', "FILE", struct fathom_evaluation_options, recording,
                "a recording whose samples have stack dumps or call chains, instead of running a command"),
    OPTION_TEXT("output", 'o', "FILE", struct fathom_evaluation_options, output,
                "keep the recording, to evaluate it again with -i"),
    OPTION_OWN("truth", 0, "MAP", take_truth,
               "ground truth: a map trained on this very input, or 'unwind', the samples' own stack dumps "
               "(the default)"),
    OPTION_NUMBER("wrong", 0, "N", 1, 100000, struct fathom_evaluation_options, wrong,
                  "show the N heaviest wrong contexts, with the inferred and the true path"),
    OPTION_FLAG("stages", 0, struct fathom_evaluation_options, stages,
                "evaluate with and without each stage of inference"),
    OPTION_NUMBER("stack", 0, "N", 64, 65528, struct fathom_evaluation_options, target.stack_bytes,
                  "bytes of stack in each sample (default: 65528, the kernel's maximum)"),
    OPTION_NUMBER("audit", 0, "HZ", 0, 20000, struct fathom_evaluation_options, audit_hz,
                  "audit samples per second to infer from (default: 10 to 1000, by how much is news, within "
                  "--dumps; 0: the map alone)"),
    TARGET_VERIFY(struct fathom_evaluation_options,
                  "compare stacks while recording, or as if so (-i), as 'fathom record' does, instead of "
                  "audit samples: all of their return addresses, none, or the K innermost"),
    TARGET_DUMPS(struct fathom_evaluation_options),
    INFERENCE_NO_AUTOMATON(struct fathom_evaluation_options, no_automaton),
    INFERENCE_NO_TEMPORAL(struct fathom_evaluation_options, no_temporal),
    INFERENCE_NO_EM(struct fathom_evaluation_options, no_em),
    SYMFS_OPTION(struct fathom_evaluation_options, symfs),
    OPTION_CHOICE("format", 0, "FORMAT", formats, enum fathom_evaluation_format,
                  struct fathom_evaluation_options, format, "text or json"),
    TARGET_EVENT(struct fathom_evaluation_options,
                 "what to sample (default: cycles, or cpu-clock where there is no PMU)"),
    TARGET_FREQUENCY(struct fathom_evaluation_options, "samples per second (default for clocks: 1000)"),
    TARGET_PERIOD(struct fathom_evaluation_options, "one sample every N events (clocks: nanoseconds)"),
    TARGET_PID(struct fathom_evaluation_options,
               "attach to these processes, their threads and their children"),
    TARGET_NO_CHILDREN(struct fathom_evaluation_options),
    TARGET_TID(struct fathom_evaluation_options, "attach to these threads only"),
    TARGET_DURATION(struct fathom_evaluation_options,
                    "stop after S seconds (and terminate a launched command)"),
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
