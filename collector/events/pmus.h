/*
 * pmus.h - the PMUs of the kernel, as sysfs describes them (Documentation/ABI/testing/sysfs-bus-event_source-devices-*),
 * and which events it accepts. Tests describe other machines.
 */
#ifndef FATHOM_COLLECTOR_EVENTS_PMUS_H
#define FATHOM_COLLECTOR_EVENTS_PMUS_H

#include <linux/perf_event.h>
#include <stdbool.h>

struct pmus {
    const char *devices; /* a folder with one for each PMU, with files "type", "format/...", "events/..." */
    int (*probe)(const struct perf_event_attr *attr); /* 0: accepted; or a negative errno */
    const char *release;                              /* of the kernel, "6.1.0"; NULL: what uname(2) says */
};

/* Those of this machine: /sys/bus/event_source/devices, and open_probe(). */
extern const struct pmus pmus_here;

/* perf_event_attr.type of a PMU's events; -1: there is no such PMU. */
long pmus_type(const struct pmus *pmus, const char *pmu);
/* Whether the PMU has such a file: "format/l3missonly", "events/mem-loads-aux". */
bool pmus_has(const struct pmus *pmus, const char *pmu, const char *file);
/* The number in such a file; `absent` if there is none. */
long pmus_number(const struct pmus *pmus, const char *pmu, const char *file, long absent);

/* Intel's CPUs with cores of two kinds have a PMU for each (Linux 5.13). */
#define PMUS_CORE "cpu_core" /* the fast ones */
#define PMUS_ATOM "cpu_atom"
bool pmus_hybrid(const struct pmus *pmus);
/* Whether the CPU has counters that the kernel uses. */
bool pmus_counters(const struct pmus *pmus);

#endif
