/*
 * output.h - what is printed into output files (outfile.h), and what they must not replace.
 */
#ifndef FATHOM_BASE_OUTPUT_H
#define FATHOM_BASE_OUTPUT_H

#include <stdio.h>

#include "base/outfile.h"

/* Creates the file, while there are rights to, if it is one. */
int output_begin(struct outfile *file, struct fathom_error *err);
/* What is printed into a file that outfile_open() opened: begin, write to `out`, and end it with what came of
 * that (0 or a negative errno, which is returned). The file is in its place only when all of it was written. */
int output_print(struct outfile *file, FILE **out, struct fathom_error *err);
int output_printed(struct outfile *file, FILE *out, int rc, struct fathom_error *err);
/* What is read must not be replaced. input: NULL, or "-" for standard input, is allowed. Whether an
 * existing file is the input; and whether the output would be it, or a file of it if it is a directory. */
bool output_names(const char *path, const char *input);
bool output_is(const struct outfile *output, const char *input);
/* Refuses an output that would replace the recording or the map that are read: -EINVAL. */
int output_spares(const struct outfile *output, const char *recording, const char *map,
                  struct fathom_error *err);

#endif
