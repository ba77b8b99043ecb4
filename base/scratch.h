/*
 * scratch.h - a directory for temporary files, which is removed when the process ends, however it ends; and a file without
 * a name.
 *
 * A child process, which waits for that, removes it: no signal but SIGKILL ends it, and it keeps the rights that its
 * parent may give up (cli/privilege.h).
 */
#ifndef FATHOM_BASE_SCRATCH_H
#define FATHOM_BASE_SCRATCH_H

#include <stdbool.h>

#include "base/error.h"

struct scratch;

/* Both are to be called before other threads exist. A new directory, mode 0700, in $TMPDIR or /var/tmp. */
int scratch_new(struct scratch **out, struct fathom_error *err);
/* The same for a directory of this user that exists. keep: asked when the process has ended, in its child; NULL: nothing is. */
int scratch_watch(const char *directory, bool (*keep)(const char *directory), struct scratch **out,
                  struct fathom_error *err);
const char *scratch_directory(const struct scratch *scratch);
/* Removes it; NULL is allowed. */
void scratch_free(struct scratch *scratch);

/* A file without a name there, for this process alone. Negative: there cannot be one. */
int scratch_file(void);

#endif
