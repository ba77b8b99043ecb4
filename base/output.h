/*
 * output.h - prints into output files (outfile.h), and protects input files from being replaced.
 */
#ifndef FATHOM_BASE_OUTPUT_H
#define FATHOM_BASE_OUTPUT_H

#include <stdio.h>

#include "base/outfile.h"

/* Creates the file, unless it is a stream, while we have the privileges for it. */
int output_begin(struct outfile *file, struct fathom_error *err);
/* Prints into a file that outfile_open() opened: begin, write to `out`, and end it with the result of that (0
 * or a negative errno, which is returned). The file is put in its place only when all of it was written. */
int output_print(struct outfile *file, FILE **out, struct fathom_error *err);
int output_printed(struct outfile *file, FILE *out, int rc, struct fathom_error *err);
/* Inputs must not be replaced. input: NULL, or "-" for standard input, is allowed. The first: whether an
 * existing file is the input; the second: whether the output would be the input, or a file in it if it is a
 * directory. */
bool output_names(const char *path, const char *input);
bool output_is(const struct outfile *output, const char *input);
/* Refuses an output that would replace the recording or the map being read: -EINVAL. */
int output_spares(const struct outfile *output, const char *recording, const char *map,
                  struct fathom_error *err);

#endif
