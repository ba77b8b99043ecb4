/* doctor.c - `fathom doctor`: what works on this machine, for this user, for a program; what not, and how to mend it. */
#include <getopt.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/doctor/doctor.h"
#include "cli/doctor/trial_run.h"
#include "cli/exit.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/privilege.h"
#include "base/scratch.h"
#include "collector/events/pfm_cpu.h"

struct doctor_options {
    struct option_pids pids;
    bool json;
    bool hardware;
    const char *output;
    enum workload workload;
};

#define REPORT "fathom-hardware.txt"

static void find_self(char *out, size_t size)
{
    char path[1000];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    if (length > 0 && TEXT_QUOTED((size_t)length) <= size)
        text_quote(path, out);
}

static void examine_machine(struct doctor_machine *machine, struct rows *rows)
{
    char runtime[4096];
    facts_read(&fact_places_here, &machine->facts);
    tries_run(&machine->tries);
    pfm_cpu(machine->cpu, sizeof machine->cpu);
    tries_precise(&machine->precise, NULL);
    find_self(machine->self, sizeof machine->self);
    if (fathom_runtime_find(getenv("FATHOM_PROBE_LIBRARY"), runtime, sizeof runtime, NULL) == 0)
        machine->runtime = runtime;
    doctor_hardware(machine, rows);
    doctor_rights(machine, rows);
    machine->runtime = NULL;
}

/* Records first, as that needs rights; what is read then is hostile. The file is begun before both. */
static int check_hardware(struct outfile *file, const struct doctor_machine *machine, struct rows *rows,
                          int *code, struct terminal *terminal, struct fathom_error *err)
{
    struct trial_result *results = calloc(trial_count, sizeof *results);
    struct scratch *scratch = NULL;
    FILE *out;
    int rc = results ? scratch_new(&scratch, err) : error_memory(err);
    if (rc == 0)
        rc = output_begin(file, err);
    if (rc == 0)
        rc = hardware_trials_record(machine, scratch_directory(scratch), results, terminal, err);
    privilege_only_read_and(&(struct privilege_writing){.output = outfile_target(file)}, terminal);
    if (rc == 0) {
        hardware_trials_judge(results);
        rc = output_print(file, &out, err);
    }
    if (rc == 0) {
        hardware_trials_report(out, rows, results);
        rc = output_printed(file, out, 0, err);
        hardware_trials_add(rows, results);
        *code = hardware_trials_code(results);
    }
    if (results)
        hardware_trials_free(results);
    free(results);
    scratch_free(scratch);
    return rc;
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

/* What is examined besides the machine. *code: what it says beyond success or failure. */
static int examine_more(const struct doctor_options *options, const char *program,
                        const struct doctor_machine *machine, struct rows *rows, int *code,
                        struct terminal *terminal, struct fathom_error *err)
{
    struct outfile *file = NULL;
    if (program)
        privilege_only_read(terminal);
    if (program)
        return doctor_program(program, rows, err);
    if (options->pids.count)
        return doctor_process(options->pids.pids[0], rows, err);
    if (!options->hardware)
        return 0;
    int rc = output_open(options->output, &file, err);
    if (rc == 0)
        rc = check_hardware(file, machine, rows, code, terminal, err);
    outfile_close(file);
    return rc;
}

static int examine(const struct doctor_options *options, const char *program, struct terminal *terminal)
{
    struct rows rows = {0};
    struct doctor_machine machine = {0};
    struct fathom_error err = {0};
    int more = EXIT_OK;
    examine_machine(&machine, &rows);
    int rc = examine_more(options, program, &machine, &rows, &more, terminal, &err);
    int code = rc < 0 ? exit_code_of(&err) : doctor_code(&rows, &machine.tries);
    code = code == EXIT_OK ? more : code;
    struct fathom_error shown = {0};
    if (show(options, &rows, code, &shown) < 0) {
        terminal_error(terminal, &shown);
        code = exit_code_of(&shown);
    }
    fflush(stdout); /* which may go where messages go */
    if (rc < 0)
        terminal_error(terminal, &err);
    else if (options->hardware)
        terminal_say(terminal, LOG_NOTE, "the report to send back is %s", outfile_name(options->output));
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
    if (code < 0 && options.hardware && (program || options.pids.count))
        code = option_usage(terminal, &doctor_command,
                            "--hardware examines the machine: no program, no process");
    if (code < 0 && options.output && !options.hardware)
        code = option_usage(terminal, &doctor_command, "-o is for --hardware");
    if (code < 0 && options.workload && (program || options.pids.count || options.hardware || options.json))
        code = option_usage(terminal, &doctor_command, "--workload examines nothing: give it alone");
    if (code < 0 && options.workload)
        code = workload_run(options.workload, TRIAL_SECONDS);
    if (!options.output)
        options.output = REPORT;
    if (code < 0)
        code = examine(&options, program, terminal);
    free(options.pids.pids);
    return code;
}

static const struct option_word workloads[] = {{"calls", WORKLOAD_CALLS}, {"memory", WORKLOAD_MEMORY}, {0}};

static const struct option_row rows[] = {
    OPTION_PIDS("pid", 'p', "PID", struct doctor_options, pids, "examine this running process, too"),
    OPTION_FLAG(
        "hardware", 0, struct doctor_options, hardware,
        "record known programs with each kind of hardware event, compare with what is right, and write a "
        "report that can be sent back; takes a minute"),
    OPTION_TEXT("output", 'o', "FILE", struct doctor_options, output,
                "with --hardware: the report (default: " REPORT "; '-': standard output)"),
    OPTION_CHOICE(
        "workload", 0, "NAME", workloads, enum workload, struct doctor_options, workload,
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
             "with its call "
             "paths. The first thing to try when something does not work. It changes nothing but what "
             "--hardware writes, and needs no rights.",
    .options = rows,
    .notes = "The exit code is 0 if sampling works, 3 if it is refused; with --hardware, 1 if a check is "
             "wrong, and 7 if "
             "there are no counters to check; see fathom-doctor(1).",
    .run = doctor_run,
};
