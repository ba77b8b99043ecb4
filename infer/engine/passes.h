/*
 * passes.h - feeds all records of a recording to a step of the engine, starting at the first, with the
 * observer reset to its state before them.
 */
#ifndef FATHOM_INFER_ENGINE_PASSES_H
#define FATHOM_INFER_ENGINE_PASSES_H

#include "base/progress.h"
#include "infer/chains/proved.h"
#include "infer/engine/observer.h"
#include "perfdata/reader.h"

struct passes {
    struct reader *reader; /* borrowed, like the next three */
    struct observer *observer;
    const struct proved *proved;     /* stacks that samples are given; may be NULL */
    const struct progress *progress; /* may be NULL */
    uint64_t most;                   /* records to read; 0: all of them */
    uint64_t records, all;           /* read so far in this pass; total of the previous pass (0: none yet) */
    size_t proved_at;                /* proved_fill() */
    const char *name;                /* the pass's, for the progress line */
    order_sink *step;
    void *context; /* the step's */
};

int passes_run(struct passes *passes, const char *name, order_sink *step, void *context,
               struct fathom_error *err);

#endif
