/* layout.c - the length and place of each instruction of a copy; see work.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/vec.h"
#include "rewrite/move/work.h"
#include "image/code/fields.h"

#define LENGTH_MOST 15 /* bytes; the processor's limit */

unsigned move_lea(int32_t value, uint8_t *out)
{
    uint8_t bytes[8] = {0x48, 0x8d, 0x64, 0x24, (uint8_t)value};
    bool narrow = value >= INT8_MIN && value <= INT8_MAX;
    if (!narrow) {
        bytes[2] = 0xa4;
        memcpy(bytes + 4, &value, sizeof value);
    }
    if (out)
        memcpy(out, bytes, narrow ? 5 : 8);
    return narrow ? 5 : 8;
}

/* The plan's first edit at or above an address. */
static size_t first_edit(const struct move_function *plan, uint64_t address)
{
    return lower_bound(i, 0, plan->edit_count, plan->edits[i].address < address);
}

int32_t move_layout_lea(const struct move_layout *layout, uint32_t insn, enum move_what what)
{
    const struct move_function *plan = layout->plan;
    uint64_t address = layout->unit->code.insns[insn].address;
    uint32_t sum = 0;
    for (size_t i = first_edit(plan, address); i < plan->edit_count && plan->edits[i].address == address; i++)
        if (plan->edits[i].what == what)
            sum += (uint32_t)plan->edits[i].value;
    return (int32_t)sum;
}

struct edited {
    uint8_t *bytes;
    unsigned length;
};

/* Replaces `old` bytes at an offset by the low `new` bytes of the value. */
static bool splice_bytes(struct edited *e, unsigned at, unsigned old, unsigned new, int32_t value)
{
    if (e->length - old + new > LENGTH_MOST)
        return false;
    memmove(e->bytes + at + new, e->bytes + at + old, e->length - at - old);
    memcpy(e->bytes + at, &value, new);
    e->length = e->length - old + new;
    return true;
}

static bool fits_byte(int32_t value)
{
    return value >= INT8_MIN && value <= INT8_MAX;
}

static bool edit_displacement(struct edited *e, const struct code_insn *insn, int32_t value)
{
    struct code_fields f;
    if (!code_read_fields(e->bytes, e->length, &f) || !f.has_modrm || f.mod == 3 || insn->rip_relative ||
        insn->base == CODE_NO_REGISTER)
        return false;
    unsigned old = f.displacement_size, sib = (f.rm & 7) == 4, modrm = f.displacement_at - 1u - sib;
    bool scaled = e->bytes[0] == 0x62;
    if (value == insn->displacement)
        return true;
    unsigned new = old == 4 || scaled || !fits_byte(value) ? 4 : 1;
    if (!splice_bytes(e, f.displacement_at, old, new, value))
        return false;
    e->bytes[modrm] = (uint8_t)((e->bytes[modrm] & 0x3f) | (new == 4 ? 0x80 : 0x40));
    return true;
}

static bool edit_immediate(struct edited *e, int32_t value)
{
    struct code_fields f;
    if (!code_read_fields(e->bytes, e->length, &f) || f.vector || f.map != 0 || f.immediate_size == 0)
        return false;
    unsigned at = f.immediate_at, size = f.immediate_size;
    if (size == 4)
        return splice_bytes(e, at, 4, 4, value);
    if (size != 1)
        return false;
    if (fits_byte(value))
        return splice_bytes(e, at, 1, 1, value);
    unsigned modrm = f.mod == 3 ? at - 1u : f.displacement_at - 1u - ((f.rm & 7) == 4);
    unsigned opcode = f.has_modrm ? modrm - 1u : at - 1u;
    uint8_t wide = f.opcode == 0x83 ? 0x81 : f.opcode == 0x6a ? 0x68 : f.opcode == 0x6b ? 0x69 : 0;
    /* with a 66 prefix the wide form has only two bytes */
    if (wide == 0 || e->bytes[opcode] != f.opcode || memchr(e->bytes, 0x66, opcode))
        return false;
    e->bytes[opcode] = wide;
    return splice_bytes(e, at, 1, 4, value);
}

unsigned move_layout_encode(const struct move_layout *layout, uint32_t i, uint8_t out[16])
{
    const struct code_insn *insn = &layout->unit->code.insns[i];
    const struct move_function *plan = layout->plan;
    struct edited e = {out, insn->length};
    memcpy(out, move_unit_bytes(layout->unit, i), insn->length);
    for (size_t k = first_edit(plan, insn->address);
         k < plan->edit_count && plan->edits[k].address == insn->address; k++) {
        const struct move_edit *edit = &plan->edits[k];
        if ((edit->what == MOVE_DISPLACEMENT && !edit_displacement(&e, insn, edit->value)) ||
            (edit->what == MOVE_IMMEDIATE && (insn->kind != CODE_PLAIN || !edit_immediate(&e, edit->value))))
            return 0;
    }
    return e.length;
}

bool move_is_short(const uint8_t *bytes, unsigned length, const struct code_insn *insn)
{
    struct code_fields f;
    return (insn->kind == CODE_JUMP || insn->kind == CODE_BRANCH) && code_read_fields(bytes, length, &f) &&
           f.immediate_size == 1;
}

/* The size of a branch with a distance of 4 bytes. */
static unsigned wide_size(const uint8_t *bytes, unsigned length, const struct code_insn *insn)
{
    if (insn->kind == CODE_JUMP)
        return 5;
    bool loop = (bytes[length - 2] & 0xfc) == 0xe0;
    return loop ? length + 7 : 6;
}

static void measure_insn(struct move_layout *layout, uint32_t i)
{
    uint8_t bytes[16];
    const struct code_insn *insn = &layout->unit->code.insns[i];
    unsigned length = move_layout_encode(layout, i, bytes);
    int32_t after = move_layout_lea(layout, i, MOVE_LEA_AFTER);
    layout->bad |= length == 0;
    layout->insns[i].after = after ? (uint8_t)move_lea(after, NULL) : 0;
    int32_t before = layout->plan->edit_count ? move_layout_lea(layout, i, MOVE_LEA_BEFORE) : 0;
    const struct move_code *codes;
    unsigned code;
    move_codes_of(layout->plan, insn->address, &codes, &code);
    code += before ? move_lea(before, NULL) : 0;
    unsigned guards = length ? move_guards_size(layout, i, bytes, length) : 0;
    layout->bad |= guards > (unsigned)UINT8_MAX - length || code > (unsigned)UINT8_MAX - guards;
    layout->insns[i].before = (uint8_t)code;
    layout->insns[i].size = (uint8_t)(length + guards);
    layout->insns[i].wide = false;
    if (length && move_is_short(bytes, length, insn)) {
        uint32_t to = layout->unit->code.jumps[i];
        if (to == FUNCTION_CODE_NONE || move_unit_part(layout->unit, to) != move_unit_part(layout->unit, i)) {
            layout->insns[i].wide = true;
            layout->insns[i].size = (uint8_t)wide_size(bytes, length, insn);
        }
    }
}

/* Places all instructions by their current sizes. */
static void place_parts(struct move_layout *layout)
{
    const struct move_unit *unit = layout->unit;
    for (uint32_t p = 0; p < unit->part_count; p++) {
        uint32_t at = 0;
        for (uint32_t i = unit->parts[p].first; i < unit->parts[p].first + unit->parts[p].count; i++) {
            layout->insns[i].entry = at;
            layout->insns[i].body = at + layout->insns[i].before;
            at = layout->insns[i].body + layout->insns[i].size + layout->insns[i].after;
        }
        layout->part_sizes[p] = at;
    }
}

/* Widens branches that do not reach; returns whether there were any. */
static bool widen_branches(struct move_layout *layout)
{
    const struct move_unit *unit = layout->unit;
    bool any = false;
    for (uint32_t i = 0; i < unit->code.count; i++) {
        uint32_t to = unit->code.jumps[i];
        const struct code_insn *insn = &unit->code.insns[i];
        if (to == FUNCTION_CODE_NONE || layout->insns[i].wide ||
            !move_is_short(move_unit_bytes(unit, i), insn->length, insn))
            continue;
        int64_t distance = (int64_t)layout->insns[to].entry - (layout->insns[i].body + layout->insns[i].size);
        if (distance >= INT8_MIN && distance <= INT8_MAX)
            continue;
        layout->insns[i].wide = any = true;
        layout->insns[i].size = (uint8_t)wide_size(move_unit_bytes(unit, i), insn->length, insn);
    }
    return any;
}

/* Whether every edit is of an instruction. */
static bool edits_meet(const struct move_layout *layout)
{
    const struct move_function *plan = layout->plan;
    for (size_t i = 0; i < plan->edit_count; i++)
        if (function_code_find(&layout->unit->code, plan->edits[i].address) == FUNCTION_CODE_NONE ||
            (i && plan->edits[i].address < plan->edits[i - 1].address))
            return false;
    for (size_t i = 0; i < plan->code_count; i++)
        if (function_code_find(&layout->unit->code, plan->codes[i].address) == FUNCTION_CODE_NONE ||
            (i && plan->codes[i].address < plan->codes[i - 1].address))
            return false;
    return true;
}

int move_layout_make(struct move_layout *layout, const struct move_unit *unit,
                     const struct move_function *plan)
{
    uint32_t count = unit->code.count;
    if (!vec_reserve(layout->insns, 0, layout->capacity, count) ||
        !vec_reserve(layout->part_sizes, 0, layout->part_capacity, unit->part_count))
        return -ENOMEM;
    layout->unit = unit;
    layout->plan = plan;
    layout->bad = !edits_meet(layout);
    for (uint32_t i = 0; i < count; i++)
        measure_insn(layout, i);
    if (layout->bad)
        return 0;
    do
        place_parts(layout);
    while (widen_branches(layout));
    return 0;
}

void move_layout_free(struct move_layout *layout)
{
    free(layout->insns);
    free(layout->part_sizes);
    *layout = (struct move_layout){0};
}

uint32_t move_layout_boundary(const struct move_layout *layout, uint32_t p, uint64_t address, bool body)
{
    const struct move_part *part = &layout->unit->parts[p];
    if (address == part->address + part->size)
        return layout->part_sizes[p];
    uint32_t i = function_code_find(&layout->unit->code, address);
    if (i == FUNCTION_CODE_NONE || i < part->first || i >= part->first + part->count)
        return UINT32_MAX;
    if (body)
        return layout->insns[i].body;
    return i == part->first ? 0 : layout->insns[i - 1].body + layout->insns[i - 1].size;
}
