/* kind.h - the kinds of frames as numbers that stores keep: they stay the same whatever enum frame_kind becomes. */
#ifndef FATHOM_STORE_KIND_H
#define FATHOM_STORE_KIND_H

#include "profile/frames.h"

static const uint8_t stored_kinds[] = {
    [FRAME_FUNCTION] = 0, [FRAME_INLINED] = 1, [FRAME_UNKNOWN_CONTEXT] = 2, [FRAME_DATA] = 3,
    [FRAME_FOUND] = 4,    [FRAME_UNSURE] = 5,  [FRAME_KERNEL] = 6,          [FRAME_LINE] = 7,
    [FRAME_PARTIAL] = 8,  [FRAME_LABEL] = 9,   [FRAME_LEVEL] = 10,          [FRAME_SCRIPT] = 11,
    [FRAME_WAKER] = 12};

/* A number that is not known, as of a later version, is a label's. */
static inline enum frame_kind frame_kind_of(uint8_t stored)
{
    for (unsigned kind = 0; kind < sizeof stored_kinds; kind++)
        if (stored_kinds[kind] == stored)
            return (enum frame_kind)kind;
    return FRAME_LABEL;
}

#endif
