/*
 * near.h - suggests event names that resemble one that does not exist: aliases, software events, libpfm4's events of this
 * machine's CPUs, and for "SYSTEM:NAME" the kernel's tracepoints.
 */
#ifndef FATHOM_COLLECTOR_EVENTS_NEAR_H
#define FATHOM_COLLECTOR_EVENTS_NEAR_H

#include <stddef.h>

/* Writes the nearest names, at most three, as "'a', 'b' or 'c'". Returns how many there are; 0: none, and out
 * is "". */
size_t near_names(const char *name, char *out, size_t size);

#endif
