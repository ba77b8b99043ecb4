/*
 * fields.h - the fields of tracepoints: a filter that limits what is sampled (Documentation/trace/events.rst,
 * "Event filtering"), and a field to use as a sample's weight (perfdata/weight_field.h).
 */
#ifndef FATHOM_COLLECTOR_EVENTS_FIELDS_H
#define FATHOM_COLLECTOR_EVENTS_FIELDS_H

#include "perfdata/record.h"
#include "perfdata/weight_field.h"

/* Finds a field with one number in a tracepoint's format. size 0: there is none. */
struct weight_field fields_find(const char *format, const char *name);
/* Sets the filter and the weight field (either may be NULL) of all tracepoints among the events, which must
 * all have these fields. The weight field is appended to the event's name with a slash:
 * "syscalls:sys_exit_read/ret/". filter: borrowed by the events. -EINVAL: none is a tracepoint, or a field
 * does not exist (the message lists those that do). */
int fields_use(struct event *events, size_t count, const char *filter, const char *weight,
               struct fathom_error *err);
/* Whether a tracepoint is a kprobe or uprobe (kernel/trace/trace_probe.h). */
bool fields_of_probe(const struct event *event);
/* Lets the kernel filter the samples of this descriptor, if the event has a filter. -EINVAL: the kernel
 * rejects the filter. */
int fields_filter(const struct event *event, int fd, struct fathom_error *err);

#endif
