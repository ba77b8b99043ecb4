/*
 * event_name.h - parses an event's name: which counter, and its modifiers.
 *
 * Tried in this order: aliases (alias.h); terms of sysfs, "PMU/TERM=VALUE/"; libpfm4's names; perf's names of software
 * events that libpfm4 does not have; "mem:ADDR"; tracepoints "SYSTEM:NAME" (those of kprobes and uprobes too).
 */
#ifndef FATHOM_COLLECTOR_EVENTS_EVENT_NAME_H
#define FATHOM_COLLECTOR_EVENTS_EVENT_NAME_H

#include <stdint.h>

#include "base/error.h"
#include "collector/events/alias.h"

struct event_name {
    char text[128];             /* without modifiers */
    bool in_kernel;             /* fires in kernel mode: the user registers must be sampled instead */
    unsigned precise;           /* number of p modifiers; of an alias without: its own */
    uint64_t period, frequency; /* given by the name itself (libpfm4's ":period="); 0: not given */
    struct alias_match alias;   /* alias.alias is NULL if the name is not an alias */
    size_t kinds;               /* number of attrs; 0: an alias without an event on this CPU */
};

/* Fills *name and, of one attr for each kind of core, type, config, config1, config2 and the breakpoint fields. Errors:
 * -ENOENT, -EINVAL. */
int event_name_parse(const struct pmus *pmus, const char *text, struct event_name *name,
                     struct perf_event_attr attrs[ALIAS_EVENTS], struct fathom_error *err);

#endif
