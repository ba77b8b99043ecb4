/*
 * proc.h - reads /proc of another process (proc(5)). All of it may change or vanish at any time.
 */
#ifndef FATHOM_COLLECTOR_TARGETS_PROC_H
#define FATHOM_COLLECTOR_TARGETS_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

struct vma {
    uint64_t start, end; /* addresses */
    uint64_t offset;     /* in the file, bytes */
    uint64_t inode;
    uint32_t maj, min; /* of the file's device */
    uint32_t prot;     /* PROT_ bits */
    bool shared;
    const char *path; /* "" for anonymous memory; borrowed from the struct maps */
};

struct maps {
    struct vma *list; /* by address */
    size_t count;
    char *text; /* owned: the paths */
};

struct proc_stat {
    pid_t parent;
    uint64_t user, kernel; /* CPU time in ticks (sysconf(_SC_CLK_TCK) a second) */
    uint64_t started;      /* ticks since the machine started */
    uint64_t start_stack;  /* SP at the first instruction; 0 if not permitted, or for a zombie */
    char name[32];
};

/* How the process sees itself. */
struct proc_self {
    pid_t pid;      /* in its own PID namespace */
    uid_t user;     /* the user who owns the files that it makes */
    time_t started; /* wall clock, s; accurate to a tick, unless the clock was set since */
};
/* Whether a file was written since the process started: seconds of tolerance, as the start is in ticks, and
 * the clocks are not read at the same time. */
#define PROC_STARTED_SLACK 2
static inline bool proc_self_may_have_written(const struct proc_self *self, const struct stat *file)
{
    return S_ISREG(file->st_mode) && file->st_mtime + PROC_STARTED_SLACK >= self->started;
}
/* Whether it belongs to its user or root. */
static inline bool proc_self_trusts(const struct proc_self *self, const struct stat *file)
{
    return file->st_uid == self->user || file->st_uid == 0;
}

/* Each returns 0 or a negative errno: -ESRCH or -ENOENT if the process is gone. */
int proc_maps(pid_t pid, struct maps *maps);
/* Reads a copy of /proc/PID/maps, which may contain anything: its regions may overlap. */
int proc_maps_copy(const char *path, struct maps *maps);
void proc_maps_free(struct maps *maps);
const struct vma *proc_maps_find(const struct maps *maps, uint64_t address); /* NULL: none */
int proc_stat(pid_t pid, struct proc_stat *out);                   /* CPU time: of all its threads */
int proc_thread_stat(pid_t pid, pid_t tid, struct proc_stat *out); /* of this thread alone */
int proc_self(pid_t pid, struct proc_self *out);
/* A thread's name (comm). */
int proc_thread_name(pid_t pid, pid_t tid, char *name, size_t size);
/* The threads of a process; *tids is owned by the caller (free). */
int proc_threads(pid_t pid, pid_t **tids, size_t *count);
/* All processes of our PID namespace, including kernel threads; the caller frees *pids. */
int proc_everyone(pid_t **pids, size_t *count);
/* The process that a thread belongs to. */
int proc_thread_group(pid_t tid, pid_t *pid);
/* A thread that is off CPU: its system call and registers. */
struct proc_wait {
    int64_t call;   /* -1: in none */
    uint64_t first; /* its first argument */
    uint64_t sp, pc;
};
/* -EAGAIN: it is running. */
int proc_thread_waits(pid_t pid, pid_t tid, struct proc_wait *out);
/* Soft RLIMIT_STACK, bytes; 8 MiB if unlimited or unknown. */
uint64_t proc_stack_limit(pid_t pid);
/* Copies memory of the process; returns the number of bytes read (0: none), never an error. */
size_t proc_read_memory(pid_t pid, uint64_t address, void *to, size_t size);
/* The file name of the process's program; "" if unknown. */
void proc_program(pid_t pid, char *path, size_t size);

#endif
