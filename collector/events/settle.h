/*
 * settle.h - adapts events to what this kernel accepts.
 */
#ifndef FATHOM_COLLECTOR_EVENTS_SETTLE_H
#define FATHOM_COLLECTOR_EVENTS_SETTLE_H

#include "base/log.h"
#include "perfdata/record.h"

/* Clears attr fields that this kernel does not know: build-ids in MMAP2 (5.12), counts of lost records (6.0),
 * exclude_guest on some PMUs; and replaces registers that it refuses. */
void settle_attrs(struct event *events, size_t count, const struct log *log);

#endif
