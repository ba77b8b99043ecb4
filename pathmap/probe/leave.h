/*
 * leave.h - leaves the program alone for good, making no system call that a seccomp filter may forbid.
 */
#ifndef FATHOM_PATHMAP_PROBE_LEAVE_H
#define FATHOM_PATHMAP_PROBE_LEAVE_H

#include <stdbool.h>

/* Whether the process is being trained. */
bool probe_works(void);
/* Removes the hooks and releases SIGTRAP; from then on the runtime makes no system call. */
void probe_leave(void);

#endif
