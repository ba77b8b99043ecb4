/* proof_stack.c - writes the stack that a proved chain was read from; see proof.h. */
#include "infer/chains/proof_private.h"

#include <string.h>

/* Where the stacks of samples without registers are put: 16 MiB for each of at most 2^22 threads. */
#define MADE_BASE  UINT64_C(0x100000000000)
#define MADE_SHIFT 24

static void set_frames(struct prover *p, uint64_t innermost)
{
    uint64_t cfa = innermost, bp = 0;
    for (size_t i = 0; i < p->count; i++) {
        cfa += i ? p->frames[i].rise : 0;
        p->frames[i].cfa = cfa;
    }
    for (size_t i = p->count; i-- > 0;) {
        struct proof_frame *frame = &p->frames[i];
        if (frame->row.cfa == CFI_BP)
            bp = frame->cfa - (uint64_t)(int64_t)frame->row.cfa_offset;
        else if (i ? frame->row.bp != CFI_BP_SAME : !proof_leaves_bp(&frame->row))
            bp = 0; /* saved and not used */
        frame->bp = bp;
    }
}

/* Places the innermost frame's CFA by the sample's registers, or without these so that the thread's outermost frame is at its
 * made-up address. */
static bool place_frames(struct prover *p, const struct sample *sample, uint64_t *sp)
{
    const struct proof_frame *first = &p->frames[0];
    const uint64_t offset = (uint64_t)(int64_t)first->row.cfa_offset;
    if (sample->has_regs) {
        *sp = sample->sp;
        set_frames(p, (first->row.cfa == CFI_BP ? sample->bp : sample->sp) + offset);
        bool other = first->row.cfa == CFI_SP && first->bp && first->bp != sample->bp;
        return first->cfa > *sp && !other;
    }
    set_frames(p, 0);
    uint64_t height = p->frames[p->count - 1].cfa;
    if (height > PROOF_STACK_BYTES)
        return false;
    set_frames(p, MADE_BASE + ((uint64_t)(sample->tid + 1) << MADE_SHIFT) - height - 16);
    *sp = first->row.cfa == CFI_BP ? first->bp : first->cfa - offset;
    return true;
}

static bool put_word(struct prover *p, uint64_t sp, uint64_t address, uint64_t value)
{
    uint64_t at = address - sp;
    if (address < sp || at > PROOF_STACK_BYTES - 8)
        return false;
    memcpy((uint8_t *)p->stack + at, &value, sizeof value);
    return true;
}

/* Writes return addresses, and the BPs that frames saved. A slot below SP was popped: BP is the caller's again. */
static bool put_words(struct prover *p, uint64_t sp, bool whole)
{
    bool fits = true;
    for (size_t i = 0; i < p->count && fits; i++) {
        const struct proof_frame *frame = &p->frames[i];
        uint64_t slot = frame->cfa + (uint64_t)(int64_t)frame->row.bp_offset;
        if (frame->row.bp == CFI_BP_AT_CFA && slot >= sp && i + 1 < p->count)
            fits = put_word(p, sp, slot, p->frames[i + 1].bp);
        if (fits && i + 1 < p->count)
            fits = put_word(p, sp, frame->cfa - 8, p->frames[i + 1].pc);
    }
    uint64_t end = p->frames[p->count - 1].cfa - (whole ? 0 : 8);
    return fits && end >= sp && end - sp <= PROOF_STACK_BYTES;
}

/* Whether unwinding the written stack gives the frames that it was written for. */
static bool is_unwound(struct prover *p, const struct sample *made, bool whole)
{
    enum unwind_end end;
    size_t count = unwind_sample(p->process, made, p->unwound, PROOF_FRAMES + 1, &end);
    if (whole ? end != UNWIND_ROOT : end != UNWIND_CUT)
        return false;
    for (size_t i = 0; i < count && i < p->count; i++)
        if (p->unwound[i].pc != p->frames[i].pc)
            return false;
    /* A thread's walk ends at its base, if that is known, before the frame that started the thread. */
    return count == p->count || (whole && count + 1 == p->count);
}

bool proof_write_stack(struct prover *p, const struct sample *sample, bool whole, struct sample *out)
{
    uint64_t sp;
    if (!place_frames(p, sample, &sp))
        return false;
    uint64_t size = p->frames[p->count - 1].cfa - sp;
    if (size > PROOF_STACK_BYTES)
        return false;
    memset(p->stack, 0, size);
    if (!put_words(p, sp, whole))
        return false;
    struct sample made = *sample;
    if (!sample->has_regs) {
        made.has_regs = true;
        made.user_regs = true;
        made.reg_ip = p->frames[0].pc;
        made.sp = sp;
        made.bp = p->frames[0].bp;
    }
    made.chain = SAMPLE_CHAIN_PROVED;
    made.stack = (const uint8_t *)p->stack;
    made.stack_size = (uint32_t)(size - (whole ? 0 : 8));
    if (!is_unwound(p, &made, whole))
        return false;
    *out = made;
    return true;
}
