/*
 * phase_switch.h - hybrid profiling (phase-aware remote profiling, section 4): from the main event's samples the phases of what is
 * recorded are told while it runs, and the other events, which may be costly, are on in one interval of each phase, and in one of 28 where it lasts.
 *
 * The third interval of a phase represents it (the paper's section 5.3), or the second, when phases are to be met sooner: an interval is
 * chosen before it begins, as the one that is foretold to be of a phase that has none yet. What it turns out to be is what counts.
 * Regions of code are told by their files, so that processes of one program have the same phases.
 */
#ifndef FATHOM_API_RECORD_PHASE_SWITCH_H
#define FATHOM_API_RECORD_PHASE_SWITCH_H

#include "collector/collector.h"
#include "perfdata/scaling.h"

struct phase_switch;

struct phase_switch_options {
    double interval; /* of the main event: ns of a clock, or events */
    bool second;     /* the second interval, not the third */
};

/* The collector, whose events are switched (collector_switch()), and log are borrowed. */
int phase_switch_new(struct collector *collector, const struct phase_switch_options *options,
                     const struct log *log, struct phase_switch **out, struct fathom_error *err);
void phase_switch_free(struct phase_switch *phases); /* NULL is allowed */
collector_sink phase_switch_see; /* looks at the records; context: the struct phase_switch */
/* At the end: what the other events' samples stand for. Valid until phase_switch_free(). -ENOMEM. */
int phase_switch_scaling(struct phase_switch *phases, struct scaling *out, struct fathom_error *err);
/* At the end: tells how many phases and intervals there were, in how many of these the other events were on, and how long it took to switch. */
void phase_switch_tell(const struct phase_switch *phases);

#endif
