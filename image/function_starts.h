/*
 * function_starts.h - finds functions in code that has neither symbols nor FDEs. Private to image/.
 *
 * The code is decoded from end to end. A function begins:
 *    - at the target of a direct call
 *    - behind code that does not continue: at endbr64 (if it is no landing pad, landing_pad.h), or where a pointer leads (in
 *      data, by lea or, in files at fixed addresses, as a constant)
 *    - behind a call, which may not return, where code takes the address and no branch leads
 *    - behind traps (int3) that fill up to 16 bytes
 *    - behind other padding to 16 bytes, unless a branch leads there, or if code with an FDE jumps there (a tail call)
 *    - behind padding where a callee-saved register is pushed, even if branches lead there (tail calls)
 * Cases of switches whose table is known are no functions. Code that is only behind padding, or is a branch
 * target, may still be a case or a block: such a function gets rows only if its exits are those of a function
 * (derive_flow.h).
 */
#ifndef FATHOM_IMAGE_FUNCTION_STARTS_H
#define FATHOM_IMAGE_FUNCTION_STARTS_H

#include "image/cfi/cfi.h"
#include "image/functions.h"

/* Adds unnamed functions to the given ones, which are sorted by address before and after. Linear in the size of
 * the code. 0 or -ENOMEM. */
int function_starts_add(const struct elf_file *file, const struct cfi *cfi, struct functions *functions);

#endif
