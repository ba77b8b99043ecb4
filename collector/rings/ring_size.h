/*
 * ring_size.h - how large a ring the events need, and may have.
 */
#ifndef FATHOM_COLLECTOR_RINGS_RING_SIZE_H
#define FATHOM_COLLECTOR_RINGS_RING_SIZE_H

#include "perfdata/record.h"

/* Bytes of each CPU's ring: a power of two of pages. The main event comes first. */
size_t ring_size(const struct event *events, size_t count, size_t cpus);

#endif
