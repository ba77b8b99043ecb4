/*
 * local_maps.h - the names of code made at run time for a recording that has none itself, as one by `perf record`: from the /tmp/perf-PID.map of the
 * machine where it is read, as `perf report` does. It may be of another process that had the PID, which nothing tells.
 */
#ifndef FATHOM_API_REPORT_LOCAL_MAPS_H
#define FATHOM_API_REPORT_LOCAL_MAPS_H

#include "perfdata/reader.h"

#define LOCAL_MAPS_BYTES (UINT64_C(64) << 20) /* of a file; of a longer one nothing is read */

/* Gives the reader the names of its processes with such code; recordings of ours have theirs, or none. A map is read if it is a regular file of this user's or
 * root's. Needs a pass over the records, if there is any map. Errors of reader_run(). */
int local_maps_read(struct reader *reader, const struct log *log, struct fathom_error *err);

#endif
