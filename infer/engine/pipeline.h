/*
 * pipeline.h - turns the samples of a recording into calling contexts (DESIGN section 2).
 *
 * A recording is read several times:
 *   - with a map: once for the names of its images, to ignore a map of other programs (builds.h);
 *   - learn: stack dumps become a map of the recording itself, and give stacks their bases;
 *   - vote, if a base is still unknown: the map's heights, then the binaries' code, suggest one;
 *   - survey: lists the CIDs. fit.h then adds paths for those that training did not see in full, and learns
 *     the model of coherence.h by expectation-maximisation;
 *   - resolve: each sample's context goes to the sink.
 * Live samples need the first step alone, learn.h.
 *
 * An audit sample's dump gives the true path at that moment: it is an anchor for the samples of its thread
 * around it. Dumps of the samples to resolve are used to resolve them where that is asked for.
 */
#ifndef FATHOM_INFER_ENGINE_PIPELINE_H
#define FATHOM_INFER_ENGINE_PIPELINE_H

#include "base/progress.h"
#include "infer/model/extend.h"
#include "infer/model/smooth.h"
#include "infer/engine/learn.h"
#include "perfdata/reader.h"

struct pipeline;

/* Called for each sample of the event to resolve and each audit sample that was held back, in order of time,
 * except that ambiguous ones wait for later samples (smooth.h). process is NULL if the PID is unknown. A
 * negative return ends the run, which returns it. */
typedef smoother_sink pipeline_sink;

struct pipeline_options {
    enum learn_from learning;
    bool hold_back; /* Some audit samples are not learned from but resolved like the others (audits.h); all
                          with LEARN_NOTHING. They go to the sink with their own event number. */
    /* A sample whose own stack was unwound has that path, for certain. Not to be measured against these stacks. */
    bool own_dumps;
    bool no_automaton; /* CIDs that training never saw stay unknown */
    bool no_temporal;  /* judge each sample by itself: no smoothing over time */
    bool no_em;        /* learn from training and sure samples only: no expectation-maximisation */
    const struct progress *progress; /* of each pass, in records; borrowed, may be NULL */
};

struct pipeline_summary {
    uint64_t learned;               /* dumps that were entered */
    struct extend_summary inferred; /* CIDs that the automaton was asked for */
    const char *const *unread;      /* files whose code could not be read (unread.h); valid as long as
                                           the pipeline */
    size_t unread_count;
    uint64_t bases_voted; /* stacks whose base was found by voting */
};

/* images and log are borrowed, options copied. NULL: out of memory. */
struct pipeline *pipeline_new(struct image_cache *images, const struct pipeline_options *options,
                              const struct log *log);
void pipeline_free(struct pipeline *pipeline);

struct pipeline_input {
    struct reader *reader;
    uint32_t event;            /* the number, among the reader's, of the event whose samples go to the sink */
    const struct pathmap *map; /* merged with what is learned; may be NULL */
};
/* Runs all passes over a recording; at most once for a pipeline. */
int pipeline_run(struct pipeline *pipeline, const struct pipeline_input *input, pipeline_sink *sink,
                 void *context, struct fathom_error *err);
/* The map that pipeline_run() resolved with, to which the node numbers in struct resolved belong. NULL before
 * that. */
const struct pathmap *pipeline_map(const struct pipeline *pipeline);
/* Whether the map that was given is of another build of one of the recording's images, or of other programs. */
bool pipeline_stale(const struct pipeline *pipeline);
void pipeline_summary(const struct pipeline *pipeline, struct pipeline_summary *out);

#endif
