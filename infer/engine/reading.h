/*
 * reading.h - the one reading of a recording: what was learned from it, and the table of its observations. The steps for
 * all of its events and the folds of cross-validation use these.
 *
 * - call chains become stacks, as far as they prove them (proved.h);
 * - stack dumps become a trie of the recording itself, and yield the bases of stacks (learn.h);
 * - each record becomes a row of the table (observations.h).
 */
#ifndef FATHOM_INFER_ENGINE_READING_H
#define FATHOM_INFER_ENGINE_READING_H

#include "base/progress.h"
#include "infer/chains/proved.h"
#include "infer/engine/learn.h"
#include "infer/engine/mapped_files.h"

struct reading_input { /* all borrowed */
    struct image_cache *images;
    const struct log *log;
    const struct progress *progress; /* may be NULL */
    struct columns_file *file;       /* for observations_new(), like the next; NULL: it makes one */
    bool callers;
    enum learn_from from; /* for learner_new(), like the next */
    bool hold_back;
};

struct reading {
    struct reading_input in;
    struct columns_file *own_file; /* NULL: one was given */
    struct reader *reader;         /* NULL: not known yet */
    struct learner *learner;
    struct observations *observations;
    struct mapped_files *files;
    struct image_calls *calls; /* of the images' code */
    struct proved *proved;     /* NULL: no event has call chains, or the records came live */
    /* Set while records are taken. */
    struct processes *processes;
    uint64_t records;
    bool complete;
    uint64_t bases_voted;
    bool voted; /* votes for the unknown bases were counted */
};

struct reading *reading_new(const struct reading_input *input); /* NULL: out of memory */
void reading_free(struct reading *reading);
/* For records that arrive live, in time order. Events are borrowed. */
int reading_begin(struct reading *reading, const struct event *events, size_t count, uint32_t event,
                  struct fathom_error *err);
order_sink reading_take; /* context: the reading */
/* Whether records came live, before the names of code made at run time that the recording has now. */
bool reading_lacks_names(const struct reading *reading, const struct reader *reader);
/* Reads the recording, unless its records came live or it was read already; completes the reading. map: paths get the shape
 * that they have in it (trie_adopt_images()); may be NULL. */
int reading_run(struct reading *reading, struct reader *reader, uint32_t event, const struct pathmap *map,
                struct fathom_error *err);
/* Discards what was read. */
int reading_reset(struct reading *reading, struct fathom_error *err);

#endif
