/*
 * allocations.h - records allocations: of a command by the runtime that samples them (heap/) and its events; of running processes by probes
 * of their allocators' functions.
 */
#ifndef FATHOM_API_RECORD_ALLOCATIONS_H
#define FATHOM_API_RECORD_ALLOCATIONS_H

#include "api/fathom/record.h"
#include "collector/collector.h"

struct allocations;

/* *out is NULL if the options do not ask for allocations. -EINVAL: all processes are to be recorded, or another option excludes
 * allocations; errors of runtime_find(). */
int allocations_new(const struct fathom_recorder_options *options, struct allocations **out,
                    struct fathom_error *err);
void allocations_free(struct allocations *allocations); /* NULL is allowed */
/* Adds the events and the command's environment, both borrowed, to the collector's options. NULL: does nothing. */
void allocations_use(const struct allocations *allocations, struct collector_options *collect);

#endif
