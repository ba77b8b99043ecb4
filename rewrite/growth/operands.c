/*
 * operands.c - what a unit addresses by SP; see unit.h.
 *
 * Let A be the distance of an operand's address from the CFA (negative below it). In a frame addressed by SP, the
 * operand belongs to the part above the pad if A >= -bound, and then grows. An address that is only computed may
 * be one past the end of a local array, which is -bound; with an index it may be anywhere near its array.
 * Uncertain cases are refused.
 */
#include "rewrite/growth/unit.h"

#include <errno.h>

/* An index may start so far from its array that an array in the caller's arguments looks like one in the frame. */
#define NEAR 64 /* bytes */

struct reading {
    struct unit *u;
    int64_t lowest; /* lowest address, from the CFA, that BP or the CFI's slots reach */
    int32_t bound;  /* the unit's smallest one, bytes */
    bool arguments; /* the unit reads arguments that its caller pushed, or is variadic */
    bool near;      /* there is an indexed operand near the pad's place */
    uint64_t where; /* that operand's instruction */
};

static bool is_lea(const struct code_fields *f)
{
    return f->map == 0 && !f->vector && f->opcode == 0x8d;
}

/* Whether the ModRM byte of an opcode after 0f names general registers. */
static bool has_general_registers(uint8_t opcode)
{
    return (opcode & 0xf0) == 0x40 || opcode == 0x6e || opcode == 0x7e || opcode == 0x2a ||
           (opcode >= 0xa3 && opcode <= 0xc3);
}

bool unit_uses_register(const struct code_fields *f, uint8_t number)
{
    if (f->map == 0 && !f->vector && f->opcode == 0x50 + number)
        return true;
    if (!f->has_modrm || f->map > 1)
        return false;
    bool rm = f->mod == 3 && f->rm == number, reg = f->reg == number;
    if (f->vector)
        return (f->opcode == 0x6e || f->opcode == 0x7e) && rm;
    if (f->map == 1)
        return has_general_registers(f->opcode) &&
               (rm || (reg && f->opcode >= 0x40 && f->opcode != 0x6e && f->opcode != 0x7e));
    if (f->opcode < 0x40)
        return (f->opcode & 1) && (rm || reg);
    bool group = (f->opcode & 0xfc) == 0x80 || (f->opcode & 0xee) == 0xc0 || (f->opcode & 0xfc) == 0xd0 ||
                 f->opcode >= 0xf6 || f->opcode == 0x8f;
    bool bytes = f->opcode == 0x84 || f->opcode == 0x86 || f->opcode == 0x88 || f->opcode == 0x8a;
    bool other = (f->opcode & 0xf8) == 0xd8 || f->opcode == 0x8c || f->opcode == 0x8e;
    return !bytes && !other && (rm || (reg && !group));
}

/* Places an operand at A in a frame addressed by SP. 1: it grows; 0: it does not. */
static int place_operand(struct reading *r, uint32_t i, int64_t a, const struct code_fields *f)
{
    const struct code_insn *insn = &r->u->code.insns[i];
    int64_t bound = -(int64_t)r->u->states[i].bound;
    if (r->u->place && a == bound && (is_lea(f) || insn->index != CODE_NO_REGISTER))
        unit_refuse(r->u, GROWTH_ADDRESS_ABOVE, insn->address); /* no locals end there */
    if (insn->index != CODE_NO_REGISTER) {
        if (a > bound)
            unit_refuse(r->u, GROWTH_ADDRESS_ABOVE, insn->address);
        if (a > bound - NEAR && !r->near) {
            r->near = true;
            r->where = insn->address;
        }
        return 0;
    }
    if (!is_lea(f))
        return a >= bound;
    if (a > bound && a < 0)
        unit_refuse(r->u, GROWTH_ADDRESS_ABOVE, insn->address);
    if (a >= 0 && !r->arguments)
        unit_refuse(r->u, GROWTH_ADDRESS_ABOVE, insn->address);
    return a >= 0;
}

static int read_memory(struct reading *r, uint32_t i, const struct code_fields *f)
{
    struct unit *u = r->u;
    const struct code_insn *insn = &u->code.insns[i];
    const struct frame_state *s = &u->states[i];
    bool pops = f->map == 0 && f->opcode == 0x8f; /* addressed by the new SP */
    if (f->scaled || f->address32 || pops) {
        unit_refuse(u, GROWTH_OPERAND, insn->address);
        return 0;
    }
    if (insn->displacement < 0)
        unit_refuse(u, GROWTH_RED_ZONE, insn->address);
    if (!s->bound || s->depth == DEPTH_OPEN)
        return 0;
    int64_t a = (int64_t)insn->displacement - s->depth;
    if (u->framed) {
        if (a >= r->lowest)
            unit_refuse(u, GROWTH_MIXED, insn->address);
        return 0;
    }
    return place_operand(r, i, a, f) ? unit_edit(u, i, true, 1) : 0;
}

/* Collects what must be known before operands can be judged. */
static void survey_operands(struct reading *r)
{
    struct unit *u = r->u;
    r->lowest = INT32_MAX;
    for (uint32_t i = 0; i < u->code.count; i++) {
        const struct code_insn *insn = &u->code.insns[i];
        const struct frame_state *s = &u->states[i];
        struct code_fields f;
        if (s->depth == DEPTH_UNSEEN || insn->kind == CODE_NOP)
            continue;
        if (s->bound && -(int64_t)s->bound < r->lowest)
            r->lowest = -(int64_t)s->bound;
        bool plain = insn->memory_operand && insn->index == CODE_NO_REGISTER;
        if (insn->memory_operand && insn->base == CODE_BP && s->frame &&
            (int64_t)insn->displacement - s->frame < r->lowest)
            r->lowest = (int64_t)insn->displacement - s->frame;
        bool known = unit_fields(u, i, &f);
        if (plain && insn->base == CODE_SP && s->depth >= 0 && insn->displacement >= s->depth && known &&
            !is_lea(&f))
            r->arguments = true;
        /* test %al,%al: how many vector registers a variadic function was called with */
        if (known && f.map == 0 && f.opcode == 0x84 && f.mod == 3 && f.reg == CODE_AX && f.rm == CODE_AX)
            r->arguments = true;
    }
    for (size_t i = 0; i < u->point_count; i++)
        if (-(int64_t)u->points[i].deepest < r->lowest)
            r->lowest = -(int64_t)u->points[i].deepest;
}

/* Slots of saved registers must be above the pad, as CFI rules for them do not change. */
static void check_slots(const struct reading *r, uint32_t i)
{
    const struct unit *u = r->u;
    const struct unit_point *point = unit_point_at(u, u->code.insns[i].address);
    if (u->states[i].bound && !u->framed && point && point->deepest > u->states[i].bound)
        unit_refuse(r->u, GROWTH_SAVED_BELOW, u->code.insns[i].address);
}

int unit_operands(struct unit *u)
{
    struct reading r = {.u = u};
    survey_operands(&r);
    for (uint32_t i = 0; i < u->code.count && u->refusal == GROWTH_RESIZABLE; i++) {
        const struct code_insn *insn = &u->code.insns[i];
        const struct frame_state *s = &u->states[i];
        struct code_fields f;
        if (s->depth == DEPTH_UNSEEN || insn->kind == CODE_NOP)
            continue;
        check_slots(&r, i);
        if (!unit_fields(u, i, &f)) {
            unit_refuse(u, GROWTH_OPERAND, insn->address);
            break;
        }
        struct frame_state after = *s;
        bool sets_frame = insn->stack == CODE_SP_SAME && insn->written & 1u << CODE_BP &&
                          unit_step(u, i, &after) && after.frame;
        bool above = !s->bound || (u->place && s->depth == s->bound); /* SP is above the pad's place */
        if (unit_uses_register(&f, CODE_SP) && insn->stack == CODE_SP_SAME && above && !sets_frame)
            unit_refuse(u, GROWTH_ADDRESS_TAKEN, insn->address);
        if (insn->memory_operand && insn->base == CODE_SP && insn->stack == CODE_SP_SAME &&
            read_memory(&r, i, &f) < 0)
            return -ENOMEM;
        bool pushes_or_pops =
            insn->stack != CODE_SP_SAME && insn->memory_operand && insn->base == CODE_SP && !is_lea(&f);
        if (pushes_or_pops && read_memory(&r, i, &f) < 0)
            return -ENOMEM;
    }
    if (r.near && r.arguments && !u->framed)
        unit_refuse(u, GROWTH_ADDRESS_ABOVE, r.where);
    return 0;
}
