/* output.h - the output files of commands (base/outfile.h), which can be standard output. */
#ifndef FATHOM_CLI_OUTPUT_H
#define FATHOM_CLI_OUTPUT_H

#include "base/output.h"

/* Call it after opening an output: if that is standard output ("-"), all else that this process and a launched command print goes to
 * standard error from now on. Writing to a closed pipe fails instead of raising SIGPIPE. */
void output_alone(const char *path);
/* The same before libfathom opens it as a stream: returns a copy of standard output; -1: that is not the output. */
int output_divert(const char *path);
/* Opens an output, and calls output_alone(). */
int output_open(const char *path, struct outfile **out, struct fathom_error *err);

#endif
