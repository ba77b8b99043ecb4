/* frame.c - see frame.h. */
#include "process/frame.h"

#include <string.h>

#include "perfdata/stack_record.h"

bool frame_read(const struct frame *frame, uint64_t address, uint64_t *out)
{
    const struct sample *s = frame->dump;
    uint64_t offset = address - s->sp;
    if (s->below && s->sp - address <= STACK_RECORD_BELOW && s->sp - address >= sizeof *out) {
        memcpy(out, s->below + (STACK_RECORD_BELOW - (s->sp - address)), sizeof *out);
        return true;
    }
    if (s->outer && address - s->outer_at <= STACK_RECORD_OUTER - sizeof *out) {
        memcpy(out, s->outer + (address - s->outer_at), sizeof *out);
        return true;
    }
    if (!s->stack || address < s->sp || s->stack_size < sizeof *out || offset > s->stack_size - sizeof *out)
        return false;
    memcpy(out, s->stack + offset, sizeof *out);
    return true;
}

static enum frame_end cfa_in_memory(const struct frame *frame, uint64_t address, uint64_t add, uint64_t *cfa)
{
    uint64_t word;
    if (!frame_read(frame, address, &word))
        return address < frame->dump->sp ? FRAME_BELOW : FRAME_BEYOND;
    *cfa = word + add;
    return FRAME_FOUND;
}

enum frame_end frame_cfa(const struct frame *frame, const struct cfi_row *row, uint64_t *cfa)
{
    uint64_t offset = (uint64_t)(int64_t)row->cfa_offset;
    switch (row->cfa) {
    case CFI_NONE:
        return FRAME_NO_CFI;
    case CFI_SP:
        *cfa = frame->sp + offset;
        return FRAME_FOUND;
    case CFI_BP:
        if (!frame->bp_known)
            return FRAME_UNSUPPORTED;
        *cfa = frame->bp + offset;
        return FRAME_FOUND;
    case CFI_BP_MEMORY:
        return frame->bp_known ? cfa_in_memory(frame, frame->bp + offset, row->cfa_add, cfa)
                               : FRAME_UNSUPPORTED;
    case CFI_SP_MEMORY:
        return cfa_in_memory(frame, frame->sp + offset, row->cfa_add, cfa);
    case CFI_SIGNAL_FRAME:
        return cfa_in_memory(frame, frame->sp + UCONTEXT_SP, 0, cfa);
    default:
        return FRAME_UNSUPPORTED;
    }
}
