/*
 * pads.h - what is chosen, for those that apply it to an image: by how much a function's frame, or the stack of a call, grows.
 */
#ifndef FATHOM_REWRITE_PADS_H
#define FATHOM_REWRITE_PADS_H

#include <stdint.h>

#define PAD_UNIT 16u /* bytes: keeps the stack aligned as the ABI says */

struct pad {
    uint64_t address; /* the function's entry in the image */
    uint32_t bytes;   /* a multiple of PAD_UNIT */
    uint32_t copy;    /* of which copy of the function; 0: the first, which all of its pointers lead to */
};

/* A direct call that is wrapped: SP goes down before it and up behind it. */
struct wrap {
    uint64_t address; /* the entry, in the image, of the function that makes it */
    uint64_t site;    /* of the call instruction */
    uint32_t bytes;   /* a multiple of PAD_UNIT */
    uint32_t copy;    /* in which copy of the function */
};

#endif
