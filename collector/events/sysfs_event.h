/*
 * sysfs_event.h - events by the terms that the kernel describes in sysfs, as perf writes them: "PMU/TERM=VALUE,.../". A
 * term is one of the PMU's files "format/TERM" ("config:0-7,32-35"), its value 1 if none is given; or a file
 * "events/NAME", which has such terms.
 */
#ifndef FATHOM_COLLECTOR_EVENTS_SYSFS_EVENT_H
#define FATHOM_COLLECTOR_EVENTS_SYSFS_EVENT_H

#include "base/error.h"
#include "collector/events/pmus.h"

/* Sets type, config, config1 and config2 of *attr. -ENOENT: no such PMU, or not of that form (without a message);
 * -EINVAL: a term that the PMU does not have, or a value too large for it. */
int sysfs_event_parse(const struct pmus *pmus, const char *text, struct perf_event_attr *attr,
                      struct fathom_error *err);

#endif
