/* tracing.h - what is behind struct fathom_trace: shared by the run and by the runs that choose its rate. */
#ifndef FATHOM_API_TRACE_TRACING_H
#define FATHOM_API_TRACE_TRACING_H

#include <stdatomic.h>
#include <sys/types.h>

#include "api/fathom-streams.h"
#include "api/host.h"
#include "api/trace/in_place.h"
#include "image/elf/program.h"

struct fathom_trace {
    struct fathom_trace_options options;
    struct host host;
    char *directory; /* absolute */
    char library[4096];
    struct program program;
    struct in_place *files; /* the strings are owned */
    size_t count, capacity;
    bool in_place; /* else the duplicated program is executed where it is */
    pid_t pid;
    int status;
    double seconds; /* of CPU time in user mode, of the command and what it waited for */
    atomic_bool stop;
};

/* Starts the command with these rates, its traces in that directory. quiet: what it prints goes nowhere. */
int tracing_start(struct fathom_trace *trace, const char *directory, bool quiet, struct fathom_error *err);

#endif
