/*
 * phase_switch.h - hybrid profiling (phase-aware remote profiling, section 4): detects phases from the main event's samples while
 * recording. The other events, which may be costly, are on in some intervals of each phase (phases/sampling.h), and when requested by the
 * user or triggered by another event.
 *
 * An interval is chosen before it begins, if its predicted phase has too few profiled ones. It counts for the phase that it turns out to be.
 * Regions of code are identified by their files, so that processes of one program have the same phases.
 */
#ifndef FATHOM_API_RECORD_PHASE_SWITCH_H
#define FATHOM_API_RECORD_PHASE_SWITCH_H

#include "api/record/phase_control.h"
#include "collector/collector.h"
#include "perfdata/scaling.h"
#include "phases/sampling.h"

struct phase_switch;

/* A user of phase switching that switches hooks instead of the collector's events. */
struct phase_switch_user {
    void (*turn)(void *context, bool on);
    /* Called when an interval in which hooks were on has ended, before the next one is decided on. */
    int (*ended)(void *context, uint32_t phase, struct fathom_error *err);
    void *context;
    /* The name of the file with the hooks' code, which is not counted as work of the program. Nor is code without a file, while hooks are
     * on. */
    const char *runtime;
};

struct phase_switch_options {
    double interval; /* in the main event's unit: ns of a clock, or events */
    struct phase_sampling sampling;
    struct phase_control *control;        /* borrowed */
    const struct phase_switch_user *user; /* borrowed; NULL: the events are switched */
};

/* collector and log are borrowed. The collector's events are switched (collector_switch()) unless there is a user. */
int phase_switch_new(struct collector *collector, const struct phase_switch_options *options,
                     const struct log *log, struct phase_switch **out, struct fathom_error *err);
void phase_switch_free(struct phase_switch *phases); /* NULL is allowed */
collector_sink phase_switch_see; /* looks at the records; context: the struct phase_switch */
/* Totals of each phase so far, by number - 1; returns the number of phases. Valid until more records are seen. */
size_t phase_switch_phases(const struct phase_switch *phases, const struct phase_tally **out);
/* At the end: the scaling of the other events' samples. Valid until phase_switch_free(). -ENOMEM. */
int phase_switch_scaling(struct phase_switch *phases, struct scaling *out, struct fathom_error *err);
/* At the end: reports the number of phases and intervals, in how many the other events were on, and the time that switching took. */
void phase_switch_tell(const struct phase_switch *phases);

#endif
