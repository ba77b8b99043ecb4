/* batch.c - batches records for the sink; see batch.h. */
#include "collector/rings/batch.h"

#include <stdlib.h>
#include <string.h>

#define BATCH_BYTES (1u << 20)
#define PASS_BYTES  (16u << 10) /* above this size, calling the sink is cheaper than a copy */

int batch_init(struct batch *batch, struct fathom_error *err)
{
    batch->data = malloc(BATCH_BYTES);
    batch->used = 0;
    return batch->data ? 0 : error_memory(err);
}

void batch_free(struct batch *batch)
{
    free(batch->data);
    batch->data = NULL;
}

int batch_flush(struct batch *batch, struct fathom_error *err)
{
    if (batch->used == 0)
        return 0;
    int rc = batch->sink(batch->context, batch->data, batch->used, err);
    batch->used = 0;
    return rc < 0 ? rc : 0;
}

void *batch_reserve(struct batch *batch, size_t size, int *rc, struct fathom_error *err)
{
    if (BATCH_BYTES - batch->used < size) {
        *rc = batch_flush(batch, err);
        if (*rc)
            return NULL;
    }
    return batch->data + batch->used;
}

void batch_commit(struct batch *batch, size_t size)
{
    batch->used += size;
}

int batch_pass(struct batch *batch, const void *records, size_t size, struct fathom_error *err)
{
    int rc = 0;
    if (size >= PASS_BYTES) {
        rc = batch_flush(batch, err);
        if (rc == 0)
            rc = batch->sink(batch->context, records, size, err);
        return rc < 0 ? rc : 0;
    }
    uint8_t *copy = batch_reserve(batch, size, &rc, err);
    if (!copy)
        return rc;
    memcpy(copy, records, size);
    batch_commit(batch, size);
    return 0;
}
