/*
 * leave.h - leaves the program alone for good, making no system call that a seccomp filter may forbid: a filter can kill the process for
 * one that the runtime needs.
 */
#ifndef FATHOM_PATHMAP_PROBE_LEAVE_H
#define FATHOM_PATHMAP_PROBE_LEAVE_H

#include <stdbool.h>
#include <stdint.h>

/* Whether the process is being trained. */
bool probe_works(void);
/* Removes the hooks and releases SIGTRAP; from then on the runtime makes no system call. */
void probe_leave(void);
/* The number of seccomp filters that this process runs under; 0 if unknown. Makes only system calls that the loader
 * has just made: openat, read, close. */
uint32_t filters_count(void);

#endif
