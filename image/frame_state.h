/*
 * frame_state.h - what is known of a frame before an instruction: where the CFA is, and the caller's BP. Private
 * to image/.
 *
 * In a frame that is aligned to more than 16 bytes, the distances of SP and BP from the CFA are not known. A word
 * in the frame leads back to the CFA. gcc has the CFA in a register (its DRAP: lea 8(%rsp),%r10; and $-32,%rsp;
 * push -8(%r10); push %rbp; mov %rsp,%rbp; push %r10), and returns by lea -8(%r10),%rsp. Assembler code saves the
 * old SP (push %rbp; mov %rsp,%rax; and $-32,%rsp; mov %rax,(%rsp); mov %rsp,%rbp), and returns by mov
 * (%rsp),%rsp; or it has no BP, and addresses the word by SP. So addresses in such a frame are relative to a
 * mark: the value of SP when its distance from the CFA ceased to be known. While the depth is known there is no
 * mark.
 */
#ifndef FATHOM_IMAGE_FRAME_STATE_H
#define FATHOM_IMAGE_FRAME_STATE_H

#include "image/cfi/cfi.h"
#include "image/code/code.h"

#define FRAME_STATE_OPEN (-1)      /* not a fixed number of bytes */
#define FRAME_STATE_NONE INT32_MIN /* the same for values relative to the mark, which may be negative */

enum saved_bp {
    BP_SAME,    /* in BP; if there is a slot, also there, as with BP_SAVED */
    BP_SAVED,   /* in its slot, at CFA - slot */
    BP_AT_MARK, /* in its slot, at the mark - slot */
    BP_LOST,
};

struct frame_state {
    int32_t depth;     /* CFA - SP, or open */
    int32_t frame;     /* CFA - BP, if BP is a frame pointer; else 0 */
    int32_t slot;      /* where the caller's BP was saved, or 0 */
    int32_t below;     /* the mark - SP, or none */
    int32_t pointer;   /* the mark - BP, or none */
    int32_t saved;     /* the mark - the address of the word that leads to the CFA, or none */
    int32_t saved_far; /* CFA - that word */
    int32_t drap_far;  /* CFA - the register `drap` */
    uint8_t bp;        /* enum saved_bp */
    uint8_t drap;      /* a register whose distance from the CFA is known, or CODE_NO_REGISTER */
    bool seen;
};

extern const struct frame_state frame_state_entry; /* at a function's entry */

bool frame_state_same(const struct frame_state *a, const struct frame_state *b);
/* What is known where two paths with these states join. */
struct frame_state frame_state_meet(struct frame_state a, const struct frame_state *b);
/* The state after an instruction. */
struct frame_state frame_state_step(struct frame_state state, const struct code_insn *insn,
                                    const uint8_t *bytes);
/* After a call of a function that did not preserve the caller's BP. If BP is this frame's own, it was preserved,
 * as the code relies on it. */
void frame_state_lose_bp(struct frame_state *state);
/* The same in code where each function begins with push %rbp; mov %rsp,%rbp, whatever it did with the stack
 * before: V8's builtins pop their return address, push arguments, and push it again. */
struct frame_state frame_state_by_frame(struct frame_state after, const struct code_insn *insn,
                                        const uint8_t *bytes);
/* Whether the state is as at the entry, so that the function may return. */
bool frame_state_clean(const struct frame_state *state);
/* Whether the CFA is unknown. */
bool frame_state_lost(const struct frame_state *state);
struct cfi_row frame_state_row(const struct frame_state *state);
/* Whether it begins with a push of a callee-saved register: typical of a function, but not of a case or a label. */
bool frame_state_saves(const uint8_t *bytes, size_t size);
#define FRAME_STATE_SAVE 2u /* maximal length of that, bytes */
/* Whether it is mov %rsp,%rbp or lea x(%rsp),%rbp, which begins a frame. *above: BP - SP. */
bool frame_state_begins(const uint8_t *bytes, size_t length, int32_t *above);

#endif
