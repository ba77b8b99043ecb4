/*
 * function_starts.h - where functions begin in code that has neither symbols nor FDEs. Private to image/.
 *
 * The code is decoded from end to end. A function begins where a direct call leads; behind code that does not go on, where endbr64
 * is (but a landing pad, landing_pad.h) or a pointer leads (of data, or taken by lea or, in files at fixed addresses, as a constant); behind
 * a call, which may not return, where code takes the address and no branch leads; behind traps (int3) that fill up to 16 bytes; behind other
 * padding to 16 bytes, unless a branch leads to it, or where a jump of code that an FDE covers leads to it, which is a tail call; and where a
 * register that the callee saves is pushed behind padding, though branches lead there, for tail calls. Cases of
 * switches whose table is known are no functions. What is behind padding alone, or is branched to, may still be a case or a block: rows are
 * derived from such a function only
 * as far as its ways out are a function's (derive_flow.h).
 */
#ifndef FATHOM_IMAGE_FUNCTION_STARTS_H
#define FATHOM_IMAGE_FUNCTION_STARTS_H

#include "image/cfi/cfi.h"
#include "image/functions.h"

/* Adds functions without a name to those given, which are sorted by address, as they will be again. Linear in the file's code.
 * 0 or -ENOMEM. */
int function_starts_add(const struct elf_file *file, const struct cfi *cfi, struct functions *functions);

#endif
