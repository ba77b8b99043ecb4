/* train.c - `fathom train`: its options, and the check of the training method. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cli/exit.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/privilege.h"
#include "cli/target.h"

#define STACK_BYTES 32768
#define SAMPLES_HZ  4000

struct train_values {
    struct fathom_train_options train; /* first, as rows of options have offsets in either struct */
    bool sampling;                     /* an option that is only for FATHOM_TRAIN_UNWIND was given */
    struct option_names images;        /* none: the default set of files */
    bool samples_given;
};

/* Checks that the options suit the method: -1, or EXIT_USAGE after printing the error. */
static int check_way(struct train_values *options, struct terminal *terminal)
{
    struct fathom_train_options *o = &options->train;
    const char *wrong = NULL;
    bool every_call = o->way != FATHOM_TRAIN_AUTO && o->way != FATHOM_TRAIN_UNWIND;
    options->sampling |= o->target.event || o->target.frequency || o->target.period;
    if (every_call && !o->target.command)
        wrong =
            "only a launched command can be trained on every call: train a running process with --via unwind";
    else if (every_call && options->sampling)
        wrong = "--event, --frequency, --period and --stack require --via unwind";
    else if (options->images.count &&
             (o->way == FATHOM_TRAIN_UNWIND || options->sampling || !o->target.command))
        wrong = "--image chooses what to hook, so it cannot be used with --via unwind";
    else if (options->samples_given && o->samples &&
             (o->way > FATHOM_TRAIN_PATCH || options->sampling || !o->target.command))
        wrong = "--samples requires --via patch";
    if (options->sampling && o->way == FATHOM_TRAIN_AUTO)
        o->way = FATHOM_TRAIN_UNWIND;
    return wrong ? option_usage(terminal, "%s", wrong) : -1;
}

INTERRUPT_BY(stop_train, fathom_train_stop)

static int run_hooked(struct fathom_train *train, struct fathom_error *err)
{
    struct interrupted_run run;
    interrupt_hold(&run);
    int rc = fathom_train_start(train, err);
    interrupt_begin(&run, stop_train, train);
    if (rc == 0)
        rc = fathom_train_run(train, err);
    interrupt_end(&run);
    return rc;
}

/* The target is hostile, and once events are open, sampling it needs few rights. */
static int run_sampled(struct fathom_train *train, const struct fathom_train_options *o,
                       struct terminal *terminal, struct fathom_error *err)
{
    struct interrupts before;
    int rc = fathom_train_start(train, err);
    if (rc < 0)
        return rc;
    if (fathom_train_way(train) == FATHOM_TRAIN_UNWIND)
        privilege_only_observe(
            &(struct privilege_observing){.output = o->output, .launched = o->target.command}, terminal);
    interrupt_catch(stop_train, train, &before);
    rc = fathom_train_run(train, err);
    interrupt_restore(&before);
    return rc;
}

static int run_training(const struct fathom_train_options *o, struct terminal *terminal)
{
    struct fathom_error err = {0};
    struct fathom_train *train = NULL;
    int status = -1;
    signal(SIGPIPE, SIG_IGN); /* clean up even if nobody reads the notes any more */
    int rc = fathom_train_open(o, &terminal->listener, &train, &err);
    if (rc == 0) {
        bool hooked = fathom_train_way(train) <= FATHOM_TRAIN_SLED;
        output_alone(o->output);
        rc = hooked ? run_hooked(train, &err) : run_sampled(train, o, terminal, &err);
        terminal_progress_end(terminal);
        if (rc == 0)
            rc = fathom_train_save(train, &err);
        if (rc >= 0)
            status = fathom_train_status(train);
    }
    int code = exit_result(terminal, rc, &err);
    fathom_train_close(train);
    if (rc >= 0 && status >= 0)
        code = exit_code_of_status(status);
    return code == EXIT_OK && rc > 0 ? EXIT_BUILD : code;
}

/* --samples, which not every method supports. */
static bool take_samples(struct terminal *terminal, const struct option_row *row, char *text, void *value)
{
    struct train_values *options = value;
    options->samples_given = true;
    return option_number(terminal, row, text, &options->train.samples);
}

/* --stack, which only unwinding supports. */
static bool take_stack(struct terminal *terminal, const struct option_row *row, char *text, void *value)
{
    struct train_values *options = value;
    options->sampling = true;
    return option_number(terminal, row, text, &options->train.target.stack_bytes);
}

static int train_run(int argc, char **argv, struct terminal *terminal)
{
    struct train_values options = {.train = {.output = "fathom.fmap",
                                             .samples = SAMPLES_HZ,
                                             .target.stack_bytes = STACK_BYTES,
                                             .runtime = getenv("FATHOM_PROBE_LIBRARY")}};
    int code = options_parse(&train_command, &options, false, argc, argv, terminal);
    if (code < 0)
        code = target_complete(&options.train.target, argc, argv, terminal);
    if (code < 0)
        code = check_way(&options, terminal);
    options.train.images = options.images.at;
    options.train.image_count = options.images.count;
    if (code < 0)
        code = run_training(&options.train, terminal);
    target_free(&options.train.target);
    free((void *)(uintptr_t)options.images.at);
    return code;
}

static const struct option_word ways[] = {{"patch", FATHOM_TRAIN_PATCH},   {"sled", FATHOM_TRAIN_SLED},
                                          {"uprobe", FATHOM_TRAIN_UPROBE}, {"unwind", FATHOM_TRAIN_UNWIND},
                                          {"auto", FATHOM_TRAIN_AUTO},     {0}};

_Static_assert(offsetof(struct train_values, train) == 0, "rows have offsets in either struct");
static const struct option_row rows[] = {
    OPTION_TEXT("output", 'o', "MAP", struct fathom_train_options, output,
                "default: fathom.fmap; '-': standard output"),
    OPTION_FLAG("append", 0, struct fathom_train_options, append, "add to the map instead of replacing it"),
    OPTION_CHOICE("via", 0, "WAY", ways, enum fathom_train_way, struct fathom_train_options, way,
                  "patch: every call, by hooks patched into the running program's code\n"
                  "sled: the same, but only where the compiler left room for hooks\n"
                  "uprobe: every call, by the kernel; slow; for static and set-uid programs\n"
                  "unwind: sampled stack dumps; also for running processes\n"
                  "auto (default): patch where possible, else uprobe (root) or unwind"),
    OPTION_IMAGES(struct train_values, images,
                  "hook only files whose names start with one of these (default: all but the C library and "
                  "the loader)"),
    {"samples", 0, "HZ", take_samples, .whole = {0, 20000},
     .help = "stacks per second to sample alongside the hooks, for the time spent in each context and for "
             "code without hooks (default: 4000; 0: none)"},
    TARGET_DURATION(struct fathom_train_options, "stop after S seconds (and terminate a launched command)"),
    OPTION_QUIET("print no progress and no notes"),
    OPTION_VERBOSE("print more details"),
    OPTION_HELP,
    OPTION_LINE("For --via unwind, and implying it:"),
    TARGET_PID(struct fathom_train_options, "attach to these processes, their threads and their children"),
    TARGET_NO_CHILDREN(struct fathom_train_options),
    TARGET_TID(struct fathom_train_options, "attach to these threads only"),
    {"stack", 0, "N", take_stack, .whole = {64, 65528},
     .help = "bytes of stack in each sample, at most 65528 (default: 32768)"},
    TARGET_EVENT(struct fathom_train_options,
                 "what to sample (default: cycles, or cpu-clock where there is no PMU)"),
    TARGET_FREQUENCY(struct fathom_train_options, "samples per second (default for clocks: 1000)"),
    TARGET_PERIOD(struct fathom_train_options, "one sample every N events (clocks: nanoseconds)"),
    OPTION_END,
};

const struct command train_command = {
    .name = "train",
    .summary = "learn a program's call paths into a path map",
    .synopsis = "[OPTIONS] -- COMMAND [ARG...]\n"
                "[OPTIONS] -p PID[,PID...]",
    .about = "Enters the program's call paths, with their stack heights, into a path map for 'fathom report "
             "-m MAP'. The program can be used as installed: no rebuild, no frame pointers.",
    .options = rows,
    .notes = "Run it on representative input, as often as you like (--append). If the training succeeds, the "
             "exit code is the command's own.",
    .run = train_run,
};
