/* doctor.c - `fathom doctor`: what works on this machine, for this user and a program; what does not, and how to fix that. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/fathom.h"
#include "base/outfile.h"
#include "base/text.h"
#include "cli/exit.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/privilege.h"
#include "cli/terminal.h"

#define WIDTH  80
#define INDENT 30 /* column of the texts */

static const struct {
    const char *shown, *colour;
} states[] = {
    [FATHOM_FINDING_OK] = {"ok", "\033[32m"},
    [FATHOM_FINDING_NOTE] = {"note", "\033[36m"},
    [FATHOM_FINDING_LIMIT] = {"LIMIT", "\033[33m"},
    [FATHOM_FINDING_FAIL] = {"FAIL", "\033[1;31m"},
};

static const struct {
    const char *word, *heading;
} groups[] = {
    {"machine", "Machine"},
    {"hardware", "Hardware events"},
    {"rights", "What this user may sample"},
    {"stacks", "Stacks"},
    {"limits", "Limits"},
    {"training", "Training"},
    {"program", "Program"},
    {"checks", "Checks"},
};

static const char *heading_of(const char *group)
{
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (strcmp(groups[i].word, group) == 0)
            return groups[i].heading;
    return group;
}

/* Prints "LABEL text", wrapped. The text is untrusted. */
static void print_text(const char *label, const char *text, size_t at)
{
    char *clean;
    if (asprintf(&clean, "%s%s", label, text) < 0)
        return;
    text_clean(clean);
    option_fill(clean, &(struct option_filling){.width = WIDTH, .indent = INDENT, .at = at});
    free(clean);
}

static void print_row(const struct fathom_finding *row, bool colour)
{
    const char *shown = states[row->state].shown;
    printf("  %s%s%s%*s %-*s", colour ? states[row->state].colour : "", shown, colour ? "\033[0m" : "",
           (int)(5 - strlen(shown)), "", INDENT - 8, row->title);
    print_text("", row->is, INDENT);
    if (row->costs)
        print_text("costs: ", row->costs, 0);
    if (row->mend)
        print_text("mend: ", row->mend, 0);
    if (row->command) {
        printf("%*s$ ", INDENT - 20, "");
        terminal_print(row->command);
        putchar('\n');
    }
}

static void print_verdict(const struct fathom_finding *findings, size_t count)
{
    unsigned fails = 0, limits = 0;
    bool refused = false;
    for (size_t i = 0; i < count; i++) {
        bool fail = findings[i].state == FATHOM_FINDING_FAIL;
        fails += fail;
        limits += findings[i].state == FATHOM_FINDING_LIMIT;
        refused |= fail && strcmp(findings[i].id, "sampling") == 0;
    }
    if (refused)
        puts("\nSampling is impossible here: see FAIL above.");
    else if (fails)
        puts("\nSampling works, but not as asked: see FAIL above.");
    else if (limits)
        printf("\nSampling works; %u thing%s limited: see LIMIT above.\n", limits,
               limits == 1 ? " is" : "s are");
    else
        puts("\nSampling works, without a limit.");
}

static void print_findings(const struct fathom_finding *findings, size_t count, bool colour)
{
    const char *group = "";
    for (size_t i = 0; i < count; i++) {
        const struct fathom_finding *row = &findings[i];
        if (strcmp(group, row->group) != 0)
            printf("%s%s\n", i ? "\n" : "", heading_of(row->group));
        group = row->group;
        print_row(row, colour);
    }
    print_verdict(findings, count);
}

struct doctor_options {
    struct option_pids pids;
    bool json;
    bool hardware;
    const char *output;
    enum fathom_workload workload; /* 0: none */
};

#define REPORT "fathom-hardware.txt"

/* Recording needs rights, which are given up before the hostile recordings are read. The report is opened before both. */
static int check_hardware(struct fathom_doctor *doctor, const char *report, int *code,
                          struct terminal *terminal, struct fathom_error *err)
{
    enum fathom_doctor_check checked = FATHOM_CHECK_RIGHT;
    int rc = fathom_doctor_check_open(doctor, report, err);
    if (rc < 0)
        return rc;
    output_alone(report);
    rc = fathom_doctor_check_record(doctor, &terminal->listener, err);
    terminal_progress_end(terminal);
    privilege_only_read_and(&(struct fathom_writing){.output = fathom_doctor_check_writing(doctor)->output},
                            terminal);
    if (rc == 0)
        rc = fathom_doctor_check_judge(doctor, &checked, err);
    *code = checked == FATHOM_CHECK_WRONG  ? EXIT_OTHER
            : checked == FATHOM_CHECK_NONE ? EXIT_NOTHING
                                           : EXIT_OK;
    return rc;
}

static int show_result(const struct doctor_options *options, const struct fathom_doctor *doctor, int code,
                       struct fathom_error *err)
{
    const struct fathom_finding *findings;
    size_t count;
    if (options->json)
        return fathom_doctor_write_json(doctor, code, stdout, err);
    int rc = fathom_doctor_findings(doctor, &findings, &count, err);
    if (rc == 0)
        print_findings(findings, count, terminal_colour(COLOUR_AUTO, stdout));
    return rc;
}

/* Examines a program, a process or the hardware, if that was asked for. *code: its exit code, if it did not fail. */
static int examine_more(const struct doctor_options *options, const char *program,
                        struct fathom_doctor *doctor, int *code, struct terminal *terminal,
                        struct fathom_error *err)
{
    if (program)
        privilege_only_read(terminal);
    if (program)
        return fathom_doctor_program(doctor, program, err);
    if (options->pids.count)
        return fathom_doctor_process(doctor, options->pids.pids[0], err);
    return options->hardware ? check_hardware(doctor, options->output, code, terminal, err) : 0;
}

static int examine_program(const struct doctor_options *options, const char *program,
                           struct terminal *terminal)
{
    struct fathom_doctor *doctor = NULL;
    struct fathom_error err = {0}, shown = {0}, verdict = {0};
    char runtime[4096];
    bool found = fathom_runtime_find(getenv("FATHOM_PROBE_LIBRARY"), runtime, sizeof runtime, NULL) == 0;
    int more = EXIT_OK;
    int rc = fathom_doctor_open(found ? runtime : NULL, &doctor, &err);
    if (rc < 0)
        return exit_result(terminal, rc, &err);
    rc = examine_more(options, program, doctor, &more, terminal, &err);
    verdict.code = -fathom_doctor_verdict(doctor);
    int code = exit_code_of(rc < 0 ? &err : &verdict);
    code = code == EXIT_OK ? more : code;
    if (show_result(options, doctor, code, &shown) < 0)
        code = exit_result(terminal, -1, &shown);
    fflush(stdout); /* before messages, which may go to the same place */
    if (rc < 0)
        terminal_error(terminal, &err);
    else if (options->hardware)
        terminal_say(terminal, LOG_NOTE, "the report to send back is %s", outfile_name(options->output));
    fathom_doctor_close(doctor);
    return code;
}

/* NULL: the options go together. */
static const char *wrong_use(const struct doctor_options *o, const char *program)
{
    const bool more = program || o->pids.count;
    return o->pids.count > 1           ? "one process at a time"
           : program && o->pids.count  ? "give a program or a process, not both"
           : o->hardware && more       ? "--hardware examines the machine: no program, no process"
           : o->output && !o->hardware ? "-o is for --hardware"
           : o->workload && (more || o->hardware || o->json) ? "--workload examines nothing: give it alone"
                                                             : NULL;
}

static int doctor_run(int argc, char **argv, struct terminal *terminal)
{
    struct doctor_options options = {0};
    int code = options_parse(&doctor_command, &options, true, argc, argv, terminal);
    const char *program = code < 0 && optind < argc ? argv[optind] : NULL;
    if (code < 0 && argc - optind > 1)
        code = option_usage(terminal, "one program at a time: '%s' is a second one", argv[optind + 1]);
    const char *wrong = wrong_use(&options, program);
    if (code < 0 && wrong)
        code = option_usage(terminal, "%s", wrong);
    if (code < 0 && options.workload)
        code = fathom_doctor_workload(options.workload) < 0 ? EXIT_OTHER : EXIT_OK;
    if (!options.output)
        options.output = REPORT;
    if (code < 0)
        code = examine_program(&options, program, terminal);
    free(options.pids.pids);
    return code;
}

static const struct option_word workloads[] = {
    {"calls", FATHOM_WORKLOAD_CALLS}, {"memory", FATHOM_WORKLOAD_MEMORY}, {0}};

static const struct option_row rows[] = {
    OPTION_PIDS("pid", 'p', "PID", struct doctor_options, pids, "examine this running process, too"),
    OPTION_FLAG("hardware", 0, struct doctor_options, hardware,
                "record known programs with each kind of hardware event, compare with what is right, and "
                "write a report that can be sent back; takes a minute"),
    OPTION_TEXT("output", 'o', "FILE", struct doctor_options, output,
                "with --hardware: the report (default: " REPORT "; '-': standard output)"),
    OPTION_CHOICE(
        "workload", 0, "NAME", workloads, enum fathom_workload, struct doctor_options, workload,
        "examine nothing, but run a program that --hardware records, for 2 s of CPU time: calls, memory"),
    OPTION_FLAG("json", 0, struct doctor_options, json, "write JSON, which stays as documented"),
    OPTION_HELP,
    OPTION_END,
};

const struct command doctor_command = {
    .name = "doctor",
    .summary = "what works here and what does not, what that costs, and how to mend it",
    .synopsis = "[--json] [PROGRAM | -p PID]\n"
                "--hardware [--json] [-o FILE]\n"
                "--workload NAME",
    .about = "Examines this machine, what this user may do on it, and a program: whether it can be recorded "
             "with its call paths. The first thing to try when something does not work. It changes nothing "
             "but what --hardware writes, and needs no rights.",
    .options = rows,
    .notes = "The exit code is 0 if sampling works, 3 if it is refused; with --hardware, 1 if a check is "
             "wrong, and 7 if there are no counters to check; see fathom-doctor(1).",
    .run = doctor_run,
};
