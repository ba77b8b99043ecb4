/*
 * series.h - names the files of a recording that is divided into parts: the output's name with the start time in UTC,
 * "perf.data.20261127T190530Z", and with a number if that name is taken.
 */
#ifndef FATHOM_API_RECORD_SERIES_H
#define FATHOM_API_RECORD_SERIES_H

#include <stddef.h>

#include "base/log.h"
#include "base/outfile.h"

struct series;

/* kept: number of files to keep, including the current one; 0: all. output and log: borrowed. NULL: out of memory. */
struct series *series_new(const char *output, size_t kept, const struct log *log);
void series_free(struct series *series); /* NULL is allowed */
/* Opens the next file. Errors as outfile_open(). */
int series_next(struct series *series, struct outfile **out, struct fathom_error *err);
/* Forgets the last file of series_next(), which will not be written. */
void series_drop(struct series *series);
/* Removes the oldest files if there are too many; all but the last one must be complete. A failure is only a warning. */
void series_trim(struct series *series);

#endif
