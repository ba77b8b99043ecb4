/*
 * tries.h - what the kernel lets this process do, found by trying: events are opened for this process without being
 * started, the BPF program is loaded and freed, files are opened and closed. Nothing stays.
 */
#ifndef FATHOM_COLLECTOR_CAPABILITY_TRIES_H
#define FATHOM_COLLECTOR_CAPABILITY_TRIES_H

#include <sys/types.h>

#include "base/error.h"
#include "perfdata/record.h"

struct tries {     /* each 0, or a negative errno */
    int user;      /* a clock in user mode */
    int registers; /* the same with the registers at the interrupt, which PEBS needs */
    int kernel;    /* a clock in both modes */
    int by_cpu;    /* a clock of a CPU, for all processes */
    int hardware;  /* cycles in user mode */
    /* the kernel can convert the TSC, which is the time in PEBS records, to its clock; -ENOTSUP: it uses
     * another clock, or the TSC is unstable */
    int tsc;
    int program; /* the BPF program that compares stacks */
    struct fathom_error program_error;
    int tracefs; /* formats of tracepoints */
    int uprobes; /* tracefs's file to create uprobes */
};

void tries_run(struct tries *out);
/* Whether a thread may be recorded: 0, or a negative errno with what `fathom record` says. */
int tries_thread(pid_t tid, struct fathom_error *err);
/* A precise event with a fixed period as `fathom record -e cycles:pp -c N` asks for it, for pebs_refusal(). */
int tries_precise(struct event *out, struct fathom_error *err);

#endif
