/*
 * call_trace.h - records a call trace (hcct/trace.h) of a command.
 */
#ifndef FATHOM_CLI_CALL_TRACE_H
#define FATHOM_CLI_CALL_TRACE_H

#include "base/outfile.h"
#include "cli/terminal.h"

struct call_trace_options {
    char *const *command;
    struct outfile *out;      /* the trace; borrowed */
    const char *const *names; /* of images to hook, as in struct session_options */
    size_t name_count;
};

/* Runs the command under the probe runtime and writes the trace of its calls. Returns an exit code. */
int call_trace_record(const struct call_trace_options *options, struct terminal *terminal);

#endif
