/*
 * synth.h - writes the records that the kernel would have written for a process had we recorded it from its
 * start: names, parents, threads and mappings (as tools/perf/util/synthetic-events.c does).
 */
#ifndef FATHOM_COLLECTOR_TARGETS_SYNTH_H
#define FATHOM_COLLECTOR_TARGETS_SYNTH_H

#include "collector/targets/sideband.h"

enum synth_mappings {
    SYNTH_CODE,  /* executable ones */
    SYNTH_FILES, /* of files */
    SYNTH_ALL,   /* of data without a file, too */
};

/* -ESRCH: the process is gone. Parts that may not be read are left out. */
int synth_process(pid_t pid, enum synth_mappings which, const struct sideband *to, struct fathom_error *err);

#endif
