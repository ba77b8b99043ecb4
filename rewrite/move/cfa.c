/*
 * cfa.c - translates the call frame instructions of a moved part (DWARF 5, section 6.4.2): adapts locations to
 * the new code's lengths, and the CFA's distance from SP where the plan changes it. Everything else is copied.
 * See work.h.
 */
#include <errno.h>
#include <libdwarf/dwarf.h>
#include <string.h>

#include "base/search.h"
#include "base/vec.h"
#include "image/cfi/registers.h"
#include "rewrite/move/work.h"

#define NO_REGISTER UINT64_MAX /* an expression */

struct state {
    uint64_t cfa_register;
    int64_t offset;  /* in the file */
    int64_t written; /* last one written by the translation */
};

struct translation {
    struct move_work *work;
    const struct move_layout *layout;
    uint32_t part;
    uint64_t location; /* in the old code */
    uint32_t at;       /* in the new part */
    int64_t shift;
    uint64_t arguments;    /* of pushed arguments in the file, bytes */
    size_t edit, edit_end; /* MOVE_CFA edits of this part that are still ahead, */
    size_t code, code_end; /* and code before instructions */
    int64_t data_alignment;
    struct state now, remembered[CFI_REMEMBER_DEPTH];
    unsigned depth;
    bool bad;
    int rc;
};

static void put_bytes(struct translation *t, const void *bytes, size_t n)
{
    struct move_work *work = t->work;
    if (!vec_reserve(work->programs, work->program_count, work->program_capacity, n)) {
        t->rc = -ENOMEM;
        return;
    }
    memcpy(work->programs + work->program_count, bytes, n);
    work->program_count += n;
}

static void put_rule(struct translation *t, uint8_t op, uint64_t value)
{
    uint8_t bytes[1 + BYTES_ULEB_MAX] = {op};
    put_bytes(t, bytes, (size_t)(bytes_put_uleb(bytes + 1, value) - bytes));
}

/* Adapts the CFA's offset to the shift at this location. */
static void settle_rows(struct translation *t)
{
    struct state *s = &t->now;
    if (s->cfa_register == NO_REGISTER) {
        t->bad |= t->shift != 0;
        return;
    }
    int64_t wanted = s->offset + (s->cfa_register == REGISTER_SP ? t->shift : 0);
    if (wanted == s->written)
        return;
    t->bad |= wanted < 0;
    put_rule(t, DW_CFA_def_cfa_offset, (uint64_t)wanted);
    s->written = wanted;
}

static void advance_to(struct translation *t, uint32_t at)
{
    t->bad |= at == UINT32_MAX || at < t->at;
    if (t->bad || at == t->at)
        return;
    uint32_t by = at - t->at;
    uint8_t bytes[5] = {(uint8_t)(DW_CFA_advance_loc | (by & 0x3f))};
    size_t n = by < 0x40 ? 0 : by <= UINT8_MAX ? 1 : by <= UINT16_MAX ? 2 : 4;
    if (n) {
        bytes[0] = n == 1 ? DW_CFA_advance_loc1 : n == 2 ? DW_CFA_advance_loc2 : DW_CFA_advance_loc4;
        memcpy(bytes + 1, &by, n);
    }
    put_bytes(t, bytes, 1 + n);
    t->at = at;
}

/* The offset of the instruction in its part, including what is added before it. (Edits are of instructions.) */
static uint32_t entry_of(const struct move_layout *layout, uint64_t address)
{
    return layout->insns[function_code_find(&layout->unit->code, address)].entry;
}

/* Adjusts the number of argument bytes for one instruction only, so that states remembered behind it do not have
 * it. It matters where exceptions land. */
static void put_arguments(struct translation *t, const struct move_edit *edit)
{
    const struct move_layout *layout = t->layout;
    uint32_t i = function_code_find(&layout->unit->code, edit->address);
    if (!layout->unit->parts[t->part].fde->lsda)
        return;
    settle_rows(t);
    put_rule(t, DW_CFA_GNU_args_size, t->arguments + (uint32_t)edit->value);
    advance_to(t, layout->insns[i].body + layout->insns[i].size);
    put_rule(t, DW_CFA_GNU_args_size, t->arguments);
}

/* Advances to where the CFA's distance from SP changes, and writes the change. */
static void shift_at(struct translation *t, uint32_t at, int64_t by)
{
    if (at != t->at)
        settle_rows(t);
    advance_to(t, at);
    t->shift += by;
}

/* Handles inserted code before instructions below an old location that lowers SP meanwhile. */
static void lower_until(struct translation *t, uint64_t location)
{
    const struct move_code *codes = t->layout->plan->codes;
    uint32_t at = 0;
    for (uint64_t last = 0; t->code < t->code_end && codes[t->code].address < location; t->code++) {
        const struct move_code *code = &codes[t->code];
        if (last != code->address)
            at = entry_of(t->layout, code->address);
        last = code->address;
        if (code->low) {
            shift_at(t, at + code->low_from, code->low);
            shift_at(t, at + code->low_to, -(int64_t)code->low);
        }
        at += code->size;
    }
}

/* Handles the shifts that begin below an old location. */
static void shift_until(struct translation *t, uint64_t location)
{
    const struct move_function *plan = t->layout->plan;
    for (; t->edit < t->edit_end && plan->edits[t->edit].address < location; t->edit++) {
        const struct move_edit *edit = &plan->edits[t->edit];
        if (edit->what != MOVE_CFA && edit->what != MOVE_CFA_BEFORE && edit->what != MOVE_ARGUMENTS)
            continue;
        lower_until(t, edit->what == MOVE_CFA_BEFORE ? edit->address : edit->address + 1);
        uint32_t at = edit->what == MOVE_CFA_BEFORE
                          ? entry_of(t->layout, edit->address)
                          : move_layout_boundary(t->layout, t->part, edit->address, true);
        if (at != t->at)
            settle_rows(t);
        advance_to(t, at);
        if (edit->what == MOVE_ARGUMENTS)
            put_arguments(t, edit);
        else
            t->shift = edit->value;
    }
    lower_until(t, location);
    settle_rows(t);
}

static void move_on(struct translation *t, uint64_t by)
{
    uint64_t location = t->location + by;
    const struct move_part *part = &t->layout->unit->parts[t->part];
    if (by == 0)
        return;
    if (location < t->location || location - part->address > part->size) {
        t->bad = true;
        return;
    }
    shift_until(t, location);
    advance_to(t, move_layout_boundary(t->layout, t->part, location, false));
    t->location = location;
}

/* Handles rules of the CFA; false: another instruction. */
static bool run_cfa(struct translation *t, uint8_t op, struct bytes *b)
{
    struct state *s = &t->now;
    switch (op) {
    case DW_CFA_def_cfa:
    case DW_CFA_def_cfa_sf:
        s->cfa_register = bytes_uleb(b);
        s->offset = op == DW_CFA_def_cfa ? (int64_t)bytes_uleb(b) : bytes_sleb(b) * t->data_alignment;
        break;
    case DW_CFA_def_cfa_register:
        s->cfa_register = bytes_uleb(b);
        return true;
    case DW_CFA_def_cfa_offset:
        s->offset = (int64_t)bytes_uleb(b);
        break;
    case DW_CFA_def_cfa_offset_sf:
        s->offset = bytes_sleb(b) * t->data_alignment;
        break;
    case DW_CFA_def_cfa_expression:
        bytes_take(b, bytes_uleb(b));
        s->cfa_register = NO_REGISTER;
        return true;
    case DW_CFA_remember_state:
        t->bad |= t->depth == CFI_REMEMBER_DEPTH;
        if (!t->bad)
            t->remembered[t->depth++] = *s;
        return true;
    case DW_CFA_restore_state:
        t->bad |= t->depth == 0;
        if (!t->bad)
            *s = t->remembered[--t->depth];
        return true;
    default:
        return false;
    }
    s->written = s->offset;
    return true;
}

/* Skips the operands of register rules. */
static void run_register(struct translation *t, uint8_t op, struct bytes *b)
{
    switch (op) {
    case DW_CFA_nop:
        break;
    case DW_CFA_restore_extended:
    case DW_CFA_undefined:
    case DW_CFA_same_value:
        bytes_uleb(b);
        break;
    case DW_CFA_GNU_args_size:
        t->arguments = bytes_uleb(b);
        break;
    case DW_CFA_offset_extended:
    case DW_CFA_register:
    case DW_CFA_val_offset:
    case DW_CFA_GNU_negative_offset_extended:
        bytes_uleb(b);
        bytes_uleb(b);
        break;
    case DW_CFA_offset_extended_sf:
    case DW_CFA_val_offset_sf:
        bytes_uleb(b);
        bytes_sleb(b);
        break;
    case DW_CFA_expression:
    case DW_CFA_val_expression:
        bytes_uleb(b);
        bytes_take(b, bytes_uleb(b));
        break;
    default:
        t->bad = true;
    }
}

static bool read_advance(uint8_t op, struct bytes *b, uint64_t *by)
{
    if ((op & 0xc0) == DW_CFA_advance_loc)
        *by = op & 0x3f;
    else if (op == DW_CFA_advance_loc1)
        *by = bytes_u8(b);
    else if (op == DW_CFA_advance_loc2)
        *by = bytes_u16(b);
    else if (op == DW_CFA_advance_loc4)
        *by = bytes_u32(b);
    else
        return false;
    return true;
}

static void run_instructions(struct translation *t, struct bytes b)
{
    while (bytes_left(&b) && !t->bad && t->rc == 0) {
        const uint8_t *start = b.at;
        uint8_t op = bytes_u8(&b);
        uint64_t by;
        if (read_advance(op, &b, &by)) {
            t->bad |= b.failed;
            move_on(t, by);
            continue;
        }
        if ((op & 0xc0) == DW_CFA_offset)
            bytes_uleb(&b);
        else if ((op & 0xc0) != DW_CFA_restore && !run_cfa(t, op, &b))
            run_register(t, op, &b);
        t->bad |= b.failed;
        if (op != 0 && !t->bad) /* (padding is made anew) */
            put_bytes(t, start, (size_t)(b.at - start));
    }
}

bool move_cfa(struct move_work *work, const struct move_layout *layout, uint32_t p, struct move_piece *piece,
              int *rc)
{
    const struct move_part *part = &layout->unit->parts[p];
    const struct cfi_cie *cie = &work->survey->cfi.cies[part->fde->cie];
    const struct move_function *plan = layout->plan;
    struct translation t = {.work = work, .layout = layout, .part = p, .location = part->address};
    uint8_t cfa = cie->initial.cfa;
    if (cie->code_alignment != 1 || (cfa != CFI_SP && cfa != CFI_BP))
        return false;
    t.data_alignment = cie->data_alignment;
    t.now = (struct state){cfa == CFI_SP ? REGISTER_SP : REGISTER_BP, cie->initial.cfa_offset,
                           cie->initial.cfa_offset};
    uint64_t end = part->address + part->size;
    t.edit = lower_bound(i, 0, plan->edit_count, plan->edits[i].address < part->address);
    t.edit_end = lower_bound(i, 0, plan->edit_count, plan->edits[i].address < end);
    t.code = lower_bound(i, 0, plan->code_count, plan->codes[i].address < part->address);
    t.code_end = lower_bound(i, 0, plan->code_count, plan->codes[i].address < end);
    piece->program = work->program_count;
    run_instructions(&t, part->fde->code);
    if (!t.bad)
        shift_until(&t, end);
    piece->program_size = work->program_count - piece->program;
    *rc = t.rc;
    return !t.bad && t.rc == 0;
}
