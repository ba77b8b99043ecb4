/*
 * local_maps.h - names of code made at run time for a recording without any, e.g. by `perf record`: from /tmp/perf-PID.map on the
 * machine where it is read, as `perf report` does. The map may be that of another process that had the PID; there is no way to know.
 */
#ifndef FATHOM_API_REPORT_LOCAL_MAPS_H
#define FATHOM_API_REPORT_LOCAL_MAPS_H

#include "perfdata/reader.h"

#define LOCAL_MAPS_BYTES (UINT64_C(64) << 20) /* of a file; larger ones are not read */

/* Gives the reader the names of such code; does nothing for recordings by fathom record, which have the names. A map is read if it is a
 * regular file of this user or of root. If there is any map, it makes a pass over the records. Errors of reader_run(). */
int local_maps_read(struct reader *reader, const struct log *log, struct fathom_error *err);

#endif
