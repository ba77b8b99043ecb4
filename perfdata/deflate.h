/*
 * deflate.h - private to perfdata/: writes records as pieces of one zstd stream, each in a PERF_RECORD_COMPRESSED record, as
 * perf record -z does (tools/perf/util/zstd.c and Documentation/perf.data-file-format.txt). inflate.h reads them.
 */
#ifndef FATHOM_PERFDATA_DEFLATE_H
#define FATHOM_PERFDATA_DEFLATE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Bytes of records in one piece: even with zstd's overhead for incompressible data, it fits into a record. */
#define DEFLATE_PIECE 61440u
/* Space that stock perf has to reserve: a piece, and the rest of a record that the piece before it began. */
#define DEFLATE_ROOM (2u * 65536)

struct deflate;

/* level: of zstd, 1 to 22. NULL: out of memory. */
struct deflate *deflate_new(int level);
void deflate_free(struct deflate *deflate); /* NULL is allowed */
/* The records to write instead of these; they contain all that was given. *out is valid until the next call. 0 or negative. */
int deflate_records(struct deflate *deflate, const uint8_t *data, size_t size, const uint8_t **out,
                    size_t *out_size, struct fathom_error *err);

#endif
