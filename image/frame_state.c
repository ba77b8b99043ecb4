/* frame_state.c - see frame_state.h. */
#include "image/frame_state.h"

#include <string.h>

#define OPEN      FRAME_STATE_OPEN
#define DEPTH_MAX (1 << 30) /* bytes */

enum { PUSH_BP = 0x55, POP_BP = 0x5d, LEAVE = 0xc9 };

const struct frame_state frame_state_entry = {.depth = 8, .below = OPEN, .seen = true};

bool frame_state_same(const struct frame_state *a, const struct frame_state *b)
{
    return a->depth == b->depth && a->frame == b->frame && a->slot == b->slot && a->bp == b->bp &&
           a->below == b->below && a->saved == b->saved && a->drap == b->drap;
}

struct frame_state frame_state_meet(struct frame_state a, const struct frame_state *b)
{
    a.depth = a.depth == b->depth ? a.depth : OPEN;
    a.frame = a.frame == b->frame ? a.frame : 0;
    a.below = a.below == b->below ? a.below : OPEN;
    a.saved = a.saved == b->saved ? a.saved : 0;
    a.drap = a.drap == b->drap ? a.drap : 0;
    if (a.bp != b->bp || a.slot != b->slot)
        a.bp = BP_LOST;
    a.slot = a.slot == b->slot ? a.slot : 0;
    return a;
}

bool frame_state_clean(const struct frame_state *s)
{
    return s->depth == 8 && s->bp == BP_SAME;
}

bool frame_state_lost(const struct frame_state *s)
{
    return s->depth == OPEN && !s->frame && !s->saved;
}

static int32_t bounded(int64_t bytes)
{
    return bytes >= 0 && bytes < DEPTH_MAX ? (int32_t)bytes : OPEN;
}

static void set_depth(struct frame_state *s, int64_t depth)
{
    s->depth = bounded(depth);
    if ((s->bp == BP_SAVED && s->depth != OPEN && s->depth < s->slot) || s->bp == BP_PUSHED)
        s->bp = BP_LOST; /* its slot is gone */
}

/* SP - bytes. */
static void move_sp(struct frame_state *s, int64_t bytes)
{
    set_depth(s, s->depth == OPEN ? -1 : s->depth + bytes);
    s->below = s->below == OPEN ? OPEN : bounded(s->below + bytes);
}

bool frame_state_saves(const uint8_t *bytes, size_t size)
{
    const bool wide = size > 1 && bytes[0] == 0x41;
    return wide ? bytes[1] >= 0x54 && bytes[1] <= 0x57 /* r12 to r15 */
                : size && (bytes[0] == 0x53 || bytes[0] == PUSH_BP);
}

bool frame_state_begins(const uint8_t *bytes, size_t length, int32_t *above)
{
    static const uint8_t move[] = {0x48, 0x89, 0xe5}, move_too[] = {0x48, 0x8b, 0xec},
                         lea[] = {0x48, 0x8d, 0x6c, 0x24}, lea_far[] = {0x48, 0x8d, 0xac, 0x24};
    *above = 0;
    if (length == 3)
        return memcmp(bytes, move, 3) == 0 || memcmp(bytes, move_too, 3) == 0;
    if (length == 5 && memcmp(bytes, lea, sizeof lea) == 0)
        *above = (int8_t)bytes[4];
    else if (length == 8 && memcmp(bytes, lea_far, sizeof lea_far) == 0)
        memcpy(above, bytes + 4, 4);
    else
        return false;
    return true;
}

static void push_bp(struct frame_state *s)
{
    const bool same = s->bp == BP_SAME;
    move_sp(s, 8);
    if (same)
        s->bp = s->depth != OPEN ? BP_SAVED : BP_PUSHED;
    if (same && s->depth != OPEN)
        s->slot = s->depth;
}

/* The slot at SP, which is CFA - depth or, in an aligned frame, BP - below, goes to BP. */
static void pop_bp(struct frame_state *s)
{
    const bool own = (s->bp == BP_SAVED && s->depth == s->slot) || (s->bp == BP_AT_BP && s->below == 0);
    s->frame = s->saved = 0;
    s->below = OPEN;
    s->depth = s->depth == OPEN ? OPEN : s->depth - 8;
    s->bp = own ? BP_SAME : s->bp == BP_SAVED && s->depth >= s->slot ? BP_SAVED : BP_LOST;
    s->slot = own ? 0 : s->slot;
}

static void leave_frame(struct frame_state *s)
{
    s->depth = s->frame ? s->frame : OPEN;
    s->below = s->bp == BP_AT_BP ? 0 : OPEN;
    pop_bp(s);
}

static void begin_frame(struct frame_state *s, int32_t above)
{
    const bool aligned = s->bp == BP_PUSHED && above == 0;
    s->frame = s->depth == OPEN || s->depth - above <= 0 ? 0 : s->depth - above;
    s->below = aligned ? 0 : OPEN;
    s->saved = 0;
    s->bp = aligned                                                       ? BP_AT_BP
            : s->bp == BP_SAME || s->bp == BP_PUSHED || s->bp == BP_AT_BP ? BP_LOST
                                                                          : s->bp;
}

/* The register of a push or pop; 0: of BP or none. */
static unsigned stack_register(const struct code_insn *insn, const uint8_t *bytes, uint8_t opcode)
{
    const bool wide = insn->length == 2 && bytes[0] == 0x41;
    const uint8_t byte = bytes[wide];
    return (wide || insn->length == 1) && (byte & 0xf8) == opcode ? (byte & 7u) + wide * 8u : 0;
}

/* Whether an instruction loads the word that has the CFA to a register: pop, or mov x(%rbp). */
static bool loads_drap(const struct frame_state *s, const struct code_insn *insn, const uint8_t *bytes)
{
    if (s->saved == 0)
        return false;
    if (stack_register(insn, bytes, 0x58))
        return s->below == s->saved;
    return insn->effect == CODE_LOAD && insn->base == CODE_BP && insn->displacement == -s->saved;
}

/* The register that is the CFA afterwards, of those that an instruction writes; 0: none. */
static uint8_t new_drap(const struct frame_state *s, const struct code_insn *insn, const uint8_t *bytes)
{
    const bool lea = insn->length >= 5 && (bytes[0] & 0xfb) == 0x48 && bytes[1] == 0x8d &&
                     insn->base == CODE_SP && insn->index == CODE_NO_REGISTER;
    const unsigned reg = __builtin_ctz(insn->written | 1u << 16);
    if ((lea && s->depth != OPEN && insn->displacement == s->depth) || loads_drap(s, insn, bytes))
        return (uint8_t)(reg & 15u);
    return 0;
}

static void track_drap(struct frame_state *s, const struct frame_state *before, const struct code_insn *insn,
                       const uint8_t *bytes)
{
    const bool caller_saved = s->drap == 10 || s->drap == 11;
    const uint8_t drap = new_drap(before, insn, bytes);
    if (before->drap && stack_register(insn, bytes, 0x50) == before->drap && s->below != OPEN)
        s->saved = s->below;
    if (drap)
        s->drap = drap;
    else if (s->drap && (insn->written & 1u << s->drap ||
                         (caller_saved && (insn->kind == CODE_CALL || insn->kind == CODE_CALL_INDIRECT))))
        s->drap = 0;
}

/* lea x(%r10),%rsp where R10 is the CFA; else SP is open. */
static void set_sp(struct frame_state *s, const struct code_insn *insn, const uint8_t *bytes)
{
    const bool lea = insn->length >= 4 && bytes[1] == 0x8d && s->drap && insn->base == s->drap &&
                     insn->index == CODE_NO_REGISTER;
    s->depth = lea ? bounded(-(int64_t)insn->displacement) : OPEN;
    s->below = OPEN;
    s->bp = s->bp == BP_PUSHED ? BP_LOST : s->bp;
}

struct frame_state frame_state_step(struct frame_state s, const struct code_insn *insn, const uint8_t *bytes)
{
    const struct frame_state before = s;
    const bool short_one = insn->length == 1;
    int32_t above;
    if (short_one && bytes[0] == PUSH_BP) {
        push_bp(&s);
    } else if (short_one && bytes[0] == POP_BP) {
        pop_bp(&s);
    } else if (short_one && bytes[0] == LEAVE) {
        leave_frame(&s);
    } else if (frame_state_begins(bytes, insn->length, &above)) {
        begin_frame(&s, above);
    } else if (insn->stack == CODE_SP_MOVED) {
        move_sp(&s, insn->amount);
    } else if (insn->stack == CODE_SP_FROM_BP) {
        set_depth(&s, s.frame ? (int64_t)s.frame - insn->amount : -1);
        s.below = s.bp == BP_AT_BP ? bounded(-(int64_t)insn->amount) : OPEN;
    } else if (insn->stack == CODE_SP_OTHER) {
        set_sp(&s, insn, bytes);
    } else if (insn->written & 1u << CODE_BP) {
        s.frame = s.saved = 0;
        s.below = OPEN;
        s.bp = s.bp == BP_SAVED ? BP_SAVED : BP_LOST;
    }
    if (insn->kind == CODE_CALL && insn->target == insn->address + insn->length)
        move_sp(&s, 8); /* to learn its own address */
    track_drap(&s, &before, insn, bytes);
    return s;
}

struct frame_state frame_state_by_frame(struct frame_state s, const struct code_insn *insn,
                                        const uint8_t *bytes)
{
    int32_t above;
    if (frame_state_begins(bytes, insn->length, &above) && above == 0)
        s = (struct frame_state){
            .depth = s.depth, .frame = 16, .slot = 16, .below = OPEN, .bp = BP_SAVED, .seen = true};
    if (s.depth < 8)
        s.depth = OPEN; /* it took its return address */
    return s;
}

struct cfi_row frame_state_row(const struct frame_state *s)
{
    struct cfi_row row = {.cfa = CFI_NONE, .bp = CFI_BP_UNKNOWN, .derived = true};
    if (!s->seen || frame_state_lost(s))
        return row;
    row.cfa = s->depth != OPEN ? CFI_SP : s->frame ? CFI_BP : CFI_BP_MEMORY;
    row.cfa_offset = s->depth != OPEN ? s->depth : s->frame ? s->frame : -s->saved;
    if (s->bp == BP_SAME)
        row.bp = CFI_BP_SAME;
    else if (s->bp == BP_SAVED)
        row.bp = CFI_BP_AT_CFA;
    else if (s->bp == BP_AT_BP)
        row.bp = CFI_BP_AT_BP;
    row.bp_offset = row.bp == CFI_BP_AT_CFA ? -s->slot : 0;
    return row;
}
