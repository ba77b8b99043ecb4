/*
 * whole.h - what the analysis of one function must know about the rest of its image. Private to rewrite/.
 */
#ifndef FATHOM_REWRITE_GROWTH_WHOLE_H
#define FATHOM_REWRITE_GROWTH_WHOLE_H

#include "image/calls/jumps.h"
#include "image/cfi/frames.h"
#include "image/image.h"

struct whole_range {
    uint64_t start, end;
};

struct whole {
    const struct image *image;
    struct cfi_frames cfi; /* the FDEs and their bytes */
    struct calls_jumps *jumps;
    uint32_t *parts; /* functions of the image by owner, then address: each with its .cold parts */
    uint32_t *first; /* for each function: its first part; one more for the end */
    /* Addresses in the middle of functions that are targets of pointers in data or code (labels), or of branches
     * in other functions (entered); ascending. */
    uint64_t *labels, *entered;
    size_t label_count, label_capacity, entered_count, entered_capacity;
    struct whole_range *debug_frames; /* what .debug_frame covers, ascending */
    size_t debug_frame_count, debug_frame_capacity;
};

/* 0, -ENOMEM or -ESTALE. */
int whole_read(const struct image *image, struct whole *out, struct fathom_error *err);
void whole_free(struct whole *whole);

/* Reads .debug_frame's ranges; a table that cannot be read covers everything. */
int whole_read_debug_frame(struct whole *whole, struct fathom_error *err);

#endif
