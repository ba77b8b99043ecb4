/*
 * frame_state.h - what is known of a frame before an instruction: where the CFA is, and the caller's BP. Private to image/.
 *
 * A frame that is aligned to more than 16 bytes is reached from a BP whose distance from the CFA is not known: gcc keeps the CFA in a
 * register (its DRAP: lea 8(%rsp),%r10; and $-32,%rsp; push -8(%r10); push %rbp; mov %rsp,%rbp; push %r10), and returns by
 * lea -8(%r10),%rsp.
 */
#ifndef FATHOM_IMAGE_FRAME_STATE_H
#define FATHOM_IMAGE_FRAME_STATE_H

#include "image/cfi/cfi.h"
#include "image/code/code.h"

#define FRAME_STATE_OPEN (-1) /* not a fixed number of bytes */

enum saved_bp {
    BP_SAME,   /* in BP */
    BP_SAVED,  /* in its slot */
    BP_PUSHED, /* at SP, whose distance from the CFA is not known */
    BP_AT_BP,  /* where BP points, in an aligned frame */
    BP_LOST,
};

struct frame_state {
    int32_t depth; /* CFA - SP, or open */
    int32_t frame; /* CFA - BP, if BP is a frame pointer; 0: it is none */
    int32_t slot;  /* CFA - the address where the caller's BP was pushed; 0: it was not */
    int32_t below; /* of an aligned frame: BP - SP, or open */
    int32_t saved; /* likewise: BP - the address of the word that has the CFA; 0: none is known */
    uint8_t bp;    /* enum saved_bp */
    uint8_t drap;  /* the register that is the CFA; 0: none is known */
    bool seen;
};

extern const struct frame_state frame_state_entry; /* of a function */

bool frame_state_same(const struct frame_state *a, const struct frame_state *b);
/* What is known where both lead. */
struct frame_state frame_state_meet(struct frame_state a, const struct frame_state *b);
/* After an instruction. */
struct frame_state frame_state_step(struct frame_state state, const struct code_insn *insn,
                                    const uint8_t *bytes);
/* The same where functions begin their frames by push %rbp; mov %rsp,%rbp, whatever they did with the stack before: V8's builtins take
 * their return address, and push arguments and it again. */
struct frame_state frame_state_by_frame(struct frame_state after, const struct code_insn *insn,
                                        const uint8_t *bytes);
/* Whether a function may be left so: as it was entered. */
bool frame_state_clean(const struct frame_state *state);
/* Whether nothing tells where the CFA is. */
bool frame_state_lost(const struct frame_state *state);
struct cfi_row frame_state_row(const struct frame_state *state);
/* push of a register that the callee saves: how functions begin, but hardly a case or a label. */
bool frame_state_saves(const uint8_t *bytes, size_t size);
#define FRAME_STATE_SAVE 2u /* bytes of it at most */
/* mov %rsp,%rbp or lea x(%rsp),%rbp: sets how far BP is above SP. */
bool frame_state_begins(const uint8_t *bytes, size_t length, int32_t *above);

#endif
