/*
 * train.h - learns a program's call paths into a path map, from every call or from samples. This comment also applies to other functions
 * that run commands with hooks.
 *
 * Hooks are patched into the memory of a command and of the processes that it starts by a runtime that is loaded into them
 * (libfathom-probe.so). It is searched for beside libfathom and where it is installed, unless the caller names it. The directory of a run,
 * in $TMPDIR or /var/tmp, is removed by a child process however this process ends. Directories left by killed runs are recovered when
 * a run begins.
 */
#ifndef FATHOM_TRAIN_H
#define FATHOM_TRAIN_H

#include "target.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Finds the runtime. given: its absolute path; NULL or "": search for it. -ENOENT; -EINVAL: LD_PRELOAD does not support the path. */
FATHOM_API int fathom_runtime_find(const char *given, char *path, size_t size, struct fathom_error *error);

enum fathom_train_way {
    FATHOM_TRAIN_AUTO,   /* one of the others */
    FATHOM_TRAIN_PATCH,  /* every call, by hooks that the runtime patches into the program's memory */
    FATHOM_TRAIN_SLED,   /* the same, but only where the compiler left room for it */
    FATHOM_TRAIN_UPROBE, /* every call, by the kernel's uprobes */
    FATHOM_TRAIN_UNWIND  /* stack dumps, unwound */
};

/* How a command can be trained. *why: why not by hooks, e.g. "is statically linked"; NULL: by hooks. */
FATHOM_API enum fathom_train_way fathom_train_choose(const char *command, const char **why);

/* All pointers are borrowed until fathom_train_close(). */
struct fathom_train_options {
    /* The command; with FATHOM_TRAIN_UNWIND or _AUTO, also running processes, and the event. stack_bytes: of each sample, at least 64. */
    struct fathom_target target;
    const char *output; /* the map; "-": standard output */
    bool append;        /* add to the existing map */
    enum fathom_train_way way;
    const char *const *images; /* only files whose names start with one of these get hooks; */
    size_t image_count;        /* 0: all but the C library and the loader */
    uint64_t samples;          /* for FATHOM_TRAIN_PATCH: stacks per second, in addition to hooks; 0: none */
    const char *runtime;       /* as in fathom_runtime_find() */
    FATHOM_RESERVED;
};

struct fathom_train;

/* Opens the output and the map to add to, chooses the way, of which the listener is told, and prepares the run. Errors: of both files;
 * -ENOTSUP: that map is too old to add to; -ENOENT: the command or the runtime is not found, or no function was selected; -EPERM: uprobes
 * need root. Call it before other threads exist, as a signal could be delivered to one of them meanwhile. */
FATHOM_API_MT_UNSAFE int fathom_train_open(const struct fathom_train_options *options,
                                           const struct fathom_listener *listener,
                                           struct fathom_train **train, struct fathom_error *error);
FATHOM_API enum fathom_train_way
fathom_train_way(const struct fathom_train *train); /* the chosen way; never _AUTO */
/* Opens the events to sample, if any; after that FATHOM_TRAIN_UNWIND needs no rights. Starts a command with hooks, with the caller's signal
 * dispositions except for SIGPIPE. */
FATHOM_API int fathom_train_start(struct fathom_train *train, struct fathom_error *error);
/* Waits until the command or all processes have ended. */
FATHOM_API int fathom_train_run(struct fathom_train *train, struct fathom_error *error);
/* Ends the run soon, and the command. */
FATHOM_API_AS_SAFE void fathom_train_stop(struct fathom_train *train);
/* Makes the map and writes it. Returns 1 if it now has two builds of a file, of which the listener is told. -ENODATA, -ECHILD: nothing was
 * learned, and an existing map is unchanged. */
FATHOM_API int fathom_train_save(struct fathom_train *train, struct fathom_error *error);
/* The command's wait status; -1: it is still running, or there is no command. */
FATHOM_API int fathom_train_status(const struct fathom_train *train);
FATHOM_API void fathom_train_close(struct fathom_train *train); /* NULL is allowed */

#ifdef __cplusplus
}
#endif

#endif
