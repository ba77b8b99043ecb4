/* frame_state.c - see frame_state.h. */
#include "image/frame_state.h"

#include <string.h>

#define OPEN      FRAME_STATE_OPEN
#define NONE      FRAME_STATE_NONE
#define DEPTH_MAX (1 << 30) /* bytes */

#define WORD      8       /* bytes */
#define CLOBBERED 0x0fc7u /* registers that a call may change: rax, rcx, rdx, rsi, rdi, r8 to r11 */

enum { PUSH = 0x50, PUSH_BP = 0x55, POP = 0x58, POP_BP = 0x5d, LEAVE = 0xc9 };

const struct frame_state frame_state_entry = {
    .depth = 8, .below = NONE, .pointer = NONE, .saved = NONE, .drap = CODE_NO_REGISTER, .seen = true};

bool frame_state_same(const struct frame_state *a, const struct frame_state *b)
{
    return a->depth == b->depth && a->frame == b->frame && a->slot == b->slot && a->bp == b->bp &&
           a->below == b->below && a->pointer == b->pointer && a->saved == b->saved &&
           a->saved_far == b->saved_far && a->drap == b->drap && a->drap_far == b->drap_far;
}

static void forget_saved(struct frame_state *s)
{
    s->saved = NONE;
    s->saved_far = 0;
}

static void forget_drap(struct frame_state *s)
{
    s->drap = CODE_NO_REGISTER;
    s->drap_far = 0;
}

struct frame_state frame_state_meet(struct frame_state a, const struct frame_state *b)
{
    a.depth = a.depth == b->depth ? a.depth : OPEN;
    a.frame = a.frame == b->frame ? a.frame : 0;
    a.below = a.below == b->below ? a.below : NONE;
    a.pointer = a.pointer == b->pointer ? a.pointer : NONE;
    if (a.saved != b->saved || a.saved_far != b->saved_far)
        forget_saved(&a);
    if (a.drap != b->drap || a.drap_far != b->drap_far)
        forget_drap(&a);
    if (a.bp != b->bp || (a.bp != BP_SAME && a.slot != b->slot))
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
    return s->depth == OPEN && !s->frame &&
           (s->saved == NONE || (s->pointer == NONE && (s->below == NONE || s->below < s->saved)));
}

static int32_t bounded(int64_t bytes)
{
    return bytes >= 0 && bytes < DEPTH_MAX ? (int32_t)bytes : OPEN;
}

/* A distance from the mark, or none if it is out of range. */
static int32_t near_mark(int64_t bytes)
{
    return bytes > -DEPTH_MAX && bytes < DEPTH_MAX ? (int32_t)bytes : NONE;
}

/* Sets SP = CFA - depth, which makes the mark unnecessary. */
static void set_depth(struct frame_state *s, int64_t depth)
{
    s->depth = bounded(depth);
    s->below = s->pointer = NONE;
    forget_saved(s);
    if ((s->bp == BP_SAVED && s->depth != OPEN && s->depth < s->slot) || s->bp == BP_AT_MARK)
        s->bp = BP_LOST; /* its slot is gone */
    if (s->bp == BP_SAME && s->depth != OPEN && s->depth < s->slot)
        s->slot = 0;
}

/* SP becomes unknown: it becomes the mark, unless BP already has a known distance from a mark. */
static void lose_depth(struct frame_state *s)
{
    s->depth = OPEN;
    s->below = s->pointer == NONE ? 0 : NONE;
    if (s->pointer != NONE)
        return;
    forget_saved(s);
    s->bp = s->bp == BP_AT_MARK ? BP_LOST : s->bp;
}

/* Drops what is stored below SP, as it will be overwritten. */
static void forget_freed(struct frame_state *s)
{
    if (s->below == NONE)
        return;
    if (s->saved != NONE && s->below < s->saved)
        forget_saved(s);
    if (s->bp == BP_AT_MARK && s->below < s->slot)
        s->bp = BP_LOST;
}

/* Sets SP = mark - below. */
static void place_sp(struct frame_state *s, int64_t below)
{
    if (below > s->below)
        forget_freed(s);
    s->depth = OPEN;
    s->below = near_mark(below);
}

/* Moves SP down by a number of bytes. */
static void move_sp(struct frame_state *s, int64_t bytes)
{
    if (s->depth != OPEN)
        set_depth(s, s->depth + bytes);
    else if (s->below != NONE)
        place_sp(s, s->below + bytes);
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
    move_sp(s, WORD);
    if (same && s->depth != OPEN) { /* otherwise like all stores: track_store() */
        s->bp = BP_SAVED;
        s->slot = s->depth;
    }
}

/* Whether the caller's BP is in a slot that is not below SP. */
static bool has_slot(const struct frame_state *s)
{
    return (s->bp == BP_SAVED && s->depth != OPEN && s->depth >= s->slot) ||
           (s->bp == BP_AT_MARK && s->below != NONE && s->below >= s->slot);
}

/* Pops BP from the slot at SP. */
static void pop_bp(struct frame_state *s)
{
    const bool own = has_slot(s) && s->slot == (s->bp == BP_SAVED ? s->depth : s->below);
    s->frame = 0;
    s->pointer = NONE;
    move_sp(s, -WORD);
    s->bp = own ? BP_SAME : has_slot(s) ? s->bp : BP_LOST;
    s->slot = own ? 0 : s->slot;
}

static void leave_frame(struct frame_state *s)
{
    if (s->frame)
        set_depth(s, s->frame);
    else
        s->depth = OPEN;
    s->below = s->pointer;
    pop_bp(s);
}

/* BP no longer has the caller's value. */
static void replace_bp(struct frame_state *s)
{
    if (s->bp == BP_SAME)
        s->bp = s->slot ? BP_SAVED : BP_LOST;
}

static void begin_frame(struct frame_state *s, int32_t above)
{
    s->frame = s->depth == OPEN || s->depth - above <= 0 ? 0 : s->depth - above;
    s->pointer = s->below == NONE ? NONE : near_mark((int64_t)s->below - above);
    replace_bp(s);
}

/* The register of a push or pop, or CODE_NO_REGISTER. */
static unsigned stack_register(const struct code_insn *insn, const uint8_t *bytes, uint8_t opcode)
{
    const bool wide = insn->length == 2 && bytes[0] == 0x41;
    const uint8_t byte = bytes[wide];
    return (wide || insn->length == 1) && (byte & 0xf8) == opcode ? (byte & 7u) + wide * 8u
                                                                  : CODE_NO_REGISTER;
}

/* Whether this is mov %from,%to of 8 bytes. */
static bool is_move(const struct code_insn *insn, const uint8_t *bytes, unsigned *from, unsigned *to)
{
    if (insn->length != 3 || (bytes[0] & 0xf8) != 0x48 || (bytes[1] & 0xfd) != 0x89 || bytes[2] < 0xc0)
        return false;
    const unsigned reg = (bytes[2] >> 3 & 7u) | (bytes[0] & 4u) << 1, rm = (bytes[2] & 7u) | (bytes[0] & 1u)
                                                                                                 << 3;
    *from = bytes[1] == 0x89 ? reg : rm;
    *to = bytes[1] == 0x89 ? rm : reg;
    return true;
}

/* The mark - the address of a memory operand, or none. */
static int32_t operand_at(const struct frame_state *s, const struct code_insn *insn)
{
    const int32_t from = insn->base == CODE_SP ? s->below : insn->base == CODE_BP ? s->pointer : NONE;
    if (!insn->memory_operand || insn->index != CODE_NO_REGISTER || from == NONE)
        return NONE;
    return near_mark((int64_t)from - insn->displacement);
}

/* Whether an instruction loads the word at (mark - at) to a register: pop, or mov x(%rbp) or x(%rsp). */
static bool loads_word(const struct frame_state *s, const struct code_insn *insn, const uint8_t *bytes,
                       int32_t at)
{
    if (at == NONE)
        return false;
    if (stack_register(insn, bytes, POP) != CODE_NO_REGISTER)
        return s->below == at;
    return insn->effect == CODE_LOAD && operand_at(s, insn) == at;
}

/* The register whose distance from the CFA becomes known: a copy of SP, or one loaded from the saved word. *far:
 * CFA - that register. CODE_NO_REGISTER: none. */
static uint8_t new_drap(const struct frame_state *s, const struct code_insn *insn, const uint8_t *bytes,
                        int32_t *far)
{
    const bool lea = insn->length >= 5 && (bytes[0] & 0xfb) == 0x48 && bytes[1] == 0x8d &&
                     insn->base == CODE_SP && insn->index == CODE_NO_REGISTER;
    const unsigned reg = insn->written ? (unsigned)__builtin_ctz(insn->written) : CODE_NO_REGISTER;
    unsigned from, to;
    if (loads_word(s, insn, bytes, s->saved) && reg != CODE_SP)
        *far = s->saved_far;
    else if (s->depth != OPEN && lea && insn->displacement == s->depth)
        *far = 0;
    else if (s->depth != OPEN && is_move(insn, bytes, &from, &to) && from == CODE_SP && to != CODE_BP)
        *far = s->depth;
    else
        return CODE_NO_REGISTER;
    return (uint8_t)reg;
}

/* A register is stored to a word of the frame: the word may now lead to the CFA or hold the caller's BP, or no
 * longer. */
static void save_word(struct frame_state *s, const struct frame_state *before, unsigned reg, int32_t at)
{
    if (s->saved != NONE && at - s->saved < WORD && s->saved - at < WORD)
        forget_saved(s);
    if (s->bp == BP_AT_MARK && at - s->slot < WORD && s->slot - at < WORD)
        s->bp = BP_LOST;
    if (reg == before->drap && s->saved == NONE) {
        s->saved = at;
        s->saved_far = before->drap_far;
    }
    if (reg == CODE_BP && before->bp == BP_SAME) {
        s->bp = BP_AT_MARK;
        s->slot = at;
    }
}

/* CFA - the address of a memory operand addressed by SP, or 0. */
static int32_t far_operand(const struct frame_state *s, const struct code_insn *insn)
{
    const bool by_sp =
        insn->memory_operand && insn->base == CODE_SP && insn->index == CODE_NO_REGISTER && s->depth != OPEN;
    return by_sp && s->depth - (int64_t)insn->displacement > WORD && insn->displacement >= 0
               ? s->depth - insn->displacement
               : 0;
}

/* The same in a frame of known depth: the word may now hold the caller's BP, or no longer. */
static void save_far(struct frame_state *s, unsigned reg, int32_t far)
{
    const bool own = reg == CODE_BP && s->bp == BP_SAME;
    if (own)
        s->slot = far;
    else if ((s->bp == BP_SAME || s->bp == BP_SAVED) && s->slot - far < WORD && far - s->slot < WORD) {
        s->bp = s->bp == BP_SAVED ? BP_LOST : BP_SAME;
        s->slot = 0;
    }
}

/* Handles push, and mov to memory, of 8 bytes. */
static void track_store(struct frame_state *s, const struct frame_state *before, const struct code_insn *insn,
                        const uint8_t *bytes)
{
    const unsigned pushed = stack_register(insn, bytes, PUSH);
    const bool moved =
        insn->memory_operand && insn->length > 3 && (bytes[0] & 0xfb) == 0x48 && bytes[1] == 0x89;
    const int32_t at = pushed != CODE_NO_REGISTER ? s->below : moved ? operand_at(before, insn) : NONE;
    const unsigned reg = moved ? (bytes[2] >> 3 & 7u) | (bytes[0] & 4u) << 1 : pushed;
    const int32_t far = moved ? far_operand(before, insn) : 0;
    if (at != NONE)
        save_word(s, before, reg, at);
    if (far)
        save_far(s, reg, far);
}

static void track_drap(struct frame_state *s, const struct frame_state *before, const struct code_insn *insn,
                       const uint8_t *bytes)
{
    const bool call = code_is_call(insn);
    const unsigned written = insn->written | (call ? CLOBBERED : 0);
    int32_t far = 0;
    const uint8_t drap = new_drap(before, insn, bytes, &far);
    if (drap != CODE_NO_REGISTER) {
        s->drap = drap;
        s->drap_far = far;
    } else if (s->drap != CODE_NO_REGISTER && written >> s->drap & 1) {
        forget_drap(s);
    }
}

/* Handles lea x(%r10),%rsp or mov %r10,%rsp where R10 leads to the CFA, and a load of the word that does.
 * Otherwise SP becomes open. */
static void set_sp(struct frame_state *s, const struct code_insn *insn, const uint8_t *bytes)
{
    const bool lea =
        insn->length >= 4 && bytes[1] == 0x8d && insn->base == s->drap && insn->index == CODE_NO_REGISTER;
    unsigned from, to;
    const bool move = is_move(insn, bytes, &from, &to) && from == s->drap;
    if (loads_word(s, insn, bytes, s->saved))
        set_depth(s, s->saved_far);
    else if (s->drap != CODE_NO_REGISTER && (lea || move))
        set_depth(s, (int64_t)s->drap_far - (lea ? insn->displacement : 0));
    else
        lose_depth(s);
}

static void set_sp_from_bp(struct frame_state *s, int32_t amount)
{
    if (s->frame)
        set_depth(s, (int64_t)s->frame - amount);
    else if (s->pointer != NONE)
        place_sp(s, (int64_t)s->pointer - amount);
    else
        lose_depth(s);
}

static void write_bp(struct frame_state *s, const struct code_insn *insn, const uint8_t *bytes)
{
    const bool far = s->bp == BP_SAVED && insn->effect == CODE_LOAD && far_operand(s, insn) == s->slot,
               back = far || (s->bp == BP_AT_MARK && loads_word(s, insn, bytes, s->slot));
    s->frame = 0;
    s->pointer = NONE;
    replace_bp(s);
    s->bp = back ? BP_SAME : s->bp;
    s->slot = back && !far ? 0 : s->slot;
}

struct frame_state frame_state_step(struct frame_state s, const struct code_insn *insn, const uint8_t *bytes)
{
    const struct frame_state before = s;
    const bool short_one = insn->length == 1;
    int32_t above;
    if (short_one && bytes[0] == PUSH_BP)
        push_bp(&s);
    else if (short_one && bytes[0] == POP_BP)
        pop_bp(&s);
    else if (short_one && bytes[0] == LEAVE)
        leave_frame(&s);
    else if (frame_state_begins(bytes, insn->length, &above))
        begin_frame(&s, above);
    else if (insn->stack == CODE_SP_MOVED)
        move_sp(&s, insn->amount);
    else if (insn->stack == CODE_SP_FROM_BP)
        set_sp_from_bp(&s, insn->amount);
    else if (insn->stack == CODE_SP_OTHER)
        set_sp(&s, insn, bytes);
    else if (insn->written & 1u << CODE_BP)
        write_bp(&s, insn, bytes);
    if (insn->kind == CODE_CALL && insn->target == insn->address + insn->length)
        move_sp(&s, WORD); /* a call to learn its own address */
    else if (code_is_call(insn))
        forget_freed(&s);
    track_store(&s, &before, insn, bytes);
    track_drap(&s, &before, insn, bytes);
    return s;
}

void frame_state_lose_bp(struct frame_state *s)
{
    replace_bp(s);
}

struct frame_state frame_state_by_frame(struct frame_state s, const struct code_insn *insn,
                                        const uint8_t *bytes)
{
    int32_t above;
    if (frame_state_begins(bytes, insn->length, &above) && above == 0) {
        const int32_t depth = s.depth;
        s = frame_state_entry;
        s.depth = depth;
        s.frame = s.slot = 16;
        s.bp = BP_SAVED;
    }
    if (s.depth < 8)
        s.depth = OPEN; /* it popped its return address */
    return s;
}

/* Sets the CFA by the word that leads to it. */
static void set_memory(struct cfi_row *row, const struct frame_state *s)
{
    if (s->saved_far < 0 || s->saved_far > CFI_ADD_MAX || s->saved_far % WORD)
        return;
    row->cfa = s->pointer != NONE ? CFI_BP_MEMORY : CFI_SP_MEMORY;
    row->cfa_offset = (s->pointer != NONE ? s->pointer : s->below) - s->saved;
    row->cfa_add = (uint8_t)s->saved_far;
}

/* Sets the CFA by the register that leads to it. */
static void set_register(struct cfi_row *row, const struct frame_state *s)
{
    if (s->drap == CODE_NO_REGISTER)
        return;
    row->cfa = CFI_UNSUPPORTED;
    row->cfa_offset = s->drap_far;
    row->cfa_add = (uint8_t)(s->drap * 8u);
}

static void set_caller_bp(struct cfi_row *row, const struct frame_state *s)
{
    if (s->bp == BP_SAME) {
        row->bp = CFI_BP_SAME;
    } else if (s->bp == BP_SAVED) {
        row->bp = CFI_BP_AT_CFA;
        row->bp_offset = -s->slot;
    } else if (s->bp == BP_AT_MARK && s->pointer != NONE) {
        row->bp = CFI_BP_AT_BP;
        row->bp_offset = s->pointer - s->slot;
    } else if (has_slot(s)) {
        row->bp = CFI_BP_AT_SP;
        row->bp_offset = s->below - s->slot;
    }
}

struct cfi_row frame_state_row(const struct frame_state *s)
{
    struct cfi_row row = {.cfa = CFI_NONE, .bp = CFI_BP_UNKNOWN, .derived = true};
    if (!s->seen)
        return row;
    row.cfa = s->depth != OPEN ? CFI_SP : s->frame ? CFI_BP : CFI_NONE;
    row.cfa_offset = s->depth != OPEN ? s->depth : s->frame;
    if (row.cfa == CFI_NONE && !frame_state_lost(s))
        set_memory(&row, s);
    if (row.cfa == CFI_NONE)
        set_register(&row, s);
    if (row.cfa != CFI_NONE)
        set_caller_bp(&row, s);
    return row;
}
