/*
 * resolve.h - the step that gives each sample its context, by the map that was fitted.
 */
#ifndef FATHOM_INFER_ENGINE_RESOLVE_H
#define FATHOM_INFER_ENGINE_RESOLVE_H

#include "infer/contexts/unread.h"
#include "infer/engine/observer.h"
#include "infer/model/fit.h"
#include "infer/model/smooth.h"
#include "infer/samples/builds.h"

/* Called for each sample of the event to resolve and each audit sample that was held back, in order of time,
 * except that ambiguous ones wait for later samples (smooth.h). process is NULL if the PID is unknown. A
 * negative return ends the run, which returns it. */
typedef smoother_sink resolve_sink;

struct resolve_input { /* all borrowed */
    struct observer *observer;
    struct fit *fit; /* done: with a model of coherence, unless samples are judged by themselves */
    struct unread *unread;
    struct builds *builds; /* notes the images that samples ran in; NULL: no map was given */
    resolve_sink *sink;
    void *context;
};

struct resolve;

struct resolve *resolve_new(const struct resolve_input *input); /* NULL: out of memory */
void resolve_free(struct resolve *resolve);
order_sink resolve_take; /* context: a struct resolve */
/* Delivers what still waits. */
int resolve_flush(struct resolve *resolve, struct fathom_error *err);

#endif
