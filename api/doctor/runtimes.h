/*
 * runtimes.h - the rows of language runtimes: which ones a program or a process has, what of their functions reports will name, and what flag
 * would name more.
 *
 * A runtime is told by what its file exports, whatever the file's name is. One that is linked in without exporting anything is not seen.
 */
#ifndef FATHOM_API_DOCTOR_RUNTIMES_H
#define FATHOM_API_DOCTOR_RUNTIMES_H

#include "api/doctor/doctor.h"
#include "image/script.h"

#define RUNTIMES_MOST 16

struct runtimes { /* zeroed at first */
    bool has[RUNTIMES_MOST];
    /* Of those whose functions are read: which one; language 0: none that tells where its state is, as CPython before 3.7. */
    struct script_runtime scripts[SCRIPT_LANGUAGES];
};

/* Looks for them in an image of the program or process. go: Go's compiler made it. */
void runtimes_see(struct runtimes *runtimes, const struct image *image, bool go);
/* Adds a row for each. pid 0: a program that does not run. */
void runtimes_add(const struct runtimes *runtimes, pid_t pid, const struct doctor_machine *machine,
                  struct rows *rows);

#endif
