/*
 * launch.h - forks a command at once and executes it later, so that its events can be opened before its first
 * instruction.
 *
 * The child is traced (ptrace) only up to its exec: at that stop /proc shows its stack's base, even for a
 * program that runs for a millisecond. If tracing is not allowed, the command runs all the same. A
 * set-user-ID program run by an ordinary user gains no privileges while it is traced (execve(2)). Run by
 * root, it does, and the kernel removes all events from it (fs/exec.c, begin_new_exec): they are opened at
 * that stop.
 */
#ifndef FATHOM_COLLECTOR_TARGETS_LAUNCH_H
#define FATHOM_COLLECTOR_TARGETS_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct launch {
    pid_t pid;    /* 0: none */
    int go, told; /* ends of the pipes: our "go", the child's report. -1: closed */
    int pidfd;    /* readable when the command ends; -1: not supported by the kernel */
    int status;   /* wait status, -1 while it runs */
    bool started; /* executed */
    bool stopped; /* right after the exec */
    uint64_t user,
        /* CPU time of the command and the children that it waited for, once it has ended: ticks, as in struct
         * proc_stat */
        kernel;
    uint64_t base; /* startstack after the exec; 0: unknown */
    uint64_t low;  /* lowest address of that stack */
};

#define LAUNCH_NONE ((struct launch){.go = -1, .told = -1, .pidfd = -1, .status = -1})

/* argv is borrowed until launch_go(), and so is environment; NULL: this process's. */
int launch_fork(char *const *argv, char *const *environment, struct launch *launch, struct fathom_error *err);
/* Lets it exec and waits for that; it is then stopped, unless tracing is not allowed. A failed exec is an
 * error (-ENOENT, -EACCES, ...), and the child is gone. */
int launch_go(struct launch *launch, const char *name, struct fathom_error *err);
/* Lets it run, untraced. */
void launch_release(struct launch *launch);
/* Checks, without waiting, whether it has ended. */
void launch_check(struct launch *launch);
/* Closes everything; a command that was not started, or is still stopped, is ended. */
void launch_close(struct launch *launch);

#endif
