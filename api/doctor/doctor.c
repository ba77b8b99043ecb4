#include "api/doctor/doctor.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/doctor/trial_run.h"
#include "base/output.h"
#include "base/scratch.h"
#include "base/text.h"
#include "collector/events/pfm_cpu.h"
#include "config.h"
#include "report/export/json.h"

#define JSON_VERSION 1

struct fathom_doctor {
    struct doctor_machine machine;
    struct rows rows;
    struct outfile *report; /* of the hardware checks; NULL: none */
    struct scratch *scratch;
    struct trial_result *results;
    struct fathom_writing writing;
};

/* Both are "" if it is unknown. */
static void find_self(struct doctor_machine *machine)
{
    ssize_t length = readlink("/proc/self/exe", machine->self, sizeof machine->self - 1);
    machine->self[length > 0 ? length : 0] = '\0';
    if (length > 0 && TEXT_QUOTED((size_t)length) <= sizeof machine->self_quoted)
        text_quote(machine->self, machine->self_quoted);
}

int fathom_doctor_open(const char *runtime, struct fathom_doctor **out, struct fathom_error *err)
{
    struct fathom_doctor *d = calloc(1, sizeof *d);
    if (!d)
        return error_memory(err);
    struct doctor_machine *machine = &d->machine;
    facts_read(&fact_places_here, &machine->facts);
    tries_run(&machine->tries);
    pfm_cpu(machine->cpu, sizeof machine->cpu);
    tries_precise(&machine->precise, NULL);
    find_self(machine);
    machine->runtime = runtime;
    doctor_hardware(machine, &d->rows);
    doctor_rights(machine, &d->rows);
    machine->runtime = NULL;
    *out = d;
    return 0;
}

void fathom_doctor_close(struct fathom_doctor *d)
{
    if (!d)
        return;
    if (d->results)
        hardware_trials_free(d->results);
    free(d->results);
    scratch_free(d->scratch);
    outfile_close(d->report);
    rows_free(&d->rows);
    free(d);
}

int fathom_doctor_program(struct fathom_doctor *d, const char *name, struct fathom_error *err)
{
    return doctor_program(&d->machine, name, &d->rows, err);
}

int fathom_doctor_process(struct fathom_doctor *d, pid_t pid, struct fathom_error *err)
{
    return doctor_process(&d->machine, pid, &d->rows, err);
}

int fathom_doctor_check_open(struct fathom_doctor *d, const char *report, struct fathom_error *err)
{
    int rc = outfile_open(report, &d->report, err);
    if (rc == 0)
        d->writing.output = outfile_target(d->report);
    return rc;
}

int fathom_doctor_check_record(struct fathom_doctor *d, const struct fathom_listener *listener,
                               struct fathom_error *err)
{
    struct host host;
    host_init(&host, listener);
    d->results = calloc(trial_count, sizeof *d->results);
    int rc = d->results ? scratch_new(&d->scratch, err) : error_memory(err);
    if (rc == 0)
        rc = output_begin(d->report, err);
    if (rc == 0)
        rc = hardware_trials_record(&d->machine, scratch_directory(d->scratch), d->results, &host, err);
    return rc;
}

const struct fathom_writing *fathom_doctor_check_writing(const struct fathom_doctor *d)
{
    return &d->writing;
}

int fathom_doctor_check_judge(struct fathom_doctor *d, enum fathom_doctor_check *out,
                              struct fathom_error *err)
{
    FILE *file;
    hardware_trials_judge(d->results, d->machine.self);
    int rc = output_print(d->report, &file, err);
    if (rc < 0)
        return rc;
    hardware_trials_report(file, &d->rows, d->results);
    rc = output_printed(d->report, file, 0, err);
    hardware_trials_add(&d->rows, d->results);
    *out = hardware_trials_code(d->results);
    return rc;
}

int fathom_doctor_findings(const struct fathom_doctor *d, const struct fathom_finding **out, size_t *count,
                           struct fathom_error *err)
{
    if (d->rows.failed)
        return error_memory(err);
    *out = d->rows.at;
    *count = d->rows.count;
    return 0;
}

int fathom_doctor_verdict(const struct fathom_doctor *d)
{
    return doctor_verdict(&d->rows, &d->machine.tries);
}

int fathom_doctor_write_json(const struct fathom_doctor *d, int status, FILE *out, struct fathom_error *err)
{
    static const char *const words[] = {[FATHOM_FINDING_OK] = "ok",
                                        [FATHOM_FINDING_NOTE] = "note",
                                        [FATHOM_FINDING_LIMIT] = "limit",
                                        [FATHOM_FINDING_FAIL] = "fail"};
    enum fathom_finding_state worst = FATHOM_FINDING_OK;
    struct printer printer = {.out = out};
    struct json json = {.printer = &printer};
    const struct rows *rows = &d->rows;
    if (rows->failed)
        return error_memory(err);
    for (size_t i = 0; i < rows->count; i++)
        worst = rows->at[i].state > worst ? rows->at[i].state : worst;
    json_object(&json, NULL);
    json_number(&json, "version", JSON_VERSION);
    json_text(&json, "fathom", PACKAGE_VERSION);
    json_number(&json, "status", (uint64_t)status);
    json_text(&json, "worst", words[worst]);
    json_array(&json, "checks");
    for (size_t i = 0; i < rows->count; i++) {
        const struct fathom_finding *row = &rows->at[i];
        json_object(&json, NULL);
        json_text(&json, "group", row->group);
        json_text(&json, "id", row->id);
        json_text(&json, "state", words[row->state]);
        json_text(&json, "is", row->is);
        json_text(&json, "costs", row->costs);
        json_text(&json, "mend", row->mend);
        json_text(&json, "command", row->command);
        json_end(&json);
    }
    json_end(&json);
    json_end(&json);
    return printer_finish(&printer, err);
}
