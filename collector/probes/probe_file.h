/* probe_file.h - finds the file that a probe names. */
#ifndef FATHOM_COLLECTOR_PROBES_PROBE_FILE_H
#define FATHOM_COLLECTOR_PROBES_PROBE_FILE_H

#include <limits.h>
#include <stddef.h>
#include <sys/types.h>

/* A path is resolved as seen by the first process that has such a file, or else as is. A name is looked up
 * among the files mapped by the processes, else programs in PATH, else libraries; "libc" also matches
 * libc.so, or else libc.so.N. -ENOENT: there is none. */
int probe_file_find(const char *name, const pid_t *pids, size_t pid_count, char out[PATH_MAX]);

#endif
