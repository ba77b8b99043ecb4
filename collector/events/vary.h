/*
 * vary.h - periods that vary a little around the one that was asked for.
 *
 * A loop that does the same every N events has a fixed phase for each sample if the period and N have a common factor:
 * then one half of a loop of two page faults gets all samples of a period of 100, or none. So each descriptor of an event
 * starts with a period of its own, at most a sixteenth away, and gets another one from time to time.
 *
 * Records of a batch (pebs.h) have the period at the time when it is emptied, so that a change weighs those that are still in the buffer
 * anew. Such an event keeps the periods that its descriptors started with. They have no factor below 100, as a loop's
 * number of events may have.
 *
 * Records of hardware events have PERIOD, which PEBS may have in its batches (pebs.c): the kernel takes what was the period
 * then. Those of other events must not have it, as the kernel would sample each event (kernel/events/core.c,
 * perf_swevent_event): there the period that was asked for, their mean, is the weight.
 *
 * What the counter has counted towards the next sample is lost at a change (_perf_event_period sets period_left to 0), or,
 * of software events, counts as a whole period. VARY_SAMPLES samples for each descriptor between two changes keep that
 * below 1% of the weight. Threads that inherited an event keep the period that it had when they started.
 */
#ifndef FATHOM_COLLECTOR_EVENTS_VARY_H
#define FATHOM_COLLECTOR_EVENTS_VARY_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#define VARY_SAMPLES 100

/* Whether the event's period varies: one that is fixed, of at least 64 events, and not a clock's. */
bool vary_is(const struct perf_event_attr *attr);
/* A period near that of the attr; for PMUs of their own a multiple of 16 (IBS). *state: of the random number
 * generator. */
uint64_t vary_period(const struct perf_event_attr *attr, uint64_t *state);
/* A period that will not change again: at most 100 events further away. */
uint64_t vary_once(const struct perf_event_attr *attr, uint64_t *state);

#endif
