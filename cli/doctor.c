/* doctor.c - `fathom doctor`: what works on this machine, for this user, for a program; what not, and how to mend it. */
#include <getopt.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/doctor/doctor.h"
#include "cli/exit.h"
#include "cli/options.h"
#include "cli/privilege.h"
#include "cli/probe_launch.h"
#include "collector/events/pfm_cpu.h"

struct doctor_options {
    struct option_pids pids;
    bool json;
};

static void find_self(char *out, size_t size)
{
    char path[1000];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    if (length > 0 && TEXT_QUOTED((size_t)length) <= size)
        text_quote(path, out);
}

static void examine_machine(struct rows *rows, struct tries *tries)
{
    struct doctor_machine machine = {0};
    char runtime[4096];
    facts_read(&fact_places_here, &machine.facts);
    tries_run(&machine.tries);
    pfm_cpu(machine.cpu, sizeof machine.cpu);
    tries_precise(&machine.precise, NULL);
    find_self(machine.self, sizeof machine.self);
    if (probe_library(runtime, sizeof runtime, NULL) == 0)
        machine.runtime = runtime;
    doctor_hardware(&machine, rows);
    doctor_rights(&machine, rows);
    *tries = machine.tries;
}

static int show(const struct doctor_options *options, const struct rows *rows, int code,
                struct fathom_error *err)
{
    if (rows->failed)
        return error_memory(err);
    if (options->json)
        return doctor_write_json(rows, code, err);
    doctor_print(rows, terminal_colour(COLOUR_AUTO, stdout));
    return 0;
}

static int examine(const struct doctor_options *options, const char *program, struct terminal *terminal)
{
    struct rows rows = {0};
    struct fathom_error err = {0};
    struct tries tries;
    int rc = 0;
    examine_machine(&rows, &tries);
    if (program)
        privilege_only_read(terminal);
    if (program)
        rc = doctor_program(program, &rows, &err);
    else if (options->pids.count)
        rc = doctor_process(options->pids.pids[0], &rows, &err);
    int code = rc < 0 ? exit_code_of(&err) : doctor_code(&rows, &tries);
    struct fathom_error shown = {0};
    if (show(options, &rows, code, &shown) < 0) {
        terminal_error(terminal, &shown);
        code = exit_code_of(&shown);
    }
    if (rc < 0)
        terminal_error(terminal, &err);
    rows_free(&rows);
    return code;
}

static int doctor_run(int argc, char **argv, struct terminal *terminal)
{
    struct doctor_options options = {0};
    int code = options_parse(&doctor_command, &options, true, argc, argv, terminal);
    const char *program = code < 0 && optind < argc ? argv[optind] : NULL;
    if (code < 0 && argc - optind > 1)
        code = option_usage(terminal, &doctor_command, "one program at a time: '%s' is a second one",
                            argv[optind + 1]);
    if (code < 0 && options.pids.count > 1)
        code = option_usage(terminal, &doctor_command, "one process at a time");
    if (code < 0 && program && options.pids.count)
        code = option_usage(terminal, &doctor_command, "give a program or a process, not both");
    if (code < 0)
        code = examine(&options, program, terminal);
    free(options.pids.pids);
    return code;
}

static const struct option_row rows[] = {
    OPTION_PIDS("pid", 'p', "PID", struct doctor_options, pids, "examine this running process, too"),
    OPTION_FLAG("json", 0, struct doctor_options, json, "write JSON, which stays as documented"),
    OPTION_HELP,
    OPTION_END,
};

const struct command doctor_command = {
    .name = "doctor",
    .summary = "what works here and what does not, what that costs, and how to mend it",
    .synopsis = "[--json] [PROGRAM | -p PID]",
    .about = "Examines this machine, what this user may do on it, and a program: whether it can be recorded "
             "with its call "
             "paths. The first thing to try when something does not work. It changes nothing, and needs no "
             "rights.",
    .options = rows,
    .notes = "The exit code is 0 if sampling works, 3 if it is refused; see fathom-doctor(1).",
    .run = doctor_run,
};
