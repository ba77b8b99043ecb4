/*
 * inflate.h - private to perfdata/: the zstd stream of a compressed recording (perf record -z).
 *
 * All compressed records of a file are one stream; it decompresses to records, which may be split between pieces.
 */
#ifndef FATHOM_PERFDATA_INFLATE_H
#define FATHOM_PERFDATA_INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct inflate;

/* Gets one decompressed record, valid only during the call and possibly unaligned. A negative result is
 * passed on. */
typedef int inflate_sink(void *context, const uint8_t *data, size_t size, struct fathom_error *err);

/* Decompressed records go to the sink. NULL: out of memory. */
struct inflate *inflate_new(inflate_sink *sink, void *context);
void inflate_free(struct inflate *inflate);
/* Takes the next piece of the stream. limit: the most bytes that it may contain, 0 if unknown. -EBADMSG and
 * inflate_is_damaged(): nothing more can be read from the stream. */
int inflate_piece(struct inflate *inflate, const uint8_t *data, size_t size, uint64_t limit,
                  struct fathom_error *err);
bool inflate_is_damaged(const struct inflate *inflate);
/* Whether the stream stopped inside a record. */
bool inflate_is_open(const struct inflate *inflate);

#endif
