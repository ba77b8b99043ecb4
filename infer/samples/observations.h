/*
 * observations.h - what inference needs from a recording, decoded once: a table with a row for each sample and for each record
 * that changes a process, in time order (base/columns.h).
 *
 * A sample's row has its leaf frame as place and CFA, not as a height: its stack's base may be found later. Stack dumps are
 * left out, and so is the call chain of a sample whose path is known. If there is no space for the table, the recording is read
 * again.
 */
#ifndef FATHOM_INFER_SAMPLES_OBSERVATIONS_H
#define FATHOM_INFER_SAMPLES_OBSERVATIONS_H

#include "base/columns.h"
#include "infer/samples/cid.h"
#include "perfdata/reader.h"

/* What was learned from a sample. */
struct learned {
    uint32_t node; /* of the trie: the path of its own stack; TRIE_NONE: unknown */
    /* its stack's number among those read of its kind (audit samples, announced stacks), from 1; 0: none */
    uint32_t stack;
    bool held_back; /* an audit sample that is not learned from, but resolved to check the answer */
};

struct observation {
    const struct record *record; /* borrowed. A sample is without its stack, unless it is held back */
    struct learned learned;      /* for samples only, like the next */
    struct leaf_frame frame;
};

struct observations;

/* callers: store the call chains of samples whose paths are known, too. file: for what exceeds the limit of memory; borrowed.
 * NULL: out of memory. */
struct observations *observations_new(bool callers, struct columns_file *file);
void observations_free(struct observations *observations);
/* Appends one; records that need no row are ignored. 0 or negative. */
int observations_add(struct observations *observations, const struct observation *observation,
                     struct fathom_error *err);
/* Call after the last one. 0 or negative. */
int observations_end(struct observations *observations, struct fathom_error *err);
uint64_t observations_count(const struct observations *observations);
/* Whether there was no space for the table. */
bool observations_cut(const struct observations *observations);

typedef int observation_sink(void *context, const struct observation *observation, struct fathom_error *err);
/* Delivers the first `most` rows (0: all). A negative return value of the sink ends it, and is returned. Do not call it if the
 * table is cut: then, or to get samples as they were recorded, pass each record of the recording, in order, to a pairing. */
int observations_run(struct observations *observations, uint64_t most, observation_sink *sink, void *context,
                     struct fathom_error *err);

/* Pairs the records of another reading with what was learned from them. */
struct pairing;
struct pairing *pairing_new(const struct observations *observations); /* NULL: out of memory */
void pairing_free(struct pairing *pairing);
/* 1: the record has a row, with this number; 0: it has none; negative. */
int pairing_next(struct pairing *pairing, const struct record *record, struct learned *out, uint64_t *row,
                 struct fathom_error *err);

#endif
