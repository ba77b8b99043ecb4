/*
 * resolve.h - the step that assigns each sample its context, using the fitted map.
 */
#ifndef FATHOM_INFER_ENGINE_RESOLVE_H
#define FATHOM_INFER_ENGINE_RESOLVE_H

#include "infer/contexts/unread.h"
#include "infer/engine/observer.h"
#include "infer/model/calibration.h"
#include "infer/model/fit.h"
#include "infer/model/smooth.h"
#include "infer/samples/builds.h"

/* Called for each sample of the event to resolve and each held-back audit sample, in time order except that ambiguous ones wait
 * for later samples (smooth.h). process is NULL if the PID is unknown. A negative return value ends the run, which returns it. */
typedef smoother_sink resolve_sink;

struct resolve_input { /* all borrowed */
    struct observer *observer;
    struct fit *fit; /* complete, with a coherence model unless samples are judged individually */
    struct unread *unread;
    struct builds *builds;           /* records the images that samples ran in; NULL: no map was given */
    struct calibration *calibration; /* NULL: the model's probabilities are used unchanged */
    resolve_sink *sink;
    void *context;
};

struct resolve;

struct resolve *resolve_new(const struct resolve_input *input); /* NULL: out of memory */
void resolve_free(struct resolve *resolve);
observation_sink resolve_take; /* context: a struct resolve */
/* Delivers the samples still waiting. */
int resolve_flush(struct resolve *resolve, struct fathom_error *err);

#endif
