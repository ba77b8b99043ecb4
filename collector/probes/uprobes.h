/*
 * uprobes.h - a kernel event that fires at many places in user code (Documentation/trace/uprobetracer.rst).
 *
 * All probes of it are parts of one event in tracefs (Linux 5.6), so that they need one file descriptor per CPU
 * regardless of their number. uprobes_close() removes the event; perf events on it must be closed first. What
 * a killed process left behind is removed by the next uprobes_open().
 */
#ifndef FATHOM_COLLECTOR_PROBES_UPROBES_H
#define FATHOM_COLLECTOR_PROBES_UPROBES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct uprobes;

struct uprobes_options {
    const char
        *name;    /* letters, digits and '_', at most UPROBES_NAME; no other event of this process has it */
    bool returns; /* it fires where functions return to their callers, not where they are entered */
};

struct uprobe_place {
    uint64_t offset; /* of an instruction, in the file, bytes */
    uint64_t
        counter; /* of a u16 that is above 0 while someone looks (a marker's semaphore, Linux 4.20); 0: none */
    const char *
        arguments; /* fields, as tracefs takes them: "arg1=%di arg2=+8(%si):u32", of the same names and types as all other
                              places'; NULL: it has none */
};

#define UPROBES_NAME 40

/* options, and what it names, is borrowed. -EPERM, -EACCES: not root; -ENOENT: this kernel has no uprobes. */
int uprobes_open(const struct uprobes_options *options, struct uprobes **out, struct fathom_error *err);
/* Probes the instructions at these places in a file. */
int uprobes_add(struct uprobes *probes, const char *path, const struct uprobe_place *places, size_t count,
                struct fathom_error *err);
/* The event's name for event_parse(): "fathom_PID:NAME". */
const char *uprobes_event(const struct uprobes *probes);
void uprobes_close(struct uprobes *probes); /* NULL is allowed */

#endif
