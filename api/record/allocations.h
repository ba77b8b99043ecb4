/*
 * allocations.h - how allocations are recorded: a command's by the runtime that samples them (heap/), and its events; those of processes that run by probes of
 * their allocators' functions.
 */
#ifndef FATHOM_API_RECORD_ALLOCATIONS_H
#define FATHOM_API_RECORD_ALLOCATIONS_H

#include "api/fathom/record.h"
#include "collector/collector.h"

struct allocations;

/* *out NULL: the options ask for none. -EINVAL: all processes are to be recorded, or what is recorded with them cannot be; errors of runtime_find(). */
int allocations_new(const struct fathom_recorder_options *options, struct allocations **out,
                    struct fathom_error *err);
void allocations_free(struct allocations *allocations); /* NULL is allowed */
/* The collector's, with the events and the command's environment, which are borrowed. NULL: as they are. */
void allocations_use(const struct allocations *allocations, struct collector_options *collect);

#endif
