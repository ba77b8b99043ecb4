/* tracing.h - struct fathom_trace, shared by the run and by the runs that choose its rate. */
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
    bool in_place; /* the duplicated files replace the originals; else the duplicated program is executed */
    pid_t pid;
    int status;
    double seconds; /* CPU time in user mode of the command and the children that it waited for */
    atomic_bool stop;
};

/* Starts the command with the rates of the options, writing traces into the directory. quiet: discards its output. */
int tracing_start(struct fathom_trace *trace, const char *directory, bool quiet, struct fathom_error *err);

#endif
