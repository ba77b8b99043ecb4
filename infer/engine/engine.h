/*
 * engine.h - turns the samples of a recording into calling contexts: the steps of inference, in order.
 *
 * - the recording is read (reading.h): stack dumps become a map of the recording itself, and yield the bases of stacks;
 *   the other steps need only the table of observations;
 * - a map of other programs is ignored (builds.h), any other map is merged with what was learned;
 * - vote (vote.h), if a base is still unknown: the map's heights, then the binaries' code, suggest one;
 * - survey (list_cids.h): lists the CIDs. fit.h then adds paths for those that training did not see in full, and learns
 *   the model of coherence.h by expectation-maximisation;
 * - cross-validate, if more than 1% of the samples have inferred paths: these steps again, without some of the unwound
 *   stacks, measure how far probabilities can be believed (held_out.h, relearn.h, calibration.h);
 * - resolve (resolve.h): each sample's context goes to the sink.
 * Records can also be taken as they are recorded (engine_learn()); the other steps need the complete recording.
 *
 * An audit sample's dump gives the path of its thread at that moment, which is evidence for the thread's samples around
 * it. Dumps of the samples to resolve are used to resolve them if requested.
 */
#ifndef FATHOM_INFER_ENGINE_ENGINE_H
#define FATHOM_INFER_ENGINE_ENGINE_H

#include "base/progress.h"
#include "infer/engine/learn.h"
#include "infer/engine/mapped_files.h"
#include "infer/engine/resolve.h"
#include "infer/model/extend.h"
#include "infer/model/trained.h"
#include "perfdata/reader.h"

struct engine;

struct engine_options {
    enum learn_from learning;
    /* Some audit samples (all with LEARN_NOTHING) are not learned from but resolved like the others (learn.h). They go to the
     * sink with their own event number. */
    bool hold_back;
    /* A sample whose own stack was unwound is given that path as certain. Do not set this when measuring
     * accuracy against these stacks. */
    bool own_dumps;
    bool whole_samples; /* samples go to the sink as recorded, with their stacks: reads the recording again */
    uint64_t validation; /* work (steps) of a fold of cross-validation (internal); else 0 */
    bool no_automaton;   /* CIDs that training never saw stay unknown */
    bool no_temporal;    /* judge each sample by itself: no smoothing over time */
    bool no_em;          /* learn from training and sure samples only: no expectation-maximisation */
    /* for the table of a long recording (base/columns.h); borrowed. NULL: the engine makes one */
    struct columns_file *file;
    const struct progress *progress; /* of each pass, in records; borrowed, may be NULL */
};

struct engine_summary {
    uint64_t learned;                         /* dumps entered into the trie */
    uint64_t walks_compared, walks_differing; /* as in struct learner */
    struct extend_summary inferred;           /* CIDs looked up in the automaton */
    const char *const *unread; /* files whose code could not be read (unread.h); valid as long as
                                           the engine */
    size_t unread_count;
    uint64_t steps;       /* of work to find paths and to cross-validate */
    uint64_t bases_voted; /* stacks whose base was found by voting */
    /* how well the map's training predicts itself, if probabilities are calibrated by that alone; NULL: by the run's stacks, or
     * no map is used. Valid as long as the engine */
    const struct trained *trained;
};

/* images and log are borrowed, options copied. NULL: out of memory. */
struct engine *engine_new(struct image_cache *images, const struct engine_options *options,
                          const struct log *log);
void engine_free(struct engine *engine);

/* Another engine, for another event, that shares what the first one has read; engine_run() of the first has to be called first.
 * The first one must outlive it. options: learning and hold_back are those of the first. */
struct engine *engine_beside(const struct engine *first, const struct engine_options *options,
                             const struct log *log);

/* For a recording in progress: its records are taken as they arrive, in time order and once each.
 * engine_run() then does not read them. Events are borrowed until then. */
int engine_begin_live(struct engine *engine, const struct event *events, size_t count,
                      struct fathom_error *err);
order_sink engine_learn; /* context: the engine */

/* Reads the recording if that was not done yet; engine_run() does it otherwise. map: the user's map, if it is to be used. The
 * reader is borrowed until the engine is freed. */
int engine_read(struct engine *engine, struct reader *reader, uint32_t event, const struct pathmap *map,
                struct fathom_error *err);
const struct mapped_files *engine_files(const struct engine *engine); /* those of the recording */
/* Replays the recording's mappings, process names, forks, exits and losses. */
int engine_changes(struct engine *engine, order_sink *sink, void *context, struct fathom_error *err);

struct engine_input {
    struct reader *reader;
    uint32_t event;            /* the event whose samples go to the sink: its number in the reader */
    const struct pathmap *map; /* merged with what was learned; may be NULL */
    /* the map was learned from earlier recordings of these programs, and is not the user's: no warning for files of which it
     * has another build */
    bool kept;
};
/* Runs all steps on a recording; call it at most once per engine. */
int engine_run(struct engine *engine, const struct engine_input *input, resolve_sink *sink, void *context,
               struct fathom_error *err);
/* The map that engine_run() resolved samples with; node numbers in struct resolved refer to it. NULL before
 * engine_run(). */
const struct pathmap *engine_map(const struct engine *engine);
/* Whether the given map is of another build of one of the recording's images, or of other programs. */
bool engine_stale(const struct engine *engine);
void engine_summary(const struct engine *engine, struct engine_summary *out);

#endif
