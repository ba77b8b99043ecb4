/*
 * record.h - the parts of `fathom record`: recording to a file (record.c), or straight to a report
 * (record_report.c).
 */
#ifndef FATHOM_CLI_RECORD_H
#define FATHOM_CLI_RECORD_H

#include "cli/target.h"

#define AUDIT_DEFAULT UINT64_MAX

struct record_options {
    struct fathom_target target;
    const char *output; /* NULL: not given */
    uint64_t audit_hz;  /* AUDIT_DEFAULT: not given */
    uint64_t audit_stack;
    uint64_t ring_kib; /* 0: chosen by the collector */
    enum collector_scope scope;
    bool passive;    /* precise events in batches, without a look at their stacks */
    const char *map; /* what such a report will take; NULL: none */
    bool kernel;     /* samples in the kernel too */
    bool data, list_events;
    bool report;        /* write no file */
    bool stack_samples; /* stacks for other tools */
    bool paths;         /* was asked for, needlessly */
    bool no_cache;      /* keep nothing for later recordings */
};

/* Sets the collector's options; they borrow from `options` and `terminal`. */
void record_collector(const struct record_options *options, struct terminal *terminal,
                      struct collector_options *out);
/* Warns about what was not recorded. Returns whether that is everything. */
bool record_say_losses(const struct collector *collector, struct terminal *terminal);
/* --report: records to memory while learning, then prints a report. command: as given by the user, for the
 * heading. Returns the exit code. */
int record_and_report(const struct record_options *options, const char *command, struct terminal *terminal);

#endif
