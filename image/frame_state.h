/*
 * frame_state.h - what is known of a frame before an instruction: where the CFA is, and the caller's BP. Private to image/.
 *
 * A frame that is aligned to more than 16 bytes is reached from an SP and a BP whose distance from the CFA is not known. What leads back
 * is a word in it. gcc keeps the CFA in a register (its DRAP: lea 8(%rsp),%r10; and $-32,%rsp; push -8(%r10); push %rbp; mov %rsp,%rbp;
 * push %r10), and returns by lea -8(%r10),%rsp. Assembler code keeps the SP that it had (push %rbp; mov %rsp,%rax; and $-32,%rsp;
 * mov %rax,(%rsp); mov %rsp,%rbp), and returns by mov (%rsp),%rsp; or has no BP, and finds the word by SP. So what is known of such a
 * frame is relative to a mark: SP as it was when its distance from the CFA ceased to be known. Where the depth is known there is none.
 */
#ifndef FATHOM_IMAGE_FRAME_STATE_H
#define FATHOM_IMAGE_FRAME_STATE_H

#include "image/cfi/cfi.h"
#include "image/code/code.h"

#define FRAME_STATE_OPEN (-1)      /* not a fixed number of bytes */
#define FRAME_STATE_NONE INT32_MIN /* the same of what is relative to the mark, which may be negative */

enum saved_bp {
    BP_SAME,    /* in BP; if there is a slot, there, too, as of BP_SAVED */
    BP_SAVED,   /* in its slot, at CFA - slot */
    BP_AT_MARK, /* in its slot, at the mark - slot */
    BP_LOST,
};

struct frame_state {
    int32_t depth;     /* CFA - SP, or open */
    int32_t frame;     /* CFA - BP, if BP is a frame pointer; 0: it is none */
    int32_t slot;      /* of the caller's BP, if it was saved; else 0 */
    int32_t below;     /* the mark - SP, or none */
    int32_t pointer;   /* the mark - BP, or none */
    int32_t saved;     /* the mark - the address of the word that leads to the CFA, or none */
    int32_t saved_far; /* CFA - that word */
    int32_t drap_far;  /* CFA - the register `drap` */
    uint8_t bp;        /* enum saved_bp */
    uint8_t drap;      /* a register whose distance from the CFA is known, or CODE_NO_REGISTER */
    bool seen;
};

extern const struct frame_state frame_state_entry; /* of a function */

bool frame_state_same(const struct frame_state *a, const struct frame_state *b);
/* What is known where both lead. */
struct frame_state frame_state_meet(struct frame_state a, const struct frame_state *b);
/* After an instruction. */
struct frame_state frame_state_step(struct frame_state state, const struct code_insn *insn,
                                    const uint8_t *bytes);
/* What was called did not keep the caller's BP. Where BP is the frame's own, it did: its code relies on it. */
void frame_state_lose_bp(struct frame_state *state);
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
