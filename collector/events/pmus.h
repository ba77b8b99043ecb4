/*
 * pmus.h - the PMUs of the kernel, as sysfs describes them (Documentation/ABI/testing/sysfs-bus-event_source-devices-*),
 * and which events it accepts. Tests describe other machines.
 */
#ifndef FATHOM_COLLECTOR_EVENTS_PMUS_H
#define FATHOM_COLLECTOR_EVENTS_PMUS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>

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

/* The first line of such a file, without its end. false: there is none; *out is "". */
bool pmus_text(const struct pmus *pmus, const char *pmu, const char *file, char *out, size_t size);

/* Intel's CPUs with cores of several kinds have a PMU for each (Linux 5.13; the third since 6.13, on Arrow Lake-H). */
#define PMUS_CORE  "cpu_core" /* the fast ones */
#define PMUS_ATOM  "cpu_atom"
#define PMUS_LOW   "cpu_lowpower"
#define PMUS_CORES 3
/* Names of all PMUs that count on cores, "cpu" too. Ends with NULL. */
extern const char *const pmus_cores[];
/* How many kinds of cores have counters of their own: 1 to PMUS_CORES; 0: there are no counters. */
unsigned pmus_kinds(const struct pmus *pmus);
/* Whether events of this type are counted by a PMU of cores. */
bool pmus_is_core(const struct pmus *pmus, unsigned type);
/* Whether the CPU has counters that the kernel uses. */
bool pmus_counters(const struct pmus *pmus);

#endif
