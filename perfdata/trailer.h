/*
 * trailer.h - private to perfdata/: what a recording of ours says behind its features, at the end of the file, where stock perf reads
 * nothing. (A feature section of our own would not do: `perf inject` copies all bits of the header, and crashes at those that it does not know.)
 *
 *     parts, each: u32 type, u32 bytes, those bytes | u64 size of all of it with this and the next | u64 TRAILER_MAGIC
 */
#ifndef FATHOM_PERFDATA_TRAILER_H
#define FATHOM_PERFDATA_TRAILER_H

#include "perfdata/scaling.h"

#define TRAILER_MAGIC UINT64_C(0x31444e454d485446) /* "FTHMEND1" */
#define TRAILER_END   16u                          /* bytes of size and magic */
#define TRAILER_PIECE                                                                                        \
    65480u /* bytes of it in a record of pipe mode (stream.c), a multiple of 8, whose kind is TRAILER_MAGIC; without TRAILER_END */

struct trailer {
    uint64_t clock_time,
        clock_wall; /* time of a sample, and ns since 1970 at which it was read, just after; 0: not known */
    struct scaling scaling; /* of events that were not always on */
    const void *
        code_names; /* of code that was made at run time (image/made/code_names.h), for which this is only bytes; NULL: none */
    size_t code_names_size;
};

/* *data: malloc'ed, NULL and 0 bytes if there is nothing to say. -ENOMEM. */
int trailer_make(const struct trailer *trailer, uint8_t **data, size_t *size, struct fathom_error *err);
/* Copies names into one that has none. -ENOMEM. */
int trailer_name_code(struct trailer *trailer, const void *data, size_t size);
/* The size of all of it, at least TRAILER_END, by the last bytes of a file; 0: it has none. */
uint64_t trailer_size(const uint8_t end[TRAILER_END]);
/* Of the bytes before these. Parts of unknown types, and what is damaged, are passed over. The scaling's steps and the names
 * are the caller's. -ENOMEM. */
int trailer_take(struct bytes from, struct trailer *out, struct fathom_error *err);

#endif
