/*
 * trailer.h - private to perfdata/: what a recording of ours contains after its features, at the end of the file, where stock
 * perf reads nothing. (A feature section of our own is not possible: `perf inject` copies all bits of the header, and
 * crashes at unknown ones.)
 *
 *   parts, each: u32 type, u32 bytes, those bytes | u64 size of all, including this and the next | u64 TRAILER_MAGIC
 */
#ifndef FATHOM_PERFDATA_TRAILER_H
#define FATHOM_PERFDATA_TRAILER_H

#include "perfdata/scaling.h"

#define TRAILER_MAGIC UINT64_C(0x31444e454d485446) /* "FTHMEND1" */
#define TRAILER_END   16u                          /* bytes of size and magic */
/* bytes of it per record in pipe mode (stream.c), a multiple of 8, whose kind is TRAILER_MAGIC; without TRAILER_END */
#define TRAILER_PIECE 65480u

struct trailer {
    uint64_t clock_time,
        clock_wall; /* time of a sample, and ns since 1970 at which it was read, just after; 0: unknown */
    struct scaling scaling; /* of events that were not always on */
    /* of code made at run time (image/made/code_names.h), which is opaque here; NULL: none */
    const void *code_names;
    size_t code_names_size;
};

/* *data: malloc'ed, NULL and 0 bytes if there is nothing to say. -ENOMEM. */
int trailer_make(const struct trailer *trailer, uint8_t **data, size_t *size, struct fathom_error *err);
/* Copies the names into a trailer without any. -ENOMEM. */
int trailer_name_code(struct trailer *trailer, const void *data, size_t size);
/* The size of the whole trailer, at least TRAILER_END, from the last bytes of a file; 0: it has none. */
uint64_t trailer_size(const uint8_t end[TRAILER_END]);
/* Reads the trailer from the bytes before these. Parts that are damaged or of unknown types are skipped. The caller owns the
 * scaling's steps and the names. -ENOMEM. */
int trailer_take(struct bytes from, struct trailer *out, struct fathom_error *err);

#endif
