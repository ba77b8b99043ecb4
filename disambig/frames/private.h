/* private.h - the frames of an image, for the patcher. Private to disambig/. */
#ifndef FATHOM_DISAMBIG_FRAMES_PRIVATE_H
#define FATHOM_DISAMBIG_FRAMES_PRIVATE_H

#include "disambig/frames/unit.h"

struct frame {
    uint16_t most; /* bytes */
    uint8_t refusal;
    bool calls;
    uint64_t where; /* of what was refused; 0: nothing in particular */
};

struct frames {
    struct whole whole;
    struct frame *items; /* one for each function */
    uint32_t count;
    uint64_t *shifted; /* return addresses, ascending */
    size_t shifted_count, shifted_room;
};

#endif
