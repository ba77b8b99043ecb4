/*
 * record.h - the parts of `fathom record`: recording to a file (record.c), or straight to a report
 * (record_report.c).
 */
#ifndef FATHOM_CLI_RECORD_H
#define FATHOM_CLI_RECORD_H

#include "cli/latency.h"

struct record_options {
    struct fathom_recorder_options recorder; /* the first member, which rows of options rely on */
    struct latencies latencies;
    bool list_events;
    bool report; /* write no file */
    bool paths;  /* was asked for, needlessly */
};

/* --report: records to memory while learning, then prints a report. Returns the exit code. */
int record_and_report(struct record_options *options, struct terminal *terminal);

#endif
