/* inflate.c - see inflate.h. */
#include "perfdata/inflate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "perfdata/layout.h"

/* Space for the rest of one record and a good part of a piece. */
#define BUFFER_BYTES (256 * 1024)
/* Used if the recording does not say how much one piece can hold. */
#define PIECE_LIMIT (UINT64_C(64) * 1024 * 1024)
/* Limit of the stream's window: perf's levels use far less. */
#define WINDOW_LOG_MAX 27

struct inflate {
    ZSTD_DStream *stream;
    inflate_sink *sink;
    void *context;
    bool damaged;
    size_t filled; /* bytes in the buffer: between calls, at most the beginning of one record */
    uint8_t buffer[BUFFER_BYTES];
};

struct inflate *inflate_new(inflate_sink *sink, void *context)
{
    struct inflate *inflate = malloc(sizeof *inflate);
    if (!inflate)
        return NULL;
    inflate->sink = sink;
    inflate->context = context;
    inflate->filled = 0;
    inflate->damaged = false;
    inflate->stream = ZSTD_createDStream();
    if (!inflate->stream || ZSTD_isError(ZSTD_initDStream(inflate->stream)) ||
        ZSTD_isError(ZSTD_DCtx_setParameter(inflate->stream, ZSTD_d_windowLogMax, WINDOW_LOG_MAX))) {
        inflate_free(inflate);
        return NULL;
    }
    return inflate;
}

void inflate_free(struct inflate *inflate)
{
    if (!inflate)
        return;
    ZSTD_freeDStream(inflate->stream);
    free(inflate);
}

bool inflate_is_open(const struct inflate *inflate)
{
    return inflate->filled != 0;
}

bool inflate_is_damaged(const struct inflate *inflate)
{
    return inflate->damaged;
}

static int damaged_stream(struct inflate *inflate, const char *what, struct fathom_error *err)
{
    inflate->damaged = true;
    return error_set(err, EBADMSG, "a compressed part of the recording cannot be read: %s", what);
}

/* Passes on the complete records in the buffer and moves the rest to its front. */
static int hand_over(struct inflate *inflate, struct fathom_error *err)
{
    size_t at = 0;
    int rc = 0;
    while (rc >= 0 && inflate->filled - at >= RECORD_HEADER_SIZE) {
        size_t size = load_u16(inflate->buffer + at + 6);
        if (size < RECORD_HEADER_SIZE)
            return damaged_stream(inflate, "it contains a record of size 0", err);
        if (size > inflate->filled - at)
            break;
        rc = inflate->sink(inflate->context, inflate->buffer + at, size, err);
        at += size;
    }
    inflate->filled -= at;
    memmove(inflate->buffer, inflate->buffer + at, inflate->filled);
    return rc;
}

int inflate_piece(struct inflate *inflate, const uint8_t *data, size_t size, uint64_t limit,
                  struct fathom_error *err)
{
    ZSTD_inBuffer in = {data, size, 0};
    uint64_t total = 0;
    if (limit == 0)
        limit = PIECE_LIMIT;
    for (;;) {
        ZSTD_outBuffer out = {inflate->buffer, BUFFER_BYTES, inflate->filled};
        size_t rc = ZSTD_decompressStream(inflate->stream, &out, &in);
        if (ZSTD_isError(rc))
            return damaged_stream(inflate, ZSTD_getErrorName(rc), err);
        total += out.pos - inflate->filled;
        if (total > limit)
            return damaged_stream(inflate, "it is larger than the recording says", err);
        inflate->filled = out.pos;
        bool full = out.pos == BUFFER_BYTES;
        int handed = hand_over(inflate, err);
        if (handed < 0)
            return handed;
        if (in.pos == in.size && !full)
            return 0;
    }
}
