/*
 * doctor.h - what works on this machine, for this user, and for a program; what does not, what that costs, and how to mend it.
 */
#ifndef FATHOM_DOCTOR_H
#define FATHOM_DOCTOR_H

#include <sys/types.h>

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

enum fathom_finding_state {
    FATHOM_FINDING_OK,
    FATHOM_FINDING_NOTE,  /* good to know, costs nothing or little */
    FATHOM_FINDING_LIMIT, /* Fathom works, but with less */
    FATHOM_FINDING_FAIL   /* what was asked for cannot be done */
};

/* Texts may be hostile to a terminal (names of files). */
struct fathom_finding {
    const char *group; /* words that do not change: the group, ... */
    const char *id;    /* ... and the finding */
    const char *title; /* for people */
    enum fathom_finding_state state;
    const char *is, *costs, *mend; /* NULL but `is`: nothing to say */
    const char *command;           /* a line for the shell that mends it, or NULL */
};

struct fathom_doctor;

/* Examines the machine, and what this user may do. runtime: the file of the probe runtime (fathom_runtime_find()), copied; NULL: not
 * found. -ENOMEM. */
FATHOM_API int fathom_doctor_open(const char *runtime, struct fathom_doctor **out,
                                  struct fathom_error *error);
FATHOM_API void fathom_doctor_close(struct fathom_doctor *doctor); /* NULL is allowed */

/* Examines a program too, by its name as a shell takes it, or a running process. Errors: those of files and processes. */
FATHOM_API int fathom_doctor_program(struct fathom_doctor *doctor, const char *name,
                                     struct fathom_error *error);
FATHOM_API int fathom_doctor_process(struct fathom_doctor *doctor, pid_t pid, struct fathom_error *error);

/* Checks of the hardware, in three steps: opens the file for a report that can be sent back ("-": standard output); records
 * known programs with each kind of event, which takes a minute; judges the recordings, writes the report and adds findings. They are
 * recorded as fathom(1) would: this program itself runs as `PROGRAM record ... -- PROGRAM doctor --workload NAME`, and must take that.
 * The second step begins the file and makes a temporary directory, and is for callers without other threads, the third needs rights
 * to read and to write the output. */
FATHOM_API int fathom_doctor_check_open(struct fathom_doctor *doctor, const char *report,
                                        struct fathom_error *error);
FATHOM_API_MT_UNSAFE int fathom_doctor_check_record(struct fathom_doctor *doctor,
                                                    const struct fathom_listener *listener,
                                                    struct fathom_error *error);
FATHOM_API const struct fathom_writing *fathom_doctor_check_writing(const struct fathom_doctor *doctor);
enum fathom_doctor_check {
    FATHOM_CHECK_RIGHT,
    FATHOM_CHECK_WRONG, /* at least one was */
    FATHOM_CHECK_NONE   /* no counters were there to check */
};
FATHOM_API int fathom_doctor_check_judge(struct fathom_doctor *doctor, enum fathom_doctor_check *out,
                                         struct fathom_error *error);

/* What the checks record: runs for 2 s of CPU time, and may print a line. -EINVAL: it has no such workload; -ENOMEM. */
enum fathom_workload { FATHOM_WORKLOAD_CALLS = 1, FATHOM_WORKLOAD_MEMORY };
FATHOM_API int fathom_doctor_workload(enum fathom_workload workload);

/* What was found so far, by groups; borrowed until more is examined. -ENOMEM: findings are missing. */
FATHOM_API int fathom_doctor_findings(const struct fathom_doctor *doctor, const struct fathom_finding **out,
                                      size_t *count, struct fathom_error *error);
/* 0: what was asked for works; -EACCES: this user may not sample, or not the process; -ENOSYS: sampling is refused for another reason;
 * -ENOEXEC: the program is none that is known. */
FATHOM_API int fathom_doctor_verdict(const struct fathom_doctor *doctor);
/* The findings as JSON, which stays as fathom-doctor(1) documents it. status: an exit code, for its member of that name. */
FATHOM_API int fathom_doctor_write_json(const struct fathom_doctor *doctor, int status, FILE *out,
                                        struct fathom_error *error);

#ifdef __cplusplus
}
#endif

#endif
