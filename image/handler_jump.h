/*
 * handler_jump.h - where the unwinder of exceptions has put a handler's registers into its own frame.
 */
#ifndef FATHOM_IMAGE_HANDLER_JUMP_H
#define FATHOM_IMAGE_HANDLER_JUMP_H

#include "image/image.h"

/* Whether libgcc's _Unwind_Resume() or one of its kind is at this address (a PC or a return address) about to jump to
 * a landing pad: uw_install_context() (libgcc/unwind-dw2.c) overwrites the registers that CFI says are saved in the
 * frame with those of the landing pad's frame, while the return address still is the caller's. Found by decoding from
 * the address on: at most the call of the debugger's hook, then the shadow stack is popped (rdssp) or the jump is
 * there. */
bool image_jumps_to_handler(const struct image *image, uint32_t function, uint64_t address);

#endif
