/*
 * flow.c - follows SP and BP through a unit's code, and compares them with the CFI at each instruction; see
 * unit.h.
 *
 * Paths that join must agree, except on SP in frames addressed by BP. Code behind a call, which may not return,
 * is followed only if the state fits. The same is true of tables, whose end is not certain.
 */
#include "rewrite/growth/unit.h"

#include <errno.h>

#include "base/search.h"
#include "base/vec.h"

static bool refuse_insn(struct unit *u, enum growth_refusal refusal, uint32_t i)
{
    unit_refuse(u, refusal, u->code.insns[i].address);
    return false;
}

/* Handles push, pop, add, sub, lea: SP moves by a known amount. */
static bool move_sp(struct unit *u, uint32_t i, struct frame_state *s, enum unit_site *site)
{
    const struct code_insn *insn = &u->code.insns[i];
    struct code_fields f;
    if (s->depth == DEPTH_OPEN)
        return true;
    if (!unit_fields(u, i, &f))
        return refuse_insn(u, GROWTH_OPERAND, i);
    bool adjusts = f.map == 0 && (f.opcode == 0x81 || f.opcode == 0x83 || f.opcode == 0x8d);
    int64_t next = (int64_t)s->depth + insn->amount;
    if (next < 0 || next > DEPTH_MOST)
        return refuse_insn(u, GROWTH_CFI_DIFFERS, i);
    if (u->place) {
        if (!unit_insert(u, i, next, s, site))
            return false;
    } else if (s->bound == 0) {
        if (adjusts && insn->amount > 0 && unit_is_saved(u, insn->address + insn->length, s->depth)) {
            s->bound = s->depth;
            *site = SITE_NUMBER;
        }
    } else if (next <= s->bound) {
        if (!adjusts && (!u->inserting || next != s->bound))
            return refuse_insn(u, GROWTH_POPPED, i);
        s->bound = 0;
        *site = adjusts ? SITE_NUMBER : SITE_AFTER;
    }
    s->depth = (int32_t)next;
    return true;
}

/* Handles leave, lea x(%rbp),%rsp and mov %rbp,%rsp. */
static bool restore_sp(struct unit *u, uint32_t i, struct frame_state *s)
{
    int64_t next = (int64_t)s->frame - u->code.insns[i].amount;
    if (s->frame == 0 || next < 8 || next > DEPTH_MOST || (s->bound && next > s->bound))
        return refuse_insn(u, GROWTH_STACK_UNKNOWN, i);
    s->bound = 0;
    s->depth = (int32_t)next;
    return true;
}

/* Handles other changes of SP: alloca, the end of a variable-length array's life, alignment. */
static bool set_sp(struct unit *u, uint32_t i, struct frame_state *s)
{
    struct code_fields f;
    if (!unit_fields(u, i, &f) || f.map || f.vector)
        return refuse_insn(u, GROWTH_STACK_UNKNOWN, i);
    bool group = f.opcode == 0x81 || f.opcode == 0x83;
    if ((group && (f.reg & 7) == 4) || (f.opcode & 0xf8) == 0x20)
        return refuse_insn(u, GROWTH_REALIGNED, i);
    bool moved = f.opcode == 0x29 || f.opcode == 0x2b || f.opcode == 0x01 || f.opcode == 0x03;
    bool set_back = (f.opcode == 0x89 || f.opcode == 0x8b) && s->bound;
    if (s->frame == 0 || !f.wide || (!moved && !set_back))
        return refuse_insn(u, GROWTH_STACK_UNKNOWN, i);
    s->depth = DEPTH_OPEN;
    return true;
}

/* Whether the instruction is mov %rsp,%rbp. */
static bool sets_frame(const struct unit *u, uint32_t i)
{
    struct code_fields f;
    if (!unit_fields(u, i, &f) || f.map || f.vector || !f.wide || f.mod != 3)
        return false;
    return (f.opcode == 0x89 && f.reg == CODE_SP && f.rm == CODE_BP) ||
           (f.opcode == 0x8b && f.reg == CODE_BP && f.rm == CODE_SP);
}

static bool step_sp(struct unit *u, uint32_t i, struct frame_state *s, enum unit_site *site)
{
    const struct code_insn *insn = &u->code.insns[i];
    bool done = true;
    if (insn->stack == CODE_SP_MOVED)
        done = move_sp(u, i, s, site);
    else if (insn->stack == CODE_SP_FROM_BP)
        done = restore_sp(u, i, s);
    else if (insn->stack != CODE_SP_SAME)
        done = set_sp(u, i, s);
    if (done && insn->written & 1u << CODE_BP)
        s->frame = s->bound == 0 && s->depth > 0 && sets_frame(u, i) ? s->depth : 0;
    if (done && u->place && s->frame && insn->stack == CODE_SP_SAME && insn->written & 1u << CODE_BP)
        done = unit_insert(u, i, s->depth, s, site);
    return done;
}

bool unit_step(struct unit *u, uint32_t i, struct frame_state *s)
{
    enum unit_site site = SITE_NONE;
    return step_sp(u, i, s, &site);
}

/* Compares a state with the CFI. */
static enum growth_refusal compare_states(const struct unit *u, uint64_t address, const struct frame_state *s)
{
    struct cfi_row row = cfi_lookup(image_cfi(u->whole->image), address);
    switch (row.cfa) {
    case CFI_SP:
        return s->depth == row.cfa_offset ? GROWTH_RESIZABLE : GROWTH_CFI_DIFFERS;
    case CFI_BP:
        return s->frame && s->frame == row.cfa_offset ? GROWTH_RESIZABLE : GROWTH_CFI_DIFFERS;
    case CFI_NONE:
        return GROWTH_NO_CFI;
    default:
        return GROWTH_CFI_UNSUPPORTED;
    }
}

/* maybe: the states may differ, as the path may not exist. */
static int reach_insn(struct unit *u, uint32_t to, const struct frame_state *s, bool maybe)
{
    struct frame_state *at = &u->states[to], merged = *s;
    uint64_t address = u->code.insns[to].address;
    if (at->depth != DEPTH_UNSEEN) {
        bool same = at->depth == s->depth;
        if (at->bound != s->bound) {
            if (!maybe || same)
                unit_refuse(u, GROWTH_CFI_DIFFERS, address);
            return 0;
        }
        merged.depth = same ? s->depth : DEPTH_OPEN;
        merged.frame = at->frame == s->frame ? s->frame : 0;
        if (merged.depth == at->depth && merged.frame == at->frame)
            return 0;
    }
    enum growth_refusal refusal = compare_states(u, address, &merged);
    if (refusal != GROWTH_RESIZABLE) {
        if (!maybe)
            unit_refuse(u, refusal, address);
        return 0;
    }
    *at = merged;
    return vec_push(u->work, u->work_count, u->work_capacity, to) ? 0 : -ENOMEM;
}

/* Whether the code may end after this instruction: it is a call that does not return. */
static bool may_end(const struct unit *u, uint32_t i)
{
    const struct code_insn *insn = &u->code.insns[i];
    while (insn->kind == CODE_NOP && i > 0 && insn[-1].address + insn[-1].length == insn->address)
        insn--, i--;
    return code_is_call(insn);
}

/* Handles a jump to another function: a tail call. */
static void leave_unit(struct unit *u, uint32_t i, const struct frame_state *s)
{
    const struct code_insn *insn = &u->code.insns[i];
    if (insn->kind != CODE_JUMP_INDIRECT && image_function_at(u->whole->image, insn->target) == u->function)
        refuse_insn(u, GROWTH_CODE_UNKNOWN, i);
    else if (s->depth != 8 || s->bound)
        refuse_insn(u, GROWTH_JUMPS_OUT, i);
}

/* Handles a jump whose table is not known from the code next to it: it may lead to each label and to each table's
 * entries. */
static int jump_anywhere(struct unit *u, uint32_t i, const struct frame_state *s)
{
    struct frame_state *hub = &u->hub;
    int rc = 0;
    if (hub->depth == DEPTH_UNSEEN) {
        *hub = *s;
        rc = unit_targets(u);
    } else {
        if (hub->bound != s->bound)
            refuse_insn(u, GROWTH_JUMP_UNKNOWN, i);
        if (hub->depth == s->depth && hub->frame == s->frame)
            return 0;
        hub->depth = hub->depth == s->depth ? s->depth : DEPTH_OPEN;
        hub->frame = hub->frame == s->frame ? s->frame : 0;
    }
    if (u->target_count == 0)
        refuse_insn(u, GROWTH_JUMP_UNKNOWN, i);
    for (size_t k = 0; k < u->target_count && rc == 0; k++)
        rc = reach_insn(u, u->targets[k], hub, true);
    return rc;
}

static int jump_indirect(struct unit *u, uint32_t i, const struct frame_state *s)
{
    const struct function_code *code = &u->code;
    uint32_t edge = lower_bound(k, 0u, code->edge_count, code->edges[k].from < i);
    if (edge == code->edge_count || code->edges[edge].from != i) {
        if (s->depth != 8 || s->bound)
            return jump_anywhere(u, i, s);
        leave_unit(u, i, s);
        return 0;
    }
    int rc = 0;
    for (; edge < code->edge_count && code->edges[edge].from == i && rc == 0; edge++)
        rc = reach_insn(u, code->edges[edge].to, s, true);
    return rc;
}

static int reach_pads(struct unit *u, uint32_t i, struct frame_state s)
{
    const struct code_insn *insn = &u->code.insns[i];
    uint64_t last = insn->address + insn->length - 1;
    size_t k = lower_bound(n, (size_t)0, u->landing_count, u->landings[n].end <= last);
    if (k == u->landing_count || u->landings[k].start > last)
        return 0;
    const struct unit_point *point = unit_point_at(u, last);
    if (s.depth != DEPTH_OPEN && point && point->args) {
        int64_t depth = (int64_t)s.depth - point->args;
        if (depth < s.bound + (u->place == 0) || depth < 8) {
            refuse_insn(u, GROWTH_LANDING_PADS, i);
            return 0;
        }
        s.depth = (int32_t)depth;
    }
    return reach_insn(u, u->landings[k].pad, &s, false);
}

static int follow_call(struct unit *u, uint32_t i, const struct frame_state *s)
{
    const struct code_insn *insn = &u->code.insns[i];
    if (insn->kind == CODE_CALL && insn->target == insn->address + insn->length)
        refuse_insn(u, GROWTH_CODE_UNKNOWN, i);
    if (function_code_goes_on(&u->code, i) && !vec_push(u->later, u->later_count, u->later_capacity, i))
        return -ENOMEM;
    return reach_pads(u, i, *s);
}

/* Whether the code stops here on purpose, and these are not invalid bytes. */
static bool is_stop(const struct unit *u, uint32_t i)
{
    struct code_fields f;
    const struct code_insn *insn = &u->code.insns[i];
    return insn->length > 1 || (unit_fields(u, i, &f) && (f.opcode == 0xcc || f.opcode == 0xf4));
}

static int follow_instruction(struct unit *u, uint32_t i)
{
    const struct code_insn *insn = &u->code.insns[i];
    struct frame_state s = u->states[i];
    int rc = 0;
    switch (insn->kind) {
    case CODE_CALL:
    case CODE_CALL_INDIRECT:
        return follow_call(u, i, &s);
    case CODE_JUMP_INDIRECT:
        return jump_indirect(u, i, &s);
    case CODE_RETURN:
        if (s.depth != 8 || s.bound)
            refuse_insn(u, GROWTH_CFI_DIFFERS, i);
        return 0;
    case CODE_STOP:
        if (!is_stop(u, i))
            refuse_insn(u, GROWTH_CODE_UNKNOWN, i);
        return 0;
    case CODE_JUMP:
    case CODE_BRANCH:
        if (u->code.jumps[i] != FUNCTION_CODE_NONE)
            rc = reach_insn(u, u->code.jumps[i], &s, false);
        else
            leave_unit(u, i, &s);
        if (insn->kind == CODE_JUMP || rc < 0)
            return rc;
        break;
    default:
        if (!unit_step(u, i, &s))
            return 0;
    }
    if (function_code_goes_on(&u->code, i))
        return reach_insn(u, i + 1, &s, false);
    if (!may_end(u, i))
        refuse_insn(u, GROWTH_ENDS_OPEN, i);
    return 0;
}

/* The instruction that follows a call if it returns; not padding that nothing jumps to, as it may lead into other
 * code if the call does not return. FUNCTION_CODE_NONE: none. */
static uint32_t insn_behind(const struct unit *u, uint32_t i)
{
    do {
        if (!function_code_goes_on(&u->code, i))
            return FUNCTION_CODE_NONE;
        i++;
    } while (u->code.insns[i].kind == CODE_NOP && !(u->code.ways[i] & WAY_BRANCH));
    return i;
}

static int settle_states(struct unit *u)
{
    size_t later = 0;
    int rc = 0;
    while (rc == 0 && u->refusal == GROWTH_RESIZABLE) {
        if (u->work_count) {
            rc = follow_instruction(u, u->work[--u->work_count]);
        } else if (later < u->later_count) {
            uint32_t i = u->later[later++], to = insn_behind(u, i);
            if (to != FUNCTION_CODE_NONE)
                rc = reach_insn(u, to, &u->states[i], true);
        } else {
            return 0;
        }
    }
    return rc;
}

#define WAY_KNOWN 128 /* in the unit's code.ways: a landing pad, or in a table that the unit jumps through */

/* Refuses pointers into the unit unless they are to landing pads, tables that it jumps through, or labels that it
 * jumps to. */
static void check_labels(struct unit *u)
{
    const struct whole *w = u->whole;
    for (size_t i = 0; i < u->landing_count; i++)
        u->code.ways[u->landings[i].pad] |= WAY_KNOWN;
    for (uint32_t i = 0; i < u->code.edge_count; i++)
        u->code.ways[u->code.edges[i].to] |= WAY_KNOWN;
    for (uint32_t p = 0; p < u->part_count && u->hub.depth == DEPTH_UNSEEN; p++) {
        uint64_t start = u->parts[p].address, end = start + u->parts[p].size;
        for (size_t k = lower_bound(n, (size_t)0, w->label_count, w->labels[n] <= start);
             k < w->label_count && w->labels[k] < end; k++) {
            uint32_t to = function_code_find(&u->code, w->labels[k]);
            if (to != FUNCTION_CODE_NONE && !(u->code.ways[to] & WAY_KNOWN))
                unit_refuse(u, GROWTH_ENTERED, w->labels[k]);
        }
    }
}

static int note_number(struct unit *u, uint32_t i, bool allocates)
{
    const struct code_insn *insn = &u->code.insns[i];
    struct code_fields f;
    bool lea = insn->memory_operand;
    bool subtracts = !lea && unit_fields(u, i, &f) && (f.reg & 7) == 5;
    return unit_edit(u, i, lea, subtracts == allocates ? 1 : -1);
}

/* Records what allocates and frees the frame, once all states are known. */
static int note_sites(struct unit *u)
{
    bool any = false, pushed = false, by_sp = false;
    for (uint32_t i = 0; i < u->code.count && u->refusal == GROWTH_RESIZABLE; i++) {
        const struct code_insn *insn = &u->code.insns[i];
        struct frame_state s = u->states[i];
        if (s.depth == DEPTH_UNSEEN) {
            if (insn->kind != CODE_NOP && (insn->kind != CODE_STOP || !is_stop(u, i)))
                refuse_insn(u, GROWTH_CODE_UNREACHED, i);
            continue;
        }
        pushed |= insn->stack == CODE_SP_MOVED;
        if (s.bound) {
            bool framed = cfi_lookup(image_cfi(u->whole->image), insn->address).cfa == CFI_BP;
            u->framed |= framed;
            by_sp |= !framed;
        }
        enum unit_site site = SITE_NONE;
        if (!step_sp(u, i, &s, &site) || !site)
            continue;
        any = true;
        int rc = site == SITE_NUMBER ? note_number(u, i, s.bound != 0)
                                     : unit_note_insertion(u, i, s.bound != 0, site == SITE_AFTER);
        if (rc < 0)
            return -ENOMEM;
    }
    if (u->framed && by_sp)
        unit_refuse(u, GROWTH_MIXED, u->parts[0].address);
    if (!any)
        unit_refuse(u, pushed ? GROWTH_PUSHED : GROWTH_NO_FRAME, u->parts[0].address);
    return 0;
}

int unit_flow(struct unit *u)
{
    struct frame_state entry = {.depth = 8};
    if (u->place)
        unit_choose_place(u);
    uint32_t first = function_code_find(&u->code, image_function(u->whole->image, u->function)->address);
    if (first == FUNCTION_CODE_NONE) {
        unit_refuse(u, GROWTH_CODE_UNKNOWN, 0);
        return 0;
    }
    if (reach_insn(u, first, &entry, false) < 0 || settle_states(u) < 0)
        return -ENOMEM;
    if (u->refusal == GROWTH_RESIZABLE)
        check_labels(u);
    return note_sites(u);
}
