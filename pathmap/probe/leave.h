/*
 * leave.h - leaves the program alone, for good: what it needs that a seccomp filter may forbid is not done.
 */
#ifndef FATHOM_PATHMAP_PROBE_LEAVE_H
#define FATHOM_PATHMAP_PROBE_LEAVE_H

#include <stdbool.h>

/* The process is being trained. */
bool probe_works(void);
/* Takes the hooks out and gives SIGTRAP back; from then on the runtime makes no system call. */
void probe_leave(void);

#endif
