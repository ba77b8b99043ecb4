/*
 * hcct_replay.h - counters over a call trace: `fathom hcct replay`.
 */
#ifndef FATHOM_CLI_HCCT_REPLAY_H
#define FATHOM_CLI_HCCT_REPLAY_H

#include "cli/terminal.h"
#include "hcct/hcct.h"
#include "hcct/trace.h"

struct counters_options {
    bool counters[HCCT_KINDS]; /* which to run; none: all */
    double phi, eps, delta;    /* eps 0: phi / 5 */
    bool by_function;          /* contexts of functions; else of functions and their call sites */
    bool ticks;                /* weights are ticks; else each call weighs 1 */
    uint64_t runs;             /* of which the fastest is told */
    uint64_t paths;            /* contexts to print for each counter */
};

/* The events of a trace as hcct_feed() takes them, in place: functions or places. */
void counters_number(struct trace *trace, bool by_function);
/* Runs one counter over all events; NULL: out of memory or options out of range. *seconds: CPU time. */
struct hcct *counters_run(const struct trace *trace, const struct counters_options *options,
                          enum hcct_kind kind, double *seconds);
/* Prints the table. 0 or -ENOMEM and so on. */
int counters_print(const char *path, const struct counters_options *options, struct fathom_error *err);

#endif
