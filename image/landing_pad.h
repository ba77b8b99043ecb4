/*
 * landing_pad.h - how landing pads begin, where no LSDA tells of them. Private to image/.
 *
 * Unwinders pass the exception in RAX, which a pad copies before anything sets it. What else begins there does not know what is in RAX.
 */
#ifndef FATHOM_IMAGE_LANDING_PAD_H
#define FATHOM_IMAGE_LANDING_PAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether an instruction is a mov from all of RAX to another register. */
static inline bool landing_pad_copies(const uint8_t *bytes, size_t length)
{
    return length == 3 && (bytes[0] & 0xfe) == 0x48 && bytes[1] == 0x89 && (bytes[2] & 0xf8) == 0xc0;
}

#endif
