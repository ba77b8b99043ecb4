/*
 * output.h - the files that commands write (base/outfile.h), and standard output as one of them.
 */
#ifndef FATHOM_CLI_OUTPUT_H
#define FATHOM_CLI_OUTPUT_H

#include "base/outfile.h"

/* Opens a command's output. Where it is standard output ("-"), what this process and the command that it
 * launches print goes to standard error from now on. A reader that goes away is a failed write, not a
 * signal. */
int output_open(const char *path, struct outfile **out, struct fathom_error *err);

#endif
