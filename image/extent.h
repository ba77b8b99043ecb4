/*
 * extent.h - finds the end of a function of unknown size by its own code. Private to image/.
 *
 * Symbols without a size (hand-written labels, the entry point in the header of a stripped file) often lie
 * directly before other functions' code. Only what control can reach from them without a call belongs to them.
 */
#ifndef FATHOM_IMAGE_EXTENT_H
#define FATHOM_IMAGE_EXTENT_H

#include "image/elf/elf_file.h"

/* The end of the code at `start`, at most `stop`: behind the first instruction that does not continue and that no
 * earlier branch goes beyond. A jump further ahead (a tail call, or around a block) counts as a branch if it
 * stays within EXTENT_JUMP bytes. Returns `start` if there is no instruction. */
uint64_t extent_end(const struct elf_file *file, uint64_t start, uint64_t stop);

#define EXTENT_JUMP                                                                                          \
    128 /* bytes, the reach of a two-byte jump: longer ones in code without FDEs are nearly all tail calls */

#endif
