/* trial_run.h - runs the checks of the hardware (trial.h) as a user would: `fathom record` of this program itself. */
#ifndef FATHOM_API_DOCTOR_TRIAL_RUN_H
#define FATHOM_API_DOCTOR_TRIAL_RUN_H

#include "api/doctor/trial.h"
#include "api/host.h"

struct trial_result {
    const struct hardware_trial *trial;
    bool ran;
    int status; /* exit code of the recording */
    struct trial_verdict verdict;
    struct trial_seen seen;
    struct trial_memory memory;
    char *recording; /* file; owned */
    char *said;      /* messages of `fathom record`; owned. NULL: none */
};

/* Runs the recordings that are possible on the machine; their files are in `directory`. results: one for each of `hardware_trials`; to be
 * freed even after an error. Interrupts of other programs' counters are counted too, and hide batches. */
int hardware_trials_record(const struct doctor_machine *machine, const char *directory,
                           struct trial_result *results, const struct host *host, struct fathom_error *err);
/* Judges the recordings. self: this program's file. */
void hardware_trials_judge(struct trial_result *results, const char *self);
void hardware_trials_free(struct trial_result *results);

/* Writes the report: rows about the machine, and each check. */
void hardware_trials_report(FILE *out, const struct rows *rows, const struct trial_result *results);
/* Adds a row for each check. */
void hardware_trials_add(struct rows *rows, const struct trial_result *results);
enum fathom_doctor_check hardware_trials_code(const struct trial_result *results);

#endif
