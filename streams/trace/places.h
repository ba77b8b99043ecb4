/*
 * places.h - what was at which address of a traced process, by the copy of its maps that the runtime made: code, and data of files.
 */
#ifndef FATHOM_STREAMS_TRACE_PLACES_H
#define FATHOM_STREAMS_TRACE_PLACES_H

#include "collector/targets/proc.h"
#include "streams/trace/images.h"

struct places;

struct place {
    struct traced_image *image; /* NULL: of no file */
    uint64_t address;           /* in that file */
    const char *region;         /* "[heap]", "[stack]", "" */
};

/* path: of the copy. One that is not there has no places, nor has one that cannot be read, which is an error with *out set. */
int places_open(const char *path, struct traced_images *images, struct places **out,
                struct fathom_error *err);
void places_close(struct places *places); /* NULL is allowed */
/* false: nothing was mapped there. */
bool places_at(const struct places *places, uint64_t address, struct place *out);

#endif
