/*
 * series.h - the names of the files of a recording that goes on in another one now and then: that of its output, with the time
 * in UTC at which the file was begun, as "perf.data.20261127T190530Z", and with a number where that is taken already.
 */
#ifndef FATHOM_API_RECORD_SERIES_H
#define FATHOM_API_RECORD_SERIES_H

#include <stddef.h>

#include "base/log.h"
#include "base/outfile.h"

struct series;

/* kept: files at a time, the one that is being written among them; 0: all. output and log: borrowed. NULL: out of memory. */
struct series *series_new(const char *output, size_t kept, const struct log *log);
void series_free(struct series *series); /* NULL is allowed */
/* The next file. Errors as of outfile_open(). */
int series_next(struct series *series, struct outfile **out, struct fathom_error *err);
/* The file that series_next() gave last will not be written. */
void series_drop(struct series *series);
/* All files but the last one are complete: the oldest ones that are too many are removed. A failure is a warning. */
void series_trim(struct series *series);

#endif
