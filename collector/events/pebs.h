/*
 * pebs.h - whether the CPU can write many samples of an event per interrupt ("large PEBS"), which makes a
 * sample almost free.
 *
 * The rules are those of Linux 6.x: arch/x86/events/intel/core.c (intel_pmu_hw_config,
 * intel_pmu_large_pebs_flags), ds.c (intel_ds_init), LARGE_PEBS_FLAGS of arch/x86/events/perf_event.h. The
 * kernel does not report what it chose; a batch also ends at each switch to another thread and, on the same
 * CPU, at any other PEBS event that does not qualify.
 */
#ifndef FATHOM_COLLECTOR_EVENTS_PEBS_H
#define FATHOM_COLLECTOR_EVENTS_PEBS_H

#include <linux/perf_event.h>
#include <stdbool.h>

#include "collector/events/pmus.h"

struct pebs_machine {
    unsigned max_precise; /* highest precise_ip; 0: the CPU has no PEBS */
    bool times;           /* PEBS records have a timestamp (Skylake, Goldmont and later) */
    bool weights;         /* the kernel takes WEIGHT from a batch (Linux 6.0) */
    /* records have little more than the IP, as in virtual machines (formats 4 and 5 without baseline) */
    bool bare;
};

/* Describes this machine from sysfs, and from the kernel if it can be asked: the first kind of core that has
 * PEBS. max_precise is 0 if there is no PMU, or not Intel's. */
void pebs_machine(struct pebs_machine *out);
void pebs_machine_of(const struct pmus *pmus, struct pebs_machine *out); /* the same of other PMUs */
/* The same for the PMU that counts an event: kinds of cores can differ in the content of their records
 * (architectural PEBS). */
void pebs_machine_for(const struct pmus *pmus, const struct perf_event_attr *attr, struct pebs_machine *out);
/* The format of the records according to a PMU's caps/pmu_name (NULL or "": the kernel has none); 0: unknown,
 * so newer than the known ones. */
unsigned pebs_format(const char *pmu_name);
bool pebs_weights(const char *release); /* of the kernel */

/* NULL: an event with this attr is sampled in batches. Else why not: a static clause to follow a colon. For
 * events with precise_ip. */
const char *pebs_refusal(const struct perf_event_attr *attr, const struct pebs_machine *machine);

#endif
