/*
 * places.h - what was at an address of a traced process, by the runtime's copy of its maps: code, and data of
 * files.
 */
#ifndef FATHOM_STREAMS_TRACE_PLACES_H
#define FATHOM_STREAMS_TRACE_PLACES_H

#include "collector/targets/proc.h"
#include "streams/trace/images.h"

struct places;

struct place {
    struct traced_image *image; /* NULL: no file */
    uint64_t address;           /* in that file */
    const char *region;         /* "[heap]", "[stack]", "" */
};

/* path: of the copy. If there is none, or it cannot be read (which is an error, but *out is set), there are no
 * places. */
int places_open(const char *path, struct traced_images *images, struct places **out,
                struct fathom_error *err);
void places_close(struct places *places); /* NULL is allowed */
/* false: nothing was mapped at the address. */
bool places_at(const struct places *places, uint64_t address, struct place *out);

#endif
