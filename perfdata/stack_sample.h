/*
 * stack_sample.h - turns a stack record (stack_record.h) that carries a stack, and its sample, into a sample of an event
 * "new-stacks" that other tools can unwind: the user's registers and the stack are where perf_event_open(2) has them
 * (REGS_USER, STACK_USER). The rest of the record stays in its raw data, so that announced.h treats it like the stack record
 * that it was.
 */
#ifndef FATHOM_PERFDATA_STACK_SAMPLE_H
#define FATHOM_PERFDATA_STACK_SAMPLE_H

#include "perfdata/record.h"

#define STACK_SAMPLE_MAX 65528 /* bytes of a record at most */

/* The event's declaration in a file. stacks: the event of the stack records. id: its ID; borrowed by *out. */
void stack_sample_event(const struct event *stacks, uint64_t *id, struct event *out);
/* Whether an attr is that of such an event: an unfinished file has no names. */
bool stack_sample_is(const struct perf_event_attr *attr);
/* Writes the sample to `out` (STACK_SAMPLE_MAX bytes) and returns its size. 0: the stack record is damaged or has no
 * stack, or it is not about this sample. */
size_t stack_sample_make(const struct sample *stack, const struct sample *sample, uint64_t id, uint8_t *out);

#endif
