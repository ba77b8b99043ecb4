/*
 * runtimes.h - the rows about language runtimes: which ones a program or a process has, which of their functions reports will name, and
 * which flag would name more.
 *
 * A runtime is recognised by what its file exports, not by the file's name. One that is linked in and exports nothing is not found.
 */
#ifndef FATHOM_API_DOCTOR_RUNTIMES_H
#define FATHOM_API_DOCTOR_RUNTIMES_H

#include "api/doctor/doctor.h"
#include "image/script.h"

#define RUNTIMES_MOST 16

struct runtimes { /* zero-initialised */
    bool has[RUNTIMES_MOST];
    /* By language, where functions can be read; language 0: none, or one whose state cannot be located, e.g. CPython before 3.7. */
    struct script_runtime scripts[SCRIPT_LANGUAGES];
};

/* Looks for runtimes in an image of the program or process. go: it was compiled by Go. */
void runtimes_see(struct runtimes *runtimes, const struct image *image, bool go);
/* Adds a row for each. pid: 0 for a program that is not running. */
void runtimes_add(const struct runtimes *runtimes, pid_t pid, const struct doctor_machine *machine,
                  struct rows *rows);

#endif
