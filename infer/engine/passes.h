/*
 * passes.h - feeds the observations of a recording to a step of the engine, from the first record on, with the observer reset
 * to its state before that.
 */
#ifndef FATHOM_INFER_ENGINE_PASSES_H
#define FATHOM_INFER_ENGINE_PASSES_H

#include "infer/engine/observer.h"
#include "infer/engine/reading.h"

struct passes { /* all borrowed */
    struct reading *reading;
    struct observer *observer;
    const struct progress *progress; /* may be NULL */
    uint64_t most;                   /* maximum number of records; 0: all of them */
};

/* whole: samples are as they were recorded, with their stacks: the recording is read again. */
int passes_run(const struct passes *passes, const char *name, bool whole, observation_sink *step,
               void *context, struct fathom_error *err);

#endif
