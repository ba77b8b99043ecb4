/* record.h - the parts of `fathom record`: recording into a file (record.c), or directly for a report (record_report.c). */
#ifndef FATHOM_CLI_RECORD_H
#define FATHOM_CLI_RECORD_H

#include "cli/latency.h"

struct record_options {
    struct fathom_recorder_options recorder; /* first, as rows of options have offsets in either struct */
    struct latencies latencies;
    bool list_events;
    bool report; /* write no file */
    bool paths;  /* -g was given, which changes nothing */
};

/* --report: records into memory while learning, then prints a report. Returns the exit code. */
int record_and_report(struct record_options *options, struct terminal *terminal);

#endif
