/* record.h - the parts of `fathom record`: recording into a file (record.c), or directly for a report (record_report.c). */
#ifndef FATHOM_CLI_RECORD_H
#define FATHOM_CLI_RECORD_H

#include "cli/terminal.h"

/* --report: records into memory while learning, then prints a report. Returns the exit code. */
int record_and_report(const struct fathom_recorder_options *options, struct terminal *terminal);

#endif
