/* process_data.h - the internals of processes: process.c changes them, places.c and data.c read them. */
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
    bool warned_full;            /* warned about a process with too many mappings */
    unsigned warned_unread;      /* number of files warned about */
    struct code_cache code;      /* for all processes */
    struct code_cache after;     /* rows of process_cfi_after(); empty until it is first called */
    struct insn_reader *insns;   /* for these; NULL until then */
    struct kernel_layout kernel; /* of the recorded kernel */
    uint64_t last_state;         /* the last number assigned to a state; see struct process */
    struct programs *programs;
    struct process **unsettled; /* processes whose program is not settled yet */
    size_t unsettled_count, unsettled_capacity;
    struct table *cgroups;        /* ID -> number of its path in `names` */
    struct retired ended;         /* PIDs */
    struct retired ended_threads; /* PID << 32 | TID */
    uint64_t lost;                /* ns: when records were last lost; 0: never */
};

struct process {
    struct processes *all;
    uint32_t pid;
    const char *name;
    struct space *space;   /* executable mappings; never NULL */
    struct space *data;    /* other mappings; NULL: none was recorded */
    uint64_t state;        /* number of the space's state; each change assigns a new one, so it is unique */
    size_t last;           /* region of the last look-up: a hint, may be out of range */
    uint64_t unread_state; /* the state for which `unread` was determined; 0: none */
    bool unread;           /* process_has_unread() */
    struct stacks *stacks; /* threads' own; NULL: none known */
    struct stacks *shared; /* stacks that belong to no thread; NULL: none known */
    struct table *threads; /* TID -> number of its COMM in all->names; NULL: no thread has its own */
    struct table *births;  /* TID -> ns, for threads that started during the recording; NULL: none */
    uint64_t birth;        /* ns: start of the process, or its last exec; 0: before the recording */
    uint64_t ended;        /* its number when it ended (retired.h); 0: it runs */
    uint32_t held;
    bool left; /* its first thread has ended */
    struct program program;
    uint32_t parent; /* PID of what started it, until its program is settled; 0: unknown */
    /* process whose code it shares since it was forked, if it names none itself; 0: none */
    uint32_t code_pid;
    uint64_t code_birth; /* birth of that process */
    uint64_t time;       /* ns: of its present sample (process_at()) */
    /* ns: when code that it made is next replaced; 0: to be looked up; UINT64_MAX: never */
    uint64_t code_changes;
    const char *file; /* the first one mapped executable since its start; NULL: unknown */
    bool of_thread;   /* its first thread runs on a copy of a stack that clone started */
};

#endif
