/*
 * uprobes.h - one kernel event that fires at many places in user code (Documentation/trace/uprobetracer.rst).
 *
 * All probes are parts of one event in tracefs (Linux 5.6), so that they need one file descriptor per CPU
 * regardless of their number. uprobes_close() removes the event; perf events on it must be closed first. What
 * a killed process left behind is removed by the next uprobes_open().
 */
#ifndef FATHOM_COLLECTOR_EVENTS_UPROBES_H
#define FATHOM_COLLECTOR_EVENTS_UPROBES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct uprobes;

/* -EPERM, -EACCES: not root; -ENOENT: this kernel has no uprobes. */
int uprobes_open(struct uprobes **out, struct fathom_error *err);
/* Probes the instructions at these offsets in a file (bytes). */
int uprobes_add(struct uprobes *probes, const char *path, const uint64_t *offsets, size_t count,
                struct fathom_error *err);
/* The event's name for event_parse(). */
const char *uprobes_event(const struct uprobes *probes);
void uprobes_close(struct uprobes *probes); /* NULL is allowed */

#endif
