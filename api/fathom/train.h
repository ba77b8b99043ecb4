/*
 * train.h - learns a program's call paths into a path map, on every call or from samples; and what all that runs commands with
 * hooks shares.
 *
 * Hooks are patched into the memory of a command and of the processes that it starts, by a runtime that is loaded into them
 * (libfathom-probe.so). It is looked for beside libfathom, and where it is installed, unless the caller names it. The directory of
 * a run, below $TMPDIR or /var/tmp, is removed by a child process however this process ends. What other runs that were killed left there is recovered
 * when one begins.
 */
#ifndef FATHOM_TRAIN_H
#define FATHOM_TRAIN_H

#include "target.h"

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

/* All pointers are borrowed until fathom_train_close(). */
struct fathom_train_options {
    /* The command; of FATHOM_TRAIN_UNWIND, or _AUTO, also what runs, and the event. stack_bytes: of each sample, 64 at least. */
    struct fathom_target target;
    const char *output; /* the map; "-": standard output */
    bool append;        /* add to the map that is there */
    enum fathom_train_way way;
    const char *const *images; /* only files whose names start with one of these have hooks; */
    size_t image_count;        /* 0: all but the C library and the loader */
    uint64_t samples;          /* of FATHOM_TRAIN_PATCH: stacks per second beside the hooks; 0: none */
    const char *runtime;       /* as in fathom_runtime_find() */
    FATHOM_RESERVED;
};

struct fathom_train;

/* Opens the output and the map that it is added to, chooses the way, which the listener is told, and makes ready. Errors: of both
 * files; -ENOTSUP: that map is too old to be added to; -ENOENT: the command or the runtime is not found, or no function was
 * chosen; -EPERM: uprobes need root. To be called before other threads exist, which a signal could reach meanwhile. */
FATHOM_API_MT_UNSAFE int fathom_train_open(const struct fathom_train_options *options,
                                           const struct fathom_listener *listener,
                                           struct fathom_train **train, struct fathom_error *error);
FATHOM_API enum fathom_train_way
fathom_train_way(const struct fathom_train *train); /* what it is; never _AUTO */
/* Opens what is sampled, if anything is: no rights are needed behind it by FATHOM_TRAIN_UNWIND. A command with hooks runs from now on,
 * with the caller's signal dispositions but for SIGPIPE. */
FATHOM_API int fathom_train_start(struct fathom_train *train, struct fathom_error *error);
/* Waits for the end of what is trained. */
FATHOM_API int fathom_train_run(struct fathom_train *train, struct fathom_error *error);
/* Ends that soon, and the command. */
FATHOM_API_AS_SAFE void fathom_train_stop(struct fathom_train *train);
/* Makes the map and writes it. 1: it has two builds of a file now, of which the listener is told. -ENODATA, -ECHILD: nothing was
 * learned, and a map that is there stays. */
FATHOM_API int fathom_train_save(struct fathom_train *train, struct fathom_error *error);
/* The command's wait status; -1: it is still running, or there is none. */
FATHOM_API int fathom_train_status(const struct fathom_train *train);
FATHOM_API void fathom_train_close(struct fathom_train *train); /* NULL is allowed */

#ifdef __cplusplus
}
#endif

#endif
