/*
 * fields.h - the fields of tracepoints: a filter of what is sampled by them (Documentation/trace/events.rst, "Event filtering"), and one that is what a
 * sample weighs (perfdata/weight_field.h).
 */
#ifndef FATHOM_COLLECTOR_EVENTS_FIELDS_H
#define FATHOM_COLLECTOR_EVENTS_FIELDS_H

#include "perfdata/record.h"
#include "perfdata/weight_field.h"

/* Finds a field of one number in the text of a tracepoint's format. size 0: there is none. */
struct weight_field fields_find(const char *format, const char *name);
/* Sets the filter and the field, each NULL or of all tracepoints among the events, which must all have them. The field stands in the event's name
 * behind a slash: "syscalls:sys_exit_read/ret/". filter: borrowed by the events. -EINVAL: none is a tracepoint, or a field is not there (the message
 * names those that are). */
int fields_use(struct event *events, size_t count, const char *filter, const char *weight,
               struct fathom_error *err);
/* Whether a tracepoint is a probe, of the kernel or a program (kernel/trace/trace_probe.h). */
bool fields_of_probe(const struct event *event);
/* Lets the kernel filter what this descriptor samples, if the event has a filter. -EINVAL: not one that it understands. */
int fields_filter(const struct event *event, int fd, struct fathom_error *err);

#endif
