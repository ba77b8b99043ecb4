/*
 * handler_jump.h - finds where the unwinder of exceptions has put a handler's registers into its own frame.
 */
#ifndef FATHOM_IMAGE_HANDLER_JUMP_H
#define FATHOM_IMAGE_HANDLER_JUMP_H

#include "image/image.h"

/* Whether libgcc's _Unwind_Resume() or a similar function is, at this PC or return address, about to jump to a
 * landing pad. uw_install_context() (libgcc/unwind-dw2.c) overwrites the saved registers in its frame with those
 * of the landing pad's frame, while the return address is still the caller's. Found by decoding from the address
 * on: at most the call of the debugger's hook, then the shadow stack is popped (rdssp), or the jump follows. */
bool image_jumps_to_handler(const struct image *image, uint32_t function, uint64_t address);

#endif
