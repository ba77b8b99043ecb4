/*
 * event_name.h - parses an event's name: which counter, and its modifiers.
 *
 * Tried in this order: libpfm4's names; perf's names of software events that libpfm4 does not have;
 * "mem:ADDR"; tracepoints "SYSTEM:NAME" (those of kprobes and uprobes too).
 */
#ifndef FATHOM_COLLECTOR_EVENTS_EVENT_NAME_H
#define FATHOM_COLLECTOR_EVENTS_EVENT_NAME_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct event_name {
    char text[128];             /* without modifiers */
    bool in_kernel;             /* fires in kernel mode: the user registers must be sampled instead */
    unsigned precise;           /* number of p modifiers */
    uint64_t period, frequency; /* given by the name itself (libpfm4's ":period="); 0: not given */
};

/* Fills *name and, of *attr, type, config, config1, config2 and the breakpoint fields. Errors: -ENOENT,
 * -EINVAL. */
int event_name_parse(const char *text, struct event_name *name, struct perf_event_attr *attr,
                     struct fathom_error *err);

#endif
