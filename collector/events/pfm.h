/*
 * pfm.h - event names from libpfm4: looks up one, or lists all.
 *
 * Separate from event_name.c because libpfm4 brings its own copy of the kernel's perf_event.h, which clashes with
 * the system's: this interface has only plain types.
 */
#ifndef FATHOM_COLLECTOR_EVENTS_PFM_H
#define FATHOM_COLLECTOR_EVENTS_PFM_H

#include <stdbool.h>
#include <stdint.h>

struct pfm_code {
    uint32_t type;
    uint64_t config, config1, config2;
    uint64_t period; /* from a ":period=" in the name; 0 if none */
    bool freq;       /* `period` is a frequency in Hz (":freq=") */
    unsigned precise;
};

/* Initialises libpfm4, before any other call; not thread-safe. 0 or libpfm4's error. */
int pfm_begin(void);
/* The event of this name in user mode. 0; -ENOENT: unknown to libpfm4; -EINVAL: known, but the attributes are
 * wrong or missing. *reason: libpfm4's text for that, static. */
int pfm_encode(const char *name, struct pfm_code *code, const char **reason);

/* An event that libpfm4 has for this machine's CPUs, or one of its unit masks. */
struct pfm_event {
    const char *pmu;   /* readable name of its PMU */
    bool generic;      /* perf's own names, which the kernel translates for the CPU */
    const char *name;  /* in lower case for a generic one, as perf writes it */
    const char *umask; /* to append to the name and ':'; NULL: the event itself */
    const char *description;
    bool precise; /* the CPU can sample it precisely */
};

/* Calls `see` for each event, then for each of its unit masks. Raw codes are left out. */
void pfm_events(void (*see)(void *context, const struct pfm_event *event), void *context);

#endif
