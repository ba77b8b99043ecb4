/*
 * output.h - the output files of commands (base/outfile.h), which can be standard output.
 */
#ifndef FATHOM_CLI_OUTPUT_H
#define FATHOM_CLI_OUTPUT_H

#include "base/output.h"

/* Of an output that was opened: if it is standard output ("-"), everything else that this process and the command
 * it launches print goes to standard error from now on. A closed pipe is a failed write, not SIGPIPE. */
void output_alone(const char *path);
/* The same before libfathom opens it as a stream: returns a copy of what standard output was; -1: it is not the output. */
int output_divert(const char *path);
/* Opens one, and that. */
int output_open(const char *path, struct outfile **out, struct fathom_error *err);

#endif
