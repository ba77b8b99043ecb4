/*
 * trial_run.h - runs the checks of the hardware (trial.h) as a user would: `fathom record` of this program itself.
 */
#ifndef FATHOM_API_DOCTOR_TRIAL_RUN_H
#define FATHOM_API_DOCTOR_TRIAL_RUN_H

#include "api/doctor/trial.h"
#include "api/host.h"

struct trial_result {
    const struct hardware_trial *trial;
    bool ran;
    int status; /* of the recording, its exit code */
    struct trial_verdict verdict;
    struct trial_seen seen;
    struct trial_memory memory;
    char *recording; /* its file; owned */
    char *said;      /* what `fathom record` said of it; owned. NULL: nothing */
};

/* Records what is possible on the machine, into files in a directory. results: one for each of `hardware_trials`; to be freed even
 * after an error. Nothing else may run meanwhile that counters interrupt, or batches are not told. */
int hardware_trials_record(const struct doctor_machine *machine, const char *directory,
                           struct trial_result *results, const struct host *host, struct fathom_error *err);
/* Judges the recordings. */
void hardware_trials_judge(struct trial_result *results);
void hardware_trials_free(struct trial_result *results);

/* What can be sent back: of the machine, by the rows, and each check. */
void hardware_trials_report(FILE *out, const struct rows *rows, const struct trial_result *results);
/* A row for each. */
void hardware_trials_add(struct rows *rows, const struct trial_result *results);
enum fathom_doctor_check hardware_trials_code(const struct trial_result *results);

#endif
