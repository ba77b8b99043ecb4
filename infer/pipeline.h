/*
 * pipeline.h - the way of the samples from records to calling contexts (DESIGN section 2), for files and for
 * live rings.
 *
 * A recording is gone through up to four times: learn (stack dumps become a map of the recording itself,
 * stacks without a base get one), vote (bases that are still unknown), survey (which CIDs there are: the
 * automaton then finds paths for those of which training did not see every call, and expectation-maximisation
 * teaches the model of coherence.h), resolve (each sample's context goes to the sink). Live samples only need
 * pipeline_learn(), which is an order_sink.
 *
 * An audit sample's dump is the truth about that moment: it is an anchor for the samples of its thread around
 * it. Dumps of the samples that are resolved are not looked at.
 */
#ifndef FATHOM_INFER_PIPELINE_H
#define FATHOM_INFER_PIPELINE_H

#include "base/progress.h"
#include "infer/extend.h"
#include "infer/smooth.h"
#include "infer/trainer.h"
#include "perfdata/reader.h"

struct pipeline;

/* Called for each sample of the event to resolve, and for audit samples that were held back, in order of time
 * but for ambiguous ones, which wait for what comes after them (smooth.h). process may be NULL when nothing
 * is known of the PID. A negative return ends the run and is handed through. */
typedef smoother_sink pipeline_sink;

enum pipeline_learning {
    LEARN_NOTHING, /* the map alone */
    LEARN_AUDITS,  /* the recording's audit samples too */
    LEARN_DUMPS,   /* every sample that has a stack dump */
};

struct pipeline_options {
    enum pipeline_learning learning;
    bool hold_back;    /* Some audit samples are not learned from but resolved like the others (audits.h); all
                          with LEARN_NOTHING. They go to the sink with their own event number. */
    bool no_automaton; /* leave CIDs that training never saw unknown */
    bool no_temporal;  /* judge each sample by itself: no smoothing over time */
    bool no_em;        /* smooth by what training and sure samples tell: no expectation-maximisation */
    const struct progress *progress; /* of each pass, in records; borrowed, may be NULL */
};

struct pipeline_summary {
    uint64_t learned;                  /* dumps that were entered */
    uint64_t not_learned[UNWIND_ENDS]; /* and those that were not, by how the walk ended; UNWIND_ROOT: a
                                           frame was in no known function */
    struct extend_summary inferred;    /* CIDs that training never saw */
    const char *const *unread;         /* files whose code could not be read (unread.h), while the
                                           pipeline lives */
    size_t unread_count;
    uint64_t bases_voted; /* stacks whose base was found by voting */
};

/* images and log are borrowed, options copied. NULL: out of memory. */
struct pipeline *pipeline_new(struct image_cache *images, const struct pipeline_options *options,
                              const struct log *log);
void pipeline_free(struct pipeline *pipeline);

/* An order_sink (context: the pipeline): learns from one record. */
int pipeline_learn(void *pipeline, const struct record *record, struct fathom_error *err);
/* What was learned so far. */
struct trie *pipeline_trie(struct pipeline *pipeline);

/* All passes over a recording. events as the reader tells them; only samples of the event number `event` go
 * to the sink. map (may be NULL) is merged with what is learned. */
int pipeline_run(struct pipeline *pipeline, struct reader *reader, uint32_t event, const struct pathmap *map,
                 pipeline_sink *sink, void *context, struct fathom_error *err);
/* The map that pipeline_run() resolved with; node numbers of struct resolved are its. NULL before. */
const struct pathmap *pipeline_map(const struct pipeline *pipeline);
/* Whether the recording has an image of another build than the map that was given, or none that is in it. */
bool pipeline_stale(const struct pipeline *pipeline);
void pipeline_summary(const struct pipeline *pipeline, struct pipeline_summary *out);

#endif
