/*
 * process_facts.h - what a recorder would find out about a running process now: whether it may be recorded,
 * and whether its stack bases are found.
 */
#ifndef FATHOM_COLLECTOR_CAPABILITY_PROCESS_FACTS_H
#define FATHOM_COLLECTOR_CAPABILITY_PROCESS_FACTS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

struct process_facts {
    char program[4096]; /* file of the running program; "" if unknown */
    bool kernel;        /* a thread of the kernel, which has none */
    int allowed;        /* 0, or a negative errno with the reason in `refusal` */
    struct fathom_error refusal;
    unsigned threads,
        located;      /* number of threads, and of those with a stack base known before their first sample */
    bool start_stack; /* the kernel shows where the first stack begins */
    bool memory;      /* its memory can be read */
};

/* -ESRCH: there is no such process. */
int process_facts_read(pid_t pid, struct process_facts *out, struct fathom_error *err);

#endif
