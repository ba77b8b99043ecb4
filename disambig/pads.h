/* pads.h - what the search chooses and the patcher applies: by how much a function's frame grows. */
#ifndef FATHOM_DISAMBIG_PADS_H
#define FATHOM_DISAMBIG_PADS_H

#include <stdint.h>

#define PAD_UNIT 16u /* bytes: keeps the stack aligned as the ABI says */

struct pad {
    uint64_t address; /* the function's entry in the image */
    uint32_t bytes;   /* a multiple of PAD_UNIT */
    uint32_t copy;    /* of which copy of the function; 0: the first, which all of its pointers lead to */
};

#endif
