/*
 * frames.h - what each function's frame is in its code and CFI, by how much it can grow in place, and which calls are
 * made inside of it.
 *
 * A frame grows by a pad directly below the registers that it saves: what allocates it allocates more, what frees it
 * frees more, and what addresses the saved registers, the return address or the caller's arguments through SP reaches
 * further. Where locals are addressed by BP, the pad is below them, too. A function and its .cold parts are one unit.
 *
 * A function is only resizable if all of its code is understood: each instruction is reached with one known distance
 * of SP from the CFA, which is the distance that the CFI tells. ICPP (OOPSLA 2009), section 5: activation record
 * resizing.
 */
#ifndef FATHOM_DISAMBIG_FRAMES_FRAMES_H
#define FATHOM_DISAMBIG_FRAMES_FRAMES_H

#include "image/image.h"

/* The most that a frame grows. Below a page, so that a stack overflow still meets the guard page. */
#define FRAMES_MOST 4080 /* bytes */

enum frames_refusal { /* why a function is left alone */
                      FRAMES_RESIZABLE,
                      FRAMES_NOT_A_FUNCTION, /* a .cold part, which belongs to another, or a stub of the PLT */
                      FRAMES_NO_FRAME,
                      FRAMES_PUSHED,
                      FRAMES_NO_ROOM,
                      FRAMES_NO_ROOM_CFI,
                      FRAMES_NO_CFI,
                      FRAMES_CFI_DIFFERS,
                      FRAMES_CFI_UNSUPPORTED,
                      FRAMES_CODE_UNKNOWN,
                      FRAMES_CODE_UNREACHED,
                      FRAMES_JUMP_UNKNOWN,
                      FRAMES_JUMPS_OUT,
                      FRAMES_ENTERED,
                      FRAMES_ENDS_OPEN,
                      FRAMES_REALIGNED,
                      FRAMES_STACK_UNKNOWN,
                      FRAMES_POPPED,
                      FRAMES_SAVED_BELOW,
                      FRAMES_RED_ZONE,
                      FRAMES_ADDRESS_ABOVE,
                      FRAMES_ADDRESS_TAKEN,
                      FRAMES_MIXED,
                      FRAMES_OPERAND,
                      FRAMES_LANDING_PADS,
                      FRAMES_DEBUG_FRAME,
                      FRAMES_REFUSALS /* how many */
};

struct frames; /* of all functions of one image; read-only once built */

/* The image must outlive it. -ENOMEM; -ESTALE: the image's file was changed. */
int frames_new(const struct image *image, struct frames **out, struct fathom_error *err);
void frames_free(struct frames *frames); /* NULL is allowed */

/* The largest pad, bytes, of the function with this index in the image; every multiple of PAD_UNIT up to it fits.
 * 0: none, and the refusal says why. */
uint32_t frames_most(const struct frames *frames, uint32_t function);
enum frames_refusal frames_refusal(const struct frames *frames, uint32_t function);
/* A sentence without its end: "its frame ..." */
const char *frames_refusal_text(enum frames_refusal refusal);
/* Whether the callee of this call moves with the pad of the function that makes it: the frame is allocated there.
 * false for calls of functions that cannot be resized. */
bool frames_shifted(const struct frames *frames, uint64_t return_address);
/* Address of what was refused; 0: nothing in particular. */
uint64_t frames_where(const struct frames *frames, uint32_t function);
/* Whether the function calls others (tail jumps are no calls): only then does the size of its frame matter. */
bool frames_calls(const struct frames *frames, uint32_t function);

#endif
