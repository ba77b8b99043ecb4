/*
 * growth.h - each function's frame according to its code and CFI, by how much it can grow in place, and which
 * calls are made within it.
 *
 * A frame grows by a pad directly below the saved registers: the instructions that allocate or free it do so by
 * more bytes, and SP-relative operands that address saved registers, the return address or the caller's arguments
 * reach further. Where locals are addressed by BP, the pad is below them, too. A function and its .cold parts are
 * one unit.
 *
 * A function is only resizable if all of its code is understood: each instruction is reached with one known
 * distance of SP from the CFA, which is the distance in the CFI. A frame that is made by pushes alone, or freed
 * by a pop, has no number to change: it grows by added instructions. ICPP (OOPSLA 2009), section 5: activation
 * record resizing.
 */
#ifndef FATHOM_REWRITE_GROWTH_GROWTH_H
#define FATHOM_REWRITE_GROWTH_GROWTH_H

#include "image/image.h"

/* The largest growth of a frame. Below a page, so that a stack overflow still hits the guard page. */
#define GROWTH_MOST 4080 /* bytes */

enum growth_refusal { /* why a function is left alone */
                      GROWTH_RESIZABLE,
                      GROWTH_NOT_A_FUNCTION, /* a .cold part, which belongs to another, or a stub of the PLT */
                      GROWTH_NO_FRAME,
                      GROWTH_PUSHED,
                      GROWTH_NO_ROOM,
                      GROWTH_NO_ROOM_CFI,
                      GROWTH_NO_CFI,
                      GROWTH_CFI_DIFFERS,
                      GROWTH_CFI_UNSUPPORTED,
                      GROWTH_CODE_UNKNOWN,
                      GROWTH_CODE_UNREACHED,
                      GROWTH_JUMP_UNKNOWN,
                      GROWTH_JUMPS_OUT,
                      GROWTH_ENTERED,
                      GROWTH_ENDS_OPEN,
                      GROWTH_REALIGNED,
                      GROWTH_STACK_UNKNOWN,
                      GROWTH_POPPED,
                      GROWTH_SAVED_BELOW,
                      GROWTH_RED_ZONE,
                      GROWTH_ADDRESS_ABOVE,
                      GROWTH_ADDRESS_TAKEN,
                      GROWTH_MIXED,
                      GROWTH_OPERAND,
                      GROWTH_LANDING_PADS,
                      GROWTH_DEBUG_FRAME,
                      GROWTH_REFUSALS /* their number */
};

struct growth; /* of all functions of one image; read-only once built */

/* The image must outlive it. -ENOMEM; -ESTALE: the image's file has changed. */
int growth_new(const struct image *image, struct growth **out, struct fathom_error *err);
void growth_free(struct growth *growth); /* NULL is allowed */

/* The largest pad, bytes, of the function with this index in the image; every multiple of PAD_UNIT up to it fits.
 * 0: none; the refusal has the reason. */
uint32_t growth_most(const struct growth *growth, uint32_t function);
enum growth_refusal growth_refusal(const struct growth *growth, uint32_t function);
/* The reason as the end of a sentence: "its frame ..." */
const char *growth_refusal_text(enum growth_refusal refusal);
/* Whether its frame could grow by any number of bytes up to GROWTH_MOST if the numbers in code and CFI could be
 * wider, as they can in a function that is emitted anew (move/move.h). */
bool growth_is_understood(const struct growth *growth, uint32_t function);
/* Whether its frame, which is made by pushes or freed by pops, could grow so by added instructions that move SP. */
bool growth_by_insertion(const struct growth *growth, uint32_t function);
/* Whether the callee of this call moves with its caller's pad, as the frame is allocated there. false for
 * functions that cannot grow. */
bool growth_shifted(const struct growth *growth, uint64_t return_address);
/* Whether all calls of the function are such calls. */
bool growth_all_shifted(const struct growth *growth, uint32_t function);
/* Address of what was refused; 0: nothing in particular. */
uint64_t growth_where(const struct growth *growth, uint32_t function);
/* Whether the function calls others (tail jumps are no calls): only then does the size of its frame matter. */
bool growth_calls(const struct growth *growth, uint32_t function);

#endif
