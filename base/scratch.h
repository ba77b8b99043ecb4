/*
 * scratch.h - a directory for temporary files, which is removed when the process ends, however it ends; and
 * unnamed files. A child process waits for the end and removes the directory: only SIGKILL ends it, and it
 * keeps privileges that its parent may drop (cli/privilege.h).
 */
#ifndef FATHOM_BASE_SCRATCH_H
#define FATHOM_BASE_SCRATCH_H

#include <stdbool.h>

#include "base/error.h"

struct scratch;

/* Both must be called before other threads exist. Makes a new directory, mode 0700, in $TMPDIR or
 * /var/tmp. */
int scratch_new(struct scratch **out, struct fathom_error *err);
/* The same for an existing directory of this user. keep: called in the child when the process has ended;
 * NULL: the directory is removed. */
int scratch_watch(const char *directory, bool (*keep)(const char *directory), struct scratch **out,
                  struct fathom_error *err);
const char *scratch_directory(const struct scratch *scratch);
/* Removes it; NULL is allowed. */
void scratch_free(struct scratch *scratch);

/* Makes an unnamed file there, for this process alone. Negative: impossible. */
int scratch_file(void);

#endif
