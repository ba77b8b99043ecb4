/*
 * phase_switch.h - hybrid profiling (phase-aware remote profiling, section 4): from the main event's samples the phases of what is
 * recorded are told while it runs, and the other events, which may be costly, are on in some intervals of each (phases/sampling.h), and when
 * somebody or another event asks for it.
 *
 * An interval is chosen before it begins, as the one that is predicted to be of a phase that has too few. What it turns out to be is what counts.
 * Regions of code are told by their files, so that processes of one program have the same phases.
 */
#ifndef FATHOM_API_RECORD_PHASE_SWITCH_H
#define FATHOM_API_RECORD_PHASE_SWITCH_H

#include "api/record/phase_control.h"
#include "collector/collector.h"
#include "perfdata/scaling.h"
#include "phases/sampling.h"

struct phase_switch;

/* What is switched instead of the collector's events: hooks. */
struct phase_switch_user {
    void (*turn)(void *context, bool on);
    /* An interval in which they were on has ended, before the next one's turn. */
    int (*ended)(void *context, uint32_t phase, struct fathom_error *err);
    void *context;
    /* The name of a file whose code is theirs, and no work of what is recorded; nor is code of no file, while they are on. */
    const char *runtime;
};

struct phase_switch_options {
    double interval; /* of the main event: ns of a clock, or events */
    struct phase_sampling sampling;
    struct phase_control *control;        /* borrowed */
    const struct phase_switch_user *user; /* borrowed; NULL: the events are switched */
};

/* The collector, whose events are switched (collector_switch()) unless there is a user, and log are borrowed. */
int phase_switch_new(struct collector *collector, const struct phase_switch_options *options,
                     const struct log *log, struct phase_switch **out, struct fathom_error *err);
void phase_switch_free(struct phase_switch *phases); /* NULL is allowed */
collector_sink phase_switch_see; /* looks at the records; context: the struct phase_switch */
/* What there was of each phase so far, by number - 1; returns how many. Valid until more records are seen. */
size_t phase_switch_phases(const struct phase_switch *phases, const struct phase_tally **out);
/* At the end: what the other events' samples stand for. Valid until phase_switch_free(). -ENOMEM. */
int phase_switch_scaling(struct phase_switch *phases, struct scaling *out, struct fathom_error *err);
/* At the end: tells how many phases and intervals there were, in how many of these the other events were on, and how long it took to switch. */
void phase_switch_tell(const struct phase_switch *phases);

#endif
