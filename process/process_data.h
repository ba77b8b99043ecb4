/* process_data.h - the internals of processes, for process.c, which changes them, places.c and data.c. */
#ifndef FATHOM_PROCESS_PROCESS_DATA_H
#define FATHOM_PROCESS_PROCESS_DATA_H

#include "base/hash.h"
#include "base/retired.h"
#include "process/code_cache.h"
#include "process/process.h"
#include "process/programs.h"
#include "process/space.h"
#include "process/stacks.h"

struct insn_reader; /* image/code/insn.h */

struct processes {
    struct image_cache *images;  /* borrowed */
    const struct log *log;       /* borrowed */
    struct table *by_pid;        /* -> struct process * */
    struct process *last;        /* the last one looked up, or NULL */
    struct names *names;         /* paths and COMMs */
    bool told_full;              /* warned that a process has too many mappings */
    unsigned told_unread;        /* files that it was warned of */
    struct code_cache code;      /* of all processes */
    struct code_cache after;     /* rows of process_cfi_after(); empty until it is called */
    struct insn_reader *insns;   /* likewise; NULL */
    struct kernel_layout kernel; /* of the recorded kernel */
    uint64_t last_state;         /* the last number assigned; see struct process */
    struct programs *programs;
    struct process **untold; /* whose program has to be settled */
    size_t untold_count, untold_capacity;
    struct table *cgroups;        /* ID -> number of its path in `names` */
    struct retired ended;         /* PIDs */
    struct retired ended_threads; /* PID << 32 | TID */
    uint64_t lost;                /* when records were lost last, ns; 0: never */
};

struct process {
    struct processes *all;
    uint32_t pid;
    const char *name;
    struct space *space;   /* of code; never NULL */
    struct space *data;    /* of other memory; NULL: none was recorded */
    uint64_t state;        /* number of the space's state; each change assigns a new one, so it is unique */
    size_t last;           /* region hit last: a hint, may be out of range */
    uint64_t unread_state; /* the state for which `unread` was determined; 0: none */
    bool unread;           /* process_has_unread() */
    struct stacks *stacks; /* the threads' own; NULL: none known */
    struct stacks *shared; /* those of no thread; NULL: none known */
    struct table *threads; /* TID -> number of its COMM in all->names; NULL: no thread has its own */
    struct table *births;  /* TID -> ns, for threads that started while recorded; NULL: none */
    uint64_t birth;        /* ns, of the process or of its last exec; 0: before the recording */
    uint64_t ended;        /* number of its end (retired.h); 0: it runs */
    uint32_t held;
    bool left; /* its first thread has ended */
    struct program program;
    uint32_t parent;     /* while its program is untold: the PID of what started it; 0: unknown */
    uint32_t code_pid;   /* whose code it has, since it was forked, if it tells of none itself; 0: nobody's */
    uint64_t code_birth; /* that one's */
    uint64_t time;       /* ns, of the sample that it is at (process_at()) */
    uint64_t
        code_changes; /* when code that it made is replaced next, ns; 0: to be looked up; UINT64_MAX: never */
    const char *file; /* the first one that it mapped to be executed since its start; NULL: none was told */
    bool of_thread;   /* its first thread runs on a copy of the stack of a thread created by clone */
};

#endif
