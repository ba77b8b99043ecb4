/* frames.h - what is known of each frame of an image, for the code that changes them. Private to disambig/. */
#ifndef FATHOM_REWRITE_GROWTH_FRAMES_H
#define FATHOM_REWRITE_GROWTH_FRAMES_H

#include "rewrite/growth/unit.h"

struct frame {
    uint16_t most; /* bytes */
    uint8_t refusal;
    bool calls;
    bool leaves_some; /* calls that are made without the frame */
    bool inserting;   /* it can grow with instructions that are added */
    uint64_t where;   /* of what was refused; 0: nothing in particular */
};

struct growth {
    struct whole whole;
    struct frame *items; /* one for each function */
    uint32_t count;
    uint64_t *shifted; /* return addresses, ascending */
    size_t shifted_count, shifted_capacity;
};

#endif
