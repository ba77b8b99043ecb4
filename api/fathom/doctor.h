/*
 * doctor.h - finds out what works on this machine, for this user and for a program, what does not, what that costs, and how to fix it.
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
    FATHOM_FINDING_LIMIT, /* Fathom works, with restrictions */
    FATHOM_FINDING_FAIL   /* the requested operation is impossible */
};

/* Texts may contain terminal control sequences, in names of files. */
struct fathom_finding {
    const char *group; /* stable identifiers: the group, ... */
    const char *id;    /* ... and the finding */
    const char *title; /* for people */
    enum fathom_finding_state state;
    const char *is, *costs, *mend; /* costs and mend: NULL if there is nothing to say */
    const char *command;           /* a shell command that fixes it, or NULL */
};

struct fathom_doctor;

/* Examines the machine and this user's rights. runtime: the path of the probe runtime (fathom_runtime_find()), copied; NULL: not found.
 * -ENOMEM. */
FATHOM_API int fathom_doctor_open(const char *runtime, struct fathom_doctor **out,
                                  struct fathom_error *error);
FATHOM_API void fathom_doctor_close(struct fathom_doctor *doctor); /* NULL is allowed */

/* Also examines a program, named as in a shell, or a running process. Errors: those of files and processes. */
FATHOM_API int fathom_doctor_program(struct fathom_doctor *doctor, const char *name,
                                     struct fathom_error *error);
FATHOM_API int fathom_doctor_process(struct fathom_doctor *doctor, pid_t pid, struct fathom_error *error);

/* Checks the hardware in three steps: opens the file for a report that can be sent back ("-": standard output); records known programs
 * with each kind of event, which takes a minute; judges the recordings, writes the report and adds findings. To record as fathom(1)
 * would, the calling program itself is run as `PROGRAM record ... -- PROGRAM doctor --workload NAME`, and must accept these arguments.
 * The second step begins the file and makes a temporary directory; call it before other threads exist. The third needs the rights to
 * read and to write the output. */
FATHOM_API int fathom_doctor_check_open(struct fathom_doctor *doctor, const char *report,
                                        struct fathom_error *error);
FATHOM_API_MT_UNSAFE int fathom_doctor_check_record(struct fathom_doctor *doctor,
                                                    const struct fathom_listener *listener,
                                                    struct fathom_error *error);
FATHOM_API const struct fathom_writing *fathom_doctor_check_writing(const struct fathom_doctor *doctor);
enum fathom_doctor_check {
    FATHOM_CHECK_RIGHT,
    FATHOM_CHECK_WRONG, /* at least one recording was wrong */
    FATHOM_CHECK_NONE   /* there were no counters to check */
};
FATHOM_API int fathom_doctor_check_judge(struct fathom_doctor *doctor, enum fathom_doctor_check *out,
                                         struct fathom_error *error);

/* The program that the checks record: runs for 2 s of CPU time, and may print a line. -EINVAL: no such workload; -ENOMEM. */
enum fathom_workload { FATHOM_WORKLOAD_CALLS = 1, FATHOM_WORKLOAD_MEMORY };
FATHOM_API int fathom_doctor_workload(enum fathom_workload workload);

/* The findings so far, by group; borrowed until more is examined. -ENOMEM: some findings are missing. */
FATHOM_API int fathom_doctor_findings(const struct fathom_doctor *doctor, const struct fathom_finding **out,
                                      size_t *count, struct fathom_error *error);
/* 0: the requested operation works; -EACCES: this user may not sample, or not this process; -ENOSYS: sampling is refused for another
 * reason; -ENOEXEC: the program's format is unknown. */
FATHOM_API int fathom_doctor_verdict(const struct fathom_doctor *doctor);
/* Writes the findings as JSON, in the stable format of fathom-doctor(1). status: the exit code, for the member of that name. */
FATHOM_API int fathom_doctor_write_json(const struct fathom_doctor *doctor, int status, FILE *out,
                                        struct fathom_error *error);

#ifdef __cplusplus
}
#endif

#endif
