/*
 * observations.h - what inference needs of a recording, decoded once: a table with a row for each sample and for each
 * record that changes a process, in time order (base/columns.h).
 *
 * A sample's row has its leaf frame as place and CFA, not as a height: its stack's base may be found later. Stack dumps are
 * left out, as is the call chain of a sample whose path is known. Where the table finds no room, the recording is read again.
 */
#ifndef FATHOM_INFER_SAMPLES_OBSERVATIONS_H
#define FATHOM_INFER_SAMPLES_OBSERVATIONS_H

#include "base/columns.h"
#include "infer/samples/cid.h"
#include "perfdata/reader.h"

/* What learning made of a sample. */
struct learned {
    uint32_t node; /* of the trie: the path of its own stack; TRIE_NONE: it is not known */
    uint32_t
        stack; /* number of that among those read of its kind (audit samples, announced stacks), from 1; 0: none */
    bool
        held_back; /* an audit sample that is not learned from, but resolved to see whether the answer is right */
};

struct observation {
    const struct record *record; /* borrowed. Of a sample: without its stack, unless it is held back */
    struct learned learned;      /* of a sample, like the next */
    struct leaf_frame frame;
};

struct observations;

/* callers: the call chains of samples whose paths are known are kept too. file: for what is more than memory should hold;
 * borrowed. NULL: out of memory. */
struct observations *observations_new(bool callers, struct columns_file *file);
void observations_free(struct observations *observations);
/* Appends one; records that have no part in the table are ignored. 0 or negative. */
int observations_add(struct observations *observations, const struct observation *observation,
                     struct fathom_error *err);
/* Call after the last one. 0 or negative. */
int observations_end(struct observations *observations, struct fathom_error *err);
uint64_t observations_count(const struct observations *observations);
/* Whether there was no room for the table. */
bool observations_cut(const struct observations *observations);

typedef int observation_sink(void *context, const struct observation *observation, struct fathom_error *err);
/* Delivers the first `most` rows (0: all). A negative return value of the sink ends it, and is returned. Not if the table is
 * cut: then, or to get samples as they were recorded, give each record of the recording, in order, to a pairing. */
int observations_run(struct observations *observations, uint64_t most, observation_sink *sink, void *context,
                     struct fathom_error *err);

/* Pairs the records of another reading with what was learned of them. */
struct pairing;
struct pairing *pairing_new(const struct observations *observations); /* NULL: out of memory */
void pairing_free(struct pairing *pairing);
/* 1: the record has a row, with this number; 0: it has none; negative. */
int pairing_next(struct pairing *pairing, const struct record *record, struct learned *out, uint64_t *row,
                 struct fathom_error *err);

#endif
