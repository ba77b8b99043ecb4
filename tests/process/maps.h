/*
 * maps.h - the mappings of a process that runs, as records.
 */
#ifndef FATHOM_TESTS_PROCESS_MAPS_H
#define FATHOM_TESTS_PROCESS_MAPS_H

#include "perfdata/record.h"

/* Passes each line of /proc/PID/maps on. Aborts when there are none, or the sink fails. */
void maps_read(uint32_t pid,
               int (*sink)(void *context, const struct record *record, struct fathom_error *err),
               void *context);
/* The end of the mapping that has the address; 0: none has it. */
uint64_t maps_end(uint32_t pid, uint64_t address);

#endif
