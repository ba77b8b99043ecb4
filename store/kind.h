/* kind.h - the stored numbers of frame kinds: they do not change when enum frame_kind does. */
#ifndef FATHOM_STORE_KIND_H
#define FATHOM_STORE_KIND_H

#include "profile/frames.h"

static const uint8_t stored_kinds[] = {
    [FRAME_FUNCTION] = 0, [FRAME_INLINED] = 1, [FRAME_UNKNOWN_CONTEXT] = 2, [FRAME_DATA] = 3,
    [FRAME_FOUND] = 4,    [FRAME_UNSURE] = 5,  [FRAME_KERNEL] = 6,          [FRAME_LINE] = 7,
    [FRAME_PARTIAL] = 8,  [FRAME_LABEL] = 9,   [FRAME_LEVEL] = 10,          [FRAME_SCRIPT] = 11,
    [FRAME_WAKER] = 12};

/* An unknown number, as from a later version, is treated as a label. */
static inline enum frame_kind frame_kind_of(uint8_t stored)
{
    for (unsigned kind = 0; kind < sizeof stored_kinds; kind++)
        if (stored_kinds[kind] == stored)
            return (enum frame_kind)kind;
    return FRAME_LABEL;
}

#endif
