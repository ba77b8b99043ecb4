/*
 * batch.h - collects records and hands them to the sink in large pieces.
 */
#ifndef FATHOM_COLLECTOR_RINGS_BATCH_H
#define FATHOM_COLLECTOR_RINGS_BATCH_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Receives one or more whole records per call. A negative return value ends the collection, which
 * returns it. */
typedef int collector_sink(void *context, const void *records, size_t size, struct fathom_error *err);

struct batch {
    uint8_t *data; /* owned; NULL before batch_init */
    size_t used;   /* bytes; always whole records of a multiple of 8 bytes */
    collector_sink *sink;
    void *context;
};

int batch_init(struct batch *batch, struct fathom_error *err);
void batch_free(struct batch *batch);
/* Returns where to put the next record, of `size` bytes (at most 64 KiB); flushes first if it does not fit. It
 * is part of the batch after batch_commit(). NULL: the sink failed with *rc. */
void *batch_reserve(struct batch *batch, size_t size, int *rc, struct fathom_error *err);
void batch_commit(struct batch *batch, size_t size);
/* Adds whole records unchanged: copies them or, if they are many, hands them to the sink without a copy. */
int batch_pass(struct batch *batch, const void *records, size_t size, struct fathom_error *err);
int batch_flush(struct batch *batch, struct fathom_error *err);

#endif
