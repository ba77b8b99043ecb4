/*
 * pads.h - the chosen growth of functions' frames, or of the stack at calls, for the code that applies it to an
 * image.
 */
#ifndef FATHOM_REWRITE_PADS_H
#define FATHOM_REWRITE_PADS_H

#include <stdint.h>

#define PAD_UNIT 16u /* bytes: keeps the ABI's stack alignment */

struct pad {
    uint64_t address; /* the function's entry in the image */
    uint32_t bytes;   /* a multiple of PAD_UNIT */
    uint32_t copy;    /* of the function; 0: the first one, which all of its pointers lead to */
};

/* A direct call that is wrapped: SP is lowered before it and raised behind it. */
struct wrap {
    uint64_t address; /* entry of the function with the call, in the image */
    uint64_t site;    /* of the call instruction */
    uint32_t bytes;   /* a multiple of PAD_UNIT */
    uint32_t copy;    /* copy of the function with the call */
};

#endif
