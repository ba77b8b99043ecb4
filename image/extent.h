/*
 * extent.h - where a function of unknown size ends, by its own code. Private to image/.
 *
 * Symbols without a size (hand-written labels, the entry point that stripped files still tell) stand in front of other functions'
 * code as often as not: what is theirs is what control can reach from them without a call.
 */
#ifndef FATHOM_IMAGE_EXTENT_H
#define FATHOM_IMAGE_EXTENT_H

#include "image/elf/elf_file.h"

/* The end of the code at `start`, at most `stop`: behind the first instruction that does not continue, beyond which no branch
 * before it leads. A jump that leads further on (a tail call, or around a block) counts as a branch if it stays within
 * EXTENT_JUMP bytes. `start` itself: there is no instruction. */
uint64_t extent_end(const struct elf_file *file, uint64_t start, uint64_t stop);

#define EXTENT_JUMP                                                                                          \
    128 /* bytes, what a jump of two bytes reaches: longer ones in code without FDEs are nearly all tail calls */

#endif
