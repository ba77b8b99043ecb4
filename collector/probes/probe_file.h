/* probe_file.h - finds the file that a probe names. */
#ifndef FATHOM_COLLECTOR_PROBES_PROBE_FILE_H
#define FATHOM_COLLECTOR_PROBES_PROBE_FILE_H

#include <limits.h>
#include <stddef.h>
#include <sys/types.h>

/* A path: as the first of the processes sees it that has such a file, or else as it is. A name: of what a process has mapped, else of a program in PATH,
 * else of a library; "libc" stands for libc.so, or else libc.so.N, too. -ENOENT: there is none. */
int probe_file_find(const char *name, const pid_t *pids, size_t pid_count, char out[PATH_MAX]);

#endif
