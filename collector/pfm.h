/*
 * pfm.h - an event's name looked up by libpfm4.
 *
 * Apart from event.c because libpfm4 brings its own copy of the kernel's perf_event.h, which clashes with the
 * system's: this interface has only plain types.
 */
#ifndef FATHOM_COLLECTOR_PFM_H
#define FATHOM_COLLECTOR_PFM_H

#include <stdbool.h>
#include <stdint.h>

struct pfm_code {
    uint32_t type;
    uint64_t config, config1, config2;
    uint64_t period; /* from a ":period=" in the name; 0 without one */
    bool freq;       /* `period` is a frequency in Hz (":freq=") */
    unsigned precise;
};

/* The event of this name in user mode. 0; -ENOENT: unknown to libpfm4; -EINVAL: known, but the attributes are
 * wrong or missing. *reason: libpfm4's text for that, static. */
int pfm_encode(const char *name, struct pfm_code *code, const char **reason);

#endif
