/*
 * leaf_writes.h - which registers a function may change that calls nothing. Private to image/.
 *
 * Assembler keeps in registers that callees may change, over calls, what its own helpers leave alone: x264's the caller's SP, in RCX.
 */
#ifndef FATHOM_IMAGE_LEAF_WRITES_H
#define FATHOM_IMAGE_LEAF_WRITES_H

#include "image/image.h"

#define LEAF_WRITES_ALL 0xffffu

/* Of what is called at an address: bit n: register n (image/code/code.h). LEAF_WRITES_ALL: it calls something, jumps to what is not known,
 * or is long. */
uint16_t leaf_writes(const struct image *image, uint64_t address);

#endif
