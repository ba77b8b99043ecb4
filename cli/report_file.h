/* report_file.h - a report of a file from its options: what all commands that print one recording have in common. */
#ifndef FATHOM_CLI_REPORT_FILE_H
#define FATHOM_CLI_REPORT_FILE_H

#include "cli/reporting.h"

/* Infers and prints it; errors and notes go to the terminal. Returns the exit code. */
int reporting_file(const struct report_options *options, struct terminal *terminal);

#endif
