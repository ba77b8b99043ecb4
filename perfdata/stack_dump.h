/*
 * stack_dump.h - shortens the stack dump of a sample in its record (perf_event_open(2), STACK_USER: a
 * size field, the dump, and dyn_size, which counts the dump's valid bytes).
 */
#ifndef FATHOM_PERFDATA_STACK_DUMP_H
#define FATHOM_PERFDATA_STACK_DUMP_H

#include "perfdata/sample.h"

/* Trims the dump of a record in place to `valid` bytes (at most sample->stack_size), padded to 8; returns the
 * record's new size. sample: decoded from this record or the one that it is a copy of; it has a dump
 * (stack_capacity is not 0). */
size_t stack_dump_trim(void *record, size_t size, const struct sample *sample, uint64_t valid);

#endif
