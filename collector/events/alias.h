/*
 * alias.h - names for what most users want to count, and the event that counts it on this CPU: from libpfm4;
 * from sysfs for AMD (IBS), Intel's hybrid CPUs, and CPUs unknown to libpfm4. Sources: Intel's event lists
 * (github.com/intel/perfmon, the kernel's tools/perf/pmu-events) for what libpfm4 4.13 lacks; AMD's Processor
 * Programming References for IBS; arch/x86/events/amd/ibs.c.
 */
#ifndef FATHOM_COLLECTOR_EVENTS_ALIAS_H
#define FATHOM_COLLECTOR_EVENTS_ALIAS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "collector/events/pmus.h"

struct alias {
    const char *name;
    const char *argument; /* what may follow the name and ':'; NULL: nothing */
    const char *description;
    uint64_t period; /* events for each sample, by default; 0: event.h */
};

/* Ends with a NULL name. */
extern const struct alias aliases[];

#define ALIAS_EVENTS PMUS_CORES /* one for each kind of core */
#define ALIAS_TEXT   96

struct alias_event {
    char text[ALIAS_TEXT];       /* the event as -e takes it */
    struct perf_event_attr attr; /* type, config, config1, config2; precise_ip as high as it makes sense */
    uint64_t period;             /* the alias's, or its own */
    const char *caveat;          /* what else it counts: static, follows "which"; NULL: nothing */
};

struct alias_match {
    const struct alias *alias; /* NULL: the name is not an alias */
    struct alias_event events[ALIAS_EVENTS];
    size_t count; /* 0: this CPU has no such event */
};

/* The events that a name stands for here. -EINVAL: it is an alias, but what follows the ':' is wrong. */
int alias_find(const struct pmus *pmus, const char *name, struct alias_match *out, struct fathom_error *err);

#endif
