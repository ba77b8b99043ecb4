/* train.c - `fathom train`: its options, and which of the ways of training is taken. */
#include <stdlib.h>
#include <string.h>

#include "cli/exit.h"
#include "cli/output.h"
#include "cli/train_ways.h"

#define STACK_BYTES 32768
#define SAMPLES_HZ  4000

static bool parse_way(struct terminal *terminal, const char *text, enum train_way *way)
{
    static const char *const names[] = {[TRAIN_AUTO] = "auto",
                                        [TRAIN_PATCH] = "patch",
                                        [TRAIN_SLED] = "sled",
                                        [TRAIN_UPROBE] = "uprobe",
                                        [TRAIN_UNWIND] = "unwind"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(text, names[i]) == 0) {
            *way = (enum train_way)i;
            return true;
        }
    }
    terminal_wrong(terminal, "--via: '%s' is none of patch, sled, uprobe, unwind, auto", text);
    return false;
}

/* "a,b": adds to options->names; the text is cut up. */
static bool parse_names(struct terminal *terminal, char *text, struct train_options *options)
{
    for (char *name; (name = strsep(&text, ",")) != NULL;) {
        if (!*name || strchr(name, '/')) {
            terminal_wrong(terminal,
                           "--image takes the beginnings of file names, without directories: '%s' is none",
                           name);
            return false;
        }
        const char **names =
            realloc((void *)(uintptr_t)options->names, (options->name_count + 1) * sizeof *names);
        if (!names)
            return false;
        names[options->name_count++] = name;
        options->names = names;
    }
    return true;
}

/* Whether the options fit the way: -1, or EXIT_USAGE when it was said that they do not. */
static int check_way(struct train_options *o, struct terminal *terminal)
{
    const char *wrong = NULL;
    bool every_call = o->way != TRAIN_AUTO && o->way != TRAIN_UNWIND;
    o->sampling |= o->target.event || o->target.frequency || o->target.period;
    if (every_call && !o->target.command)
        wrong =
            "every call can be seen of a launched command only: train a running process with --via unwind";
    else if (every_call && o->sampling)
        wrong = "--event, --frequency, --period and --stack say how to sample: for --via unwind only";
    else if (o->name_count && (o->way == TRAIN_UNWIND || o->sampling || !o->target.command))
        wrong = "--image chooses what to hook: not for --via unwind";
    else if (o->samples_given && o->samples && (o->way > TRAIN_PATCH || o->sampling || !o->target.command))
        wrong = "--samples are taken beside the hooks of --via patch only";
    return wrong ? option_usage(terminal, &train_command, "%s", wrong) : -1;
}

static int train_with(const struct train_options *options, struct terminal *terminal)
{
    struct fathom_error err = {0};
    enum train_way way = options->way;
    if (way == TRAIN_AUTO && train_choose(options, terminal, &way, &err) < 0) {
        terminal_error(terminal, &err);
        return exit_code_of(&err);
    }
    switch (way) {
    case TRAIN_UNWIND:
        return train_unwind(options, terminal);
    case TRAIN_UPROBE:
        return train_uprobe(options, terminal);
    default:
        return train_patch(options, terminal);
    }
}

enum { TRAIN_APPEND = TARGET_OWN, TRAIN_STACK, TRAIN_VIA, TRAIN_IMAGE, TRAIN_SAMPLES };

static bool take_option(void *context, int option, struct terminal *terminal)
{
    struct train_options *o = context;
    switch (option) {
    case 'o':
        o->output = optarg;
        return true;
    case TRAIN_APPEND:
        o->append = true;
        return true;
    case TRAIN_VIA:
        return parse_way(terminal, optarg, &o->way);
    case TRAIN_IMAGE:
        return parse_names(terminal, optarg, o);
    case TRAIN_SAMPLES:
        o->samples_given = true;
        return option_number(terminal, "--samples", optarg, 0, 20000, &o->samples);
    case TRAIN_STACK:
        o->sampling = true;
        return option_number(terminal, "--stack", optarg, 64, 65528, &o->target.stack_bytes);
    default:
        return false;
    }
}

static int train_run(int argc, char **argv, struct terminal *terminal)
{
    static const struct option longs[] = {
        TARGET_LONG,
        {"output", required_argument, NULL, 'o'},
        {"append", no_argument, NULL, TRAIN_APPEND},
        {"stack", required_argument, NULL, TRAIN_STACK},
        {"via", required_argument, NULL, TRAIN_VIA},
        {"image", required_argument, NULL, TRAIN_IMAGE},
        {"samples", required_argument, NULL, TRAIN_SAMPLES},
        {0},
    };
    struct fathom_error err = {0};
    struct train_options options = {
        .output = "fathom.fmap", .samples = SAMPLES_HZ, .target = {.stack_bytes = STACK_BYTES}};
    struct target_parser parser = {&train_command, "+o:" TARGET_SHORT, longs, take_option, &options};
    int code = target_parse(&options.target, &parser, argc, argv, terminal);
    if (code < 0)
        code = target_complete(&options.target, &train_command, argc, argv, terminal);
    if (code < 0)
        code = check_way(&options, terminal);
    if (code < 0 && output_open(options.output, &options.out, &err) < 0) {
        terminal_error(terminal, &err);
        code = exit_code_of(&err);
    }
    if (code < 0)
        code = train_with(&options, terminal);
    outfile_close(options.out);
    target_free(&options.target);
    free((void *)(uintptr_t)options.names);
    return code;
}

const struct command train_command = {
    .name = "train",
    .summary = "learn a program's call paths into a path map",
    .usage =
        "usage: fathom train [OPTIONS] -- COMMAND [ARG...]\n"
        "       fathom train [OPTIONS] -p PID[,PID...]\n"
        "\n"
        "Enters the paths that the program's calls take, with their stack heights, into a path map for\n"
        "'fathom report -m MAP'. The program is the one that is installed: no rebuild, no frame pointers.\n"
        "\n"
        "  -o, --output MAP       default: fathom.fmap; '-': standard output\n"
        "      --append           add to the map instead of replacing it\n"
        "      --via WAY          patch: every call, by hooks patched into the running program's code\n"
        "                         sled: the same, only where the compiler left room for hooks\n"
        "                         uprobe: every call, by the kernel; slow; for static and set-uid programs\n"
        "                         unwind: stack dumps at some rate; for running processes, too\n"
        "                         auto (default): patch where it can be, else uprobe (root) or unwind\n"
        "      --image NAME,...   hook the files whose names begin so (default: all but the C library and\n"
        "                         the loader)\n"
        "      --samples HZ       stacks per second sampled beside the hooks, for the time that contexts "
        "take and\n"
        "                         for code without hooks (default: 4000; 0: none)\n"
        "      --duration S       stop after S seconds (a launched command is then ended)\n"
        "  -q, --quiet            no progress, no notes\n"
        "  -v, --verbose          say more\n"
        "  -h, --help             this text\n"
        "\n"
        "For --via unwind, which they imply:\n"
        "\n"
        "  -p, --pid PID,...      attach to these processes, their threads and their children\n"
        "  -t, --tid TID,...      attach to these threads only\n"
        "      --stack N          bytes of stack in each sample, at most 65528 (default: 32768)\n"
        "  -e, --event EVENT      what to sample (default: cycles, or cpu-clock where there is no PMU)\n"
        "  -F, --frequency HZ     samples per second (default for clocks: 1000)\n"
        "  -c, --period N         one sample every N events (clocks: nanoseconds)\n"
        "\n"
        "Run it on input that is representative, as often as you like (--append). The exit code is the\n"
        "command's own when the training worked.\n",
    .run = train_run,
};
