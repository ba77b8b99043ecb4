/*
 * near.h - the names of events that resemble a name that is none: software events, libpfm4's events of the
 * CPUs here, and for "SYSTEM:NAME" the kernel's tracepoints.
 */
#ifndef FATHOM_COLLECTOR_NEAR_H
#define FATHOM_COLLECTOR_NEAR_H

#include <stddef.h>

/* The least number of characters to add, take away, change, or swap with their neighbour that makes one name
 * of the other; upper and lower case are the same, and so are '-' and '_'. `most` + 1: more than `most`. */
unsigned near_distance(const char *a, const char *b, unsigned most);

/* Writes the nearest names, three at most, as "'a', 'b' or 'c'". Returns how many; 0: nothing is near, and
 * out is "". */
size_t near_names(const char *name, char *out, size_t size);

#endif
