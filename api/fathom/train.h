/*
 * train.h - learns a program's call paths into a path map, on every call or from samples; and what all that runs commands with
 * hooks shares.
 *
 * Hooks are patched into the memory of a command and of the processes that it starts, by a runtime that is loaded into them
 * (libfathom-probe.so). It is looked for beside libfathom, and where it is installed, unless the caller names it. The directory of
 * a run, below $TMPDIR or /var/tmp, is removed by a child process however this process ends. What other runs that were killed left there is recovered
 * when one begins. To be called before other threads exist.
 */
#ifndef FATHOM_TRAIN_H
#define FATHOM_TRAIN_H

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where the runtime is. given: its absolute path; NULL or "": it is looked for. -ENOENT; -EINVAL: LD_PRELOAD cannot take the
 * path. */
FATHOM_API int fathom_runtime_find(const char *given, char *path, size_t size, struct fathom_error *error);

enum fathom_train_way {
    FATHOM_TRAIN_AUTO,   /* one of the others */
    FATHOM_TRAIN_PATCH,  /* every call, by hooks that the runtime patches into the program's memory */
    FATHOM_TRAIN_SLED,   /* the same, but only where the compiler left room for it */
    FATHOM_TRAIN_UPROBE, /* every call, by the kernel's uprobes */
    FATHOM_TRAIN_UNWIND  /* stack dumps, unwound */
};

/* How a command can be trained, and why not by hooks: a clause such as "is statically linked"; NULL: it can. */
FATHOM_API enum fathom_train_way fathom_train_choose(const char *command, const char **why);

#ifdef __cplusplus
}
#endif

#endif
