/*
 * software.h - the kernel's software events by perf's names (tools/perf/util/parse-events.c), some of which
 * libpfm4 does not have.
 */
#ifndef FATHOM_PERFDATA_SOFTWARE_H
#define FATHOM_PERFDATA_SOFTWARE_H

#include <stdint.h>

struct software_event {
    const char *name;
    uint64_t config;         /* PERF_COUNT_SW_ */
    const char *description; /* NULL: an alias of the previous event */
};

extern const struct software_event software_events[]; /* ends with a NULL name */

const struct software_event *software_find(const char *name); /* NULL: no such name */
const char *software_name(uint64_t config);                   /* NULL: not in the table */

#endif
