/* disambig.c - `fathom disambig PROGRAM`: its options and steps. */
#include <getopt.h>
#include <stdlib.h>

#include "api/fathom-disambig.h"
#include "cli/exit.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/output.h"

struct disambig_values {
    struct fathom_disambig_options options;
    bool selftest;
};

INTERRUPT_BY(stop_selftest, fathom_disambig_test_stop)

static int run_selftest(struct fathom_disambig *d, struct fathom_error *err)
{
    struct interrupted_run run;
    fflush(stdout);
    int rc = fathom_disambig_test_open(d, err);
    if (rc < 0)
        return rc;
    interrupt_hold(&run);
    rc = fathom_disambig_test_start(d, err);
    interrupt_begin(&run, stop_selftest, d);
    if (rc == 0)
        fathom_disambig_test_run(d);
    interrupt_end(&run);
    return rc == 0 ? fathom_disambig_test_judge(d, stdout, err) : rc;
}

static int disambiguate_program(const struct disambig_values *values, struct terminal *terminal)
{
    const struct fathom_disambig_options *o = &values->options;
    struct fathom_disambig *d = NULL;
    struct fathom_error err = {0};
    int rc = fathom_disambig_open(o, &terminal->listener, &d, &err);
    if (rc == 0 && (o->output || o->emit))
        output_alone(o->output ? o->output : o->emit);
    if (rc == 0 && o->map_output)
        output_alone(o->map_output);
    if (rc == 0)
        rc = fathom_disambig_run(d, &err);
    terminal_progress_end(terminal);
    if (rc == 0)
        rc = fathom_disambig_print(d, stdout, &err);
    if (rc == 0 && values->selftest)
        rc = run_selftest(d, &err);
    int code = exit_result(terminal, rc, &err);
    fathom_disambig_close(d);
    return code;
}

static bool has_method(const struct fathom_disambig_options *o, enum fathom_disambig_method method)
{
    return o->methods >> method & 1;
}

/* NULL: the options go together. */
static const char *wrong_use(const struct disambig_values *values)
{
    const struct fathom_disambig_options *o = &values->options;
    const bool clone = has_method(o, FATHOM_DISAMBIG_CLONE) || has_method(o, FATHOM_DISAMBIG_EDGES),
               wrap = has_method(o, FATHOM_DISAMBIG_WRAP);
    return !o->map                ? "give the program's path map: --map MAP (from 'fathom train')"
           : o->emit && o->output ? "--emit is for the compiler, --output patches: give one of them"
           : o->emit && (clone || has_method(o, FATHOM_DISAMBIG_INSERT) || wrap)
               ? "--emit is for the compiler, which neither makes copies nor adds instructions: give another "
                 "--method"
           : o->symbolic && !clone && !wrap
               ? "--symbolic is about copies and wraps: give --method clone, too, or wrap"
           : o->map_output && !o->output
               ? "--map-output is the map of the patched program: give --output, too"
           : values->selftest && !(o->output && o->command)
               ? "--selftest runs a command with the patched file: give --output and, after the program, the "
                 "command"
           : o->command && !values->selftest ? "a command is only for --selftest"
                                             : NULL;
}

static int disambig_run(int argc, char **argv, struct terminal *terminal)
{
    struct disambig_values values = {.options = {.budget = 15,
                                                 .code = 25,
                                                 .edges = 5,
                                                 .target = 100,
                                                 .methods = 1u << FATHOM_DISAMBIG_MOVE,
                                                 .runtime = getenv("FATHOM_PROBE_LIBRARY")}};
    int code = options_parse(&disambig_command, &values, false, argc, argv, terminal);
    if (code < 0 && optind >= argc)
        code = option_usage(terminal, "give a program or library");
    values.options.program = argv[optind];
    if (argc - optind > 1)
        values.options.command = argv + optind + 1;
    const char *wrong = wrong_use(&values);
    if (code < 0 && wrong)
        code = option_usage(terminal, "%s", wrong);
    return code < 0 ? disambiguate_program(&values, terminal) : code;
}

static const struct option_word methods[] = {{"resize", FATHOM_DISAMBIG_RESIZE},
                                             {"move", FATHOM_DISAMBIG_MOVE},
                                             {"insert", FATHOM_DISAMBIG_INSERT},
                                             {"clone", FATHOM_DISAMBIG_CLONE},
                                             {"edges", FATHOM_DISAMBIG_EDGES},
                                             {"wrap", FATHOM_DISAMBIG_WRAP},
                                             {0}};
static const struct option_word searches[] = {
    {"best", FATHOM_DISAMBIG_BEST}, {"random", FATHOM_DISAMBIG_RANDOM}, {0}};

static const struct option_row rows[] = {
    OPTION_TEXT("map", 'm', "MAP", struct disambig_values, options.map,
                "the program's path map from 'fathom train'"),
    OPTION_TEXT("output", 'o', "FILE", struct disambig_values, options.output,
                "write the patched program or library"),
    OPTION_TEXT("map-output", 'M', "MAP", struct disambig_values, options.map_output,
                "write the path map of the patched file"),
    OPTION_TEXT("emit", 0, "FILE", struct disambig_values, options.emit,
                "write how much each frame is to grow, for the GCC plugin"),
    OPTION_FRACTION("budget", 0, "PERCENT", 0, 100000, struct disambig_values, options.budget,
                    "by how much the longest stack may grow (default: 15)"),
    OPTION_FRACTION("code", 0, "PERCENT", 0, 100000, struct disambig_values, options.code,
                    "by how much copies may enlarge the code (default: 25)"),
    OPTION_FRACTION("edges", 0, "PERCENT", 0, 100000, struct disambig_values, options.edges,
                    "with --method edges: guards executed, of all calls (default: 5)"),
    OPTION_FRACTION("target", 0, "PERCENT", 0, 100, struct disambig_values, options.target,
                    "stop when so much of the weight is precise (default: 100)"),
    OPTION_NUMBER("most", 0, "BYTES", 16, UINT32_MAX, struct disambig_values, options.most,
                  "the largest pad of a frame (default: what fits)"),
    OPTION_CHOICES("method", 0, "HOW,...", methods, struct disambig_values, options.methods,
                   "resize: change frames in place; move (default): also emit functions anew whose code has "
                   "no room for larger numbers; and beside that insert: make frames larger that are made by "
                   "pushes, with instructions added; clone: give functions copies for some of their callers; "
                   "edges: lead calls through pointers to copies, too, by comparing the pointer (implies "
                   "clone); wrap: add instructions to calls that take more stack"),
    OPTION_CHOICE("search", 0, "HOW", searches, enum fathom_disambig_search, struct disambig_values,
                  options.search, "best (default), or random: the ICPP paper's"),
    OPTION_NUMBER("seed", 0, "N", 0, UINT64_MAX, struct disambig_values, options.seed,
                  "of the search's random choices (default: 0)"),
    OPTION_NUMBER("steps", 0, "N", 1, UINT64_MAX, struct disambig_values, options.steps,
                  "stop the search after so many"),
    OPTION_FLAG("symbolic", 0, struct disambig_values, options.symbolic,
                "lead a library's calls of its own functions past its PLT, as ld -Bsymbolic does"),
    OPTION_FLAG("selftest", 0, struct disambig_values, selftest,
                "run COMMAND with the patched file, measure all heights, and compare them with the map's"),
    OPTION_QUIET("print no notes"),
    OPTION_VERBOSE("print more details"),
    OPTION_HELP,
    OPTION_END,
};

const struct command disambig_command = {
    .name = "disambig",
    .summary = "change frame sizes so that call paths differ in height",
    .synopsis = "-m MAP [OPTIONS] [-o FILE [-M MAP]] PROGRAM\n"
                "-m MAP -o FILE --selftest [OPTIONS] PROGRAM COMMAND [ARG...]",
    .about = "Chooses how much the frames of a program's functions are to grow so that as much as possible "
             "of what its map saw is told apart by function and stack height alone, and patches that into a "
             "copy. No instruction more is executed, unless --method insert, edges or wrap allows it. "
             "Functions that cannot be proved safe are left alone.",
    .options = rows,
    .notes = "Without --output, it only tells what could be reached.",
    .run = disambig_run,
};
