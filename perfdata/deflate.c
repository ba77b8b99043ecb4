/* deflate.c - see deflate.h. */
#include "perfdata/deflate.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/vec.h"
#include "perfdata/format.h"
#include "perfdata/layout.h"

struct deflate {
    ZSTD_CStream *stream;
    uint8_t *bytes;
    size_t size, capacity;
};

struct deflate *deflate_new(int level)
{
    struct deflate *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->stream = ZSTD_createCStream();
    if (!d->stream || ZSTD_isError(ZSTD_CCtx_setParameter(d->stream, ZSTD_c_compressionLevel, level))) {
        deflate_free(d);
        return NULL;
    }
    return d;
}

void deflate_free(struct deflate *d)
{
    if (!d)
        return;
    ZSTD_freeCStream(d->stream);
    free(d->bytes);
    free(d);
}

/* Appends the record of one piece. */
static int add_piece(struct deflate *d, const uint8_t *data, size_t size, struct fathom_error *err)
{
    struct perf_event_header header = {.type = USER_COMPRESSED};
    ZSTD_inBuffer in = {data, size, 0};
    if (!vec_reserve(d->bytes, d->size, d->capacity, RECORD_SIZE_MAX))
        return error_memory(err);
    uint8_t *record = d->bytes + d->size;
    ZSTD_outBuffer out = {record + sizeof header, RECORD_SIZE_MAX - sizeof header, 0};
    const size_t left = ZSTD_compressStream2(d->stream, &out, &in, ZSTD_e_flush);
    if (left != 0)
        return error_set(err, EIO, "records cannot be compressed: %s",
                         ZSTD_isError(left) ? ZSTD_getErrorName(left) : "they do not become smaller");
    header.size = (uint16_t)(sizeof header + out.pos);
    memcpy(record, &header, sizeof header);
    d->size += header.size;
    return 0;
}

int deflate_records(struct deflate *d, const uint8_t *data, size_t size, const uint8_t **out,
                    size_t *out_size, struct fathom_error *err)
{
    int rc = 0;
    d->size = 0;
    for (size_t at = 0; at < size && rc == 0; at += DEFLATE_PIECE)
        rc = add_piece(d, data + at, size - at < DEFLATE_PIECE ? size - at : DEFLATE_PIECE, err);
    *out = d->bytes;
    *out_size = d->size;
    return rc;
}
