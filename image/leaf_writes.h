/*
 * leaf_writes.h - which registers a leaf function may change. Private to image/.
 *
 * Assembler keeps values in caller-saved registers over calls of its own helpers, which do not change them: x264
 * has the caller's SP in RCX.
 */
#ifndef FATHOM_IMAGE_LEAF_WRITES_H
#define FATHOM_IMAGE_LEAF_WRITES_H

#include "image/image.h"

#define LEAF_WRITES_ALL 0xffffu

/* Registers changed by the function at an address: bit n: register n (image/code/code.h). LEAF_WRITES_ALL: it is
 * no leaf, jumps to an unknown target, or is long. */
uint16_t leaf_writes(const struct image *image, uint64_t address);

#endif
