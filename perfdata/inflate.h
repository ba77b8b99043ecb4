/*
 * inflate.h - private to perfdata/: the zstd stream of a compressed recording (perf record -z).
 *
 * All compressed records of a file are one stream; what comes out are records, which may be split over the
 * pieces.
 */
#ifndef FATHOM_PERFDATA_INFLATE_H
#define FATHOM_PERFDATA_INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct inflate;

/* One record that came out; its bytes go away. Alignment: none. A negative return is handed through. */
typedef int inflate_sink(void *context, const uint8_t *data, size_t size, struct fathom_error *err);

/* What comes out goes to the sink. NULL: out of memory. */
struct inflate *inflate_new(inflate_sink *sink, void *context);
void inflate_free(struct inflate *inflate);
/* The next piece of the stream. limit: the most bytes that it may hold, 0 when not known. -EBADMSG and
 * inflate_is_damaged(): nothing more can be read of the stream. */
int inflate_piece(struct inflate *inflate, const uint8_t *data, size_t size, uint64_t limit,
                  struct fathom_error *err);
bool inflate_is_damaged(const struct inflate *inflate);
/* Whether the stream stopped inside a record. */
bool inflate_is_open(const struct inflate *inflate);

#endif
