/*
 * payload.h - the entries of a batch as the bytes that an engine without arrays keeps of it.
 *
 *     zstd frame, with its size and checksum, of:
 *     u8       1, or 2 if there is a rest
 *     LEB128   period: the weight of every sample; 0: each entry has a weight of its own
 *     LEB128   number of entries; of each, in the order of contexts: how much larger the context's number is than the one before,
 *              its samples, its weight if there is no period; a byte: how sure; in version 2, if that is neither STORE_PROVED nor
 *              STORE_UNKNOWN: the rest, in periods if there is one
 */
#ifndef FATHOM_STORE_PAYLOAD_H
#define FATHOM_STORE_PAYLOAD_H

#include "base/error.h"
#include "store/batch.h"

#define PAYLOAD_VERSION 2
#define PAYLOAD_MOST    ((size_t)64 << 20) /* maximum unpacked bytes: at least 1.6 million contexts */

/* A packer and unpacker, with its memory. */
struct payload;

struct payload *payload_new(void); /* NULL: out of memory */
void payload_free(struct payload *payload);
/* Packs entries, which are in the order of contexts. data: owned by the payload, until the next call. -E2BIG:
 * too many; -ENOMEM. */
int payload_pack(struct payload *payload, const struct store_entry *entries, size_t count, const void **data,
                 size_t *size, struct fathom_error *err);
/* entries: owned by the payload, until the next call. The bytes may be anything: -EBADMSG: damaged; -ENOTSUP:
 * of a later version; -ENOMEM. */
int payload_unpack(struct payload *payload, const void *data, size_t size, const struct store_entry **entries,
                   size_t *count, struct fathom_error *err);

/* The common weight of every sample, in which a rest can be expressed; 0: there is none. */
uint64_t payload_period(const struct store_entry *entries, size_t count);

#endif
