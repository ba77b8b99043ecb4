/*
 * hcct_replay.h - counters over a call trace: `fathom hcct replay`.
 */
#ifndef FATHOM_CLI_HCCT_REPLAY_H
#define FATHOM_CLI_HCCT_REPLAY_H

#include "cli/terminal.h"
#include "hcct/hcct.h"
#include "base/error.h"

struct counters_options {
    bool counters[HCCT_KINDS]; /* which to run; none: all */
    double phi, eps, delta;    /* eps 0: phi / 5 */
    bool by_function;          /* contexts of functions; else of functions and their call sites */
    bool ticks;                /* weights are ticks; else each call weighs 1 */
    uint64_t runs;             /* of which the fastest is told */
    uint64_t paths;            /* contexts to print for each counter */
};

/* Prints the table. 0 or -ENOMEM and so on. */
int hcct_replay_print(const char *path, const struct counters_options *options, struct fathom_error *err);

#endif
