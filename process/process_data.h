/* process_data.h - what processes are made of, for process.c, which changes them, and places.c. */
#ifndef FATHOM_PROCESS_PROCESS_DATA_H
#define FATHOM_PROCESS_PROCESS_DATA_H

#include "base/hash.h"
#include "process/code_cache.h"
#include "process/process.h"
#include "process/space.h"
#include "process/stacks.h"

struct processes {
    struct image_cache *images; /* borrowed */
    const struct log *log;      /* borrowed */
    struct table *by_pid;       /* -> struct process * */
    struct process *last;       /* the one that was asked for last, or NULL */
    struct names *names;        /* paths and COMMs */
    bool told_full;             /* that a process has too many mappings */
    struct code_cache code;     /* of all processes */
    uint64_t last_state;        /* the number that was given last; see struct process */
};

struct process {
    struct processes *all;
    uint32_t pid;
    const char *name;
    struct space *space;   /* never NULL */
    uint64_t state;        /* number of what the space maps; a change brings a new one, so none comes twice */
    size_t last;           /* region that was hit last: a hint, may be out of range */
    uint64_t unread_state; /* the state for which `unread` was told; 0: none */
    bool unread;           /* process_has_unread() */
    struct stacks *stacks; /* the threads' own; NULL: none are known */
    struct stacks *shared; /* those of no thread; NULL: none are known */
    struct table *threads; /* TID -> number of its COMM in all->names; NULL: none has one of its own */
    struct table *births;  /* TID -> ns, of threads that began while it was recorded; NULL: none did */
    uint64_t birth;        /* ns, of the process or of its last exec */
    bool of_thread;        /* its first thread runs on a copy of another one's stack that began by clone */
};

#endif
