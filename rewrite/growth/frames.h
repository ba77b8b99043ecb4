/* frames.h - the results for each frame of an image, for the code that changes frames. Private to rewrite/ and disambig/. */
#ifndef FATHOM_REWRITE_GROWTH_FRAMES_H
#define FATHOM_REWRITE_GROWTH_FRAMES_H

#include "rewrite/growth/unit.h"

struct frame {
    uint16_t most; /* bytes */
    uint8_t refusal;
    bool calls;
    bool leaves_some; /* some calls are made without the frame */
    bool inserting;   /* it can grow by added instructions */
    uint64_t where;   /* address of what was refused; 0: nothing in particular */
};

struct growth {
    struct whole whole;
    struct frame *items; /* by function */
    uint32_t count;
    uint64_t *shifted; /* return addresses, ascending */
    size_t shifted_count, shifted_capacity;
};

#endif
