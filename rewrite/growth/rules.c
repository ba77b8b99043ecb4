/*
 * rules.c - the CFI of a unit as bytes: which numbers in it grow with the frame, and its instructions with a pad
 * (DWARF 5, section 6.4.2); see unit.h.
 *
 * Larger numbers may need more bytes, which are taken from the padding (DW_CFA_nop) at the end of the FDE. The
 * result is run again to check that each instruction has the row that it must have.
 */
#include "rewrite/growth/unit.h"

#include <errno.h>
#include <libdwarf/dwarf.h>
#include <string.h>

#include "base/bytes.h"
#include "base/search.h"
#include "base/vec.h"

enum {
    BP_COLUMN = 6,
    SP_COLUMN = 7,
    COLUMNS = 17, /* general registers and the return address */
    REMEMBER_DEPTH = 16
};

struct registers {
    int32_t slots[COLUMNS]; /* bytes below the CFA; 0: not saved */
    bool by_sp;             /* CFA = SP + a number */
    uint32_t args;
};

struct rule_reader {
    struct unit *u;
    const struct cfi_cie *cie;
    struct bytes b;
    const uint8_t *start;
    uint64_t location;
    struct registers now, remembered[REMEMBER_DEPTH];
    unsigned depth;
    bool odd; /* some instruction is not understood */
    int rc;
};

static void add_point(struct rule_reader *r)
{
    struct unit *u = r->u;
    struct unit_point point = {.location = r->location, .args = r->now.args};
    for (unsigned i = 0; i < COLUMNS - 1; i++) {
        int32_t slot = r->now.slots[i];
        if (slot > point.deepest)
            point.deepest = slot;
        if (slot >= 16 && slot % 8 == 0 && slot < 16 + 8 * 32)
            point.named |= 1u << ((slot - 16) / 8);
    }
    if (u->point_count && u->points[u->point_count - 1].location == point.location)
        u->points[u->point_count - 1] = point;
    else if (!vec_push(u->points, u->point_count, u->point_capacity, point))
        r->rc = -ENOMEM;
}

static void advance_location(struct rule_reader *r, uint64_t by)
{
    if (__builtin_mul_overflow(by, r->cie->code_alignment, &by) || r->location + by < r->location)
        r->odd = true;
    else if (by) {
        add_point(r);
        r->location += by;
    }
}

static void save_rule(struct rule_reader *r, uint64_t column, uint64_t factor)
{
    int64_t offset;
    if (__builtin_mul_overflow((int64_t)factor, r->cie->data_alignment, &offset) || offset < -DEPTH_MOST ||
        offset >= 0) {
        r->odd = true;
        return;
    }
    if (column < COLUMNS)
        r->now.slots[column] = (int32_t)-offset;
    else
        r->odd = true;
}

static void forget_column(struct rule_reader *r, uint64_t column)
{
    if (column < COLUMNS)
        r->now.slots[column] = 0;
}

/* Handles a change of the CFA's register. */
static void define_register(struct rule_reader *r)
{
    uint64_t column = bytes_uleb(&r->b);
    r->now.by_sp = column == SP_COLUMN;
    r->u->by_bp |= column == BP_COLUMN;
}

/* Handles CFA = register + number. */
static void define_cfa(struct rule_reader *r, bool with_register)
{
    struct unit *u = r->u;
    if (with_register)
        define_register(r);
    const uint8_t *before = r->b.at;
    uint64_t value = bytes_uleb(&r->b);
    if (!r->now.by_sp || r->b.failed)
        return;
    struct unit_rule rule = {.location = r->location,
                             .at = (uint32_t)(before - r->start),
                             .value = (uint32_t)value,
                             .length = (uint8_t)(r->b.at - before)};
    if (value > DEPTH_MOST)
        r->odd = true;
    else if (!vec_push(u->rules, u->rule_count, u->rule_capacity, rule))
        r->rc = -ENOMEM;
}

/* Handles instructions that have a byte of their own. */
static void read_extended(struct rule_reader *r, uint8_t op)
{
    struct bytes *b = &r->b;
    uint64_t column;
    switch (op) {
    case DW_CFA_nop:
        break;
    case DW_CFA_advance_loc1:
        advance_location(r, bytes_u8(b));
        break;
    case DW_CFA_advance_loc2:
        advance_location(r, bytes_u16(b));
        break;
    case DW_CFA_advance_loc4:
        advance_location(r, bytes_u32(b));
        break;
    case DW_CFA_offset_extended:
        column = bytes_uleb(b);
        save_rule(r, column, bytes_uleb(b));
        break;
    case DW_CFA_restore_extended:
    case DW_CFA_undefined:
    case DW_CFA_same_value:
        forget_column(r, bytes_uleb(b));
        break;
    case DW_CFA_remember_state:
        if (r->depth == REMEMBER_DEPTH)
            r->odd = true;
        else
            r->remembered[r->depth++] = r->now;
        break;
    case DW_CFA_restore_state:
        if (r->depth == 0)
            r->odd = true;
        else
            r->now = r->remembered[--r->depth];
        break;
    case DW_CFA_def_cfa:
        define_cfa(r, true);
        break;
    case DW_CFA_def_cfa_register:
        define_register(r);
        r->odd |= r->now.by_sp; /* the number is an earlier one */
        break;
    case DW_CFA_def_cfa_offset:
        define_cfa(r, false);
        break;
    case DW_CFA_GNU_args_size:
        r->now.args = (uint32_t)bytes_uleb(b);
        r->odd |= r->now.args > DEPTH_MOST;
        break;
    default: /* expressions, registers in registers, absolute locations */
        r->odd = true;
    }
}

static int read_fde(struct unit *u, const struct cfi_fde *fde)
{
    const struct cfi_cie *cie = &u->whole->cfi.cies[fde->cie];
    struct rule_reader r = {.u = u,
                            .cie = cie,
                            .b = fde->code,
                            .start = fde->code.at,
                            .location = fde->address,
                            .now.by_sp = cie->initial.cfa == CFI_SP};
    struct unit_fde out = {.fde = fde, .first = (uint32_t)u->rule_count};
    while (bytes_left(&r.b) && !r.b.failed && !r.odd && r.rc == 0) {
        uint8_t op = bytes_u8(&r.b);
        if ((op & 0xc0) == DW_CFA_advance_loc)
            advance_location(&r, op & 0x3f);
        else if ((op & 0xc0) == DW_CFA_offset)
            save_rule(&r, op & 0x3f, bytes_uleb(&r.b));
        else if ((op & 0xc0) == DW_CFA_restore)
            forget_column(&r, op & 0x3f);
        else
            read_extended(&r, op);
        if (op)
            out.used = (uint32_t)(r.b.at - r.start);
    }
    add_point(&r);
    if (r.odd || r.b.failed)
        unit_refuse(u, GROWTH_CFI_UNSUPPORTED, fde->address);
    out.count = (uint32_t)u->rule_count - out.first;
    if (r.rc == 0 && !vec_push(u->fdes, u->fde_count, u->fde_capacity, out))
        r.rc = -ENOMEM;
    return r.rc;
}

int unit_read_rules(struct unit *u)
{
    const struct cfi_frames *cfi = &u->whole->cfi;
    int rc = 0;
    for (uint32_t p = 0; p < u->part_count && rc == 0; p++) {
        uint64_t start = u->parts[p].address, end = start + u->parts[p].size;
        for (size_t i = lower_bound(k, (size_t)0, cfi->fde_count, cfi->fdes[k].address < start);
             i < cfi->fde_count && cfi->fdes[i].address < end && rc == 0; i++)
            rc = read_fde(u, &cfi->fdes[i]);
    }
    return rc;
}

/* The first instruction at or after the address that some path reaches; code.count: none. */
static uint32_t first_seen(const struct unit *u, uint64_t address)
{
    uint32_t i = lower_bound(k, 0u, u->code.count, u->code.insns[k].address < address);
    while (i < u->code.count && u->states[i].depth == DEPTH_UNSEEN)
        i++;
    return i;
}

static size_t padded_length(const struct unit_rule *rule, uint32_t pad)
{
    const size_t length = bytes_uleb_size(rule->value + (uint64_t)pad);
    return length > rule->length ? length : rule->length;
}

bool unit_encode(struct unit *u, const struct unit_fde *fde, uint32_t pad, int *rc)
{
    const struct bytes *code = &fde->fde->code;
    size_t size = bytes_left(code), in = 0, out = 0;
    uint64_t more = 0;
    for (uint32_t i = fde->first; i < fde->first + fde->count; i++)
        if (u->rules[i].grows)
            more += padded_length(&u->rules[i], pad) - u->rules[i].length;
    if (more > size - fde->used)
        return false;
    if (!vec_reserve(u->scratch, 0, u->scratch_capacity, size + 1)) {
        *rc = -ENOMEM;
        return false;
    }
    for (uint32_t i = fde->first; i < fde->first + fde->count; i++) {
        const struct unit_rule *rule = &u->rules[i];
        if (!rule->grows)
            continue;
        size_t length = padded_length(rule, pad);
        memcpy(u->scratch + out, code->at + in, rule->at - in);
        out += rule->at - in;
        bytes_put_uleb_as(u->scratch + out, rule->value + (uint64_t)pad, length);
        out += length;
        in = rule->at + rule->length;
    }
    memcpy(u->scratch + out, code->at + in, fde->used - in);
    out += fde->used - in;
    memset(u->scratch + out, 0, size - out);
    return true;
}

/* Whether an instruction's row is right with the pad. */
static bool is_right(const struct unit *u, uint32_t i, const struct cfi_rules *rules, uint32_t pad)
{
    const struct frame_state *s = &u->states[i];
    struct cfi_row row = cfi_lookup(image_cfi(u->whole->image), u->code.insns[i].address);
    int64_t grown = row.cfa == CFI_SP && s->bound ? pad : 0;
    return rules->cfa == row.cfa && rules->cfa_offset == row.cfa_offset + grown && rules->bp == row.bp &&
           (row.bp != CFI_BP_AT_CFA || rules->bp_offset == row.bp_offset);
}

/* Runs the instructions in u->scratch and checks all rows. */
static bool check_rows(const struct unit *u, const struct unit_fde *unit_fde, uint32_t pad)
{
    const struct cfi_fde *fde = unit_fde->fde;
    struct cfi_machine m = cfi_machine_at(&u->whole->cfi, fde);
    struct bytes code = bytes_of(u->scratch, bytes_left(&fde->code));
    uint64_t end = fde->address + fde->size;
    enum cfi_progress progress;
    uint32_t i = first_seen(u, fde->address);
    do {
        progress = cfi_machine_run(&m, &code);
        if (progress == CFI_BAD)
            return false;
        uint64_t until = progress == CFI_MOVED && m.location < end ? m.location : end;
        for (; i < u->code.count && u->code.insns[i].address < until; i++)
            if (u->states[i].depth != DEPTH_UNSEEN && !is_right(u, i, &m.now, pad))
                return false;
    } while (progress == CFI_MOVED && m.location < end);
    return true;
}

static void mark_rules(struct unit *u)
{
    for (size_t i = 0; i < u->rule_count; i++) {
        uint32_t at = first_seen(u, u->rules[i].location);
        u->rules[i].grows = at < u->code.count && u->states[at].bound &&
                            cfi_lookup(image_cfi(u->whole->image), u->code.insns[at].address).cfa == CFI_SP;
    }
}

/* By how much the code's numbers can grow. */
static uint32_t code_capacity(const struct unit *u)
{
    const struct image *image = u->whole->image;
    int64_t capacity = GROWTH_MOST;
    for (size_t i = 0; i < u->edit_count; i++) {
        const struct frame_edit *edit = &u->edits[i];
        size_t size;
        const uint8_t *bytes = image_bytes(image, edit->address, &size);
        if (!bytes || size < edit->size)
            return 0;
        int32_t value = (int8_t)bytes[0];
        if (edit->size == 4)
            memcpy(&value, bytes, sizeof value);
        int64_t limit = edit->size == 4 ? INT32_MAX : INT8_MAX;
        int64_t left = edit->sign > 0 ? limit - value : value + limit + 1;
        capacity = left < capacity ? left : capacity;
    }
    return capacity < PAD_UNIT ? 0 : (uint32_t)capacity / PAD_UNIT * PAD_UNIT;
}

int unit_rules(struct unit *u)
{
    int rc = 0;
    mark_rules(u);
    u->most = code_capacity(u);
    if (u->most == 0)
        unit_refuse(u, GROWTH_NO_ROOM, u->parts[0].address);
    for (size_t i = 0; i < u->fde_count && u->most; i++) {
        const struct unit_fde *fde = &u->fdes[i];
        while (u->most && rc == 0 && !unit_encode(u, fde, u->most, &rc))
            u->most -= PAD_UNIT;
        if (rc < 0)
            return rc;
        if (u->most == 0)
            unit_refuse(u, GROWTH_NO_ROOM_CFI, fde->fde->address);
        else if (!check_rows(u, fde, u->most))
            unit_refuse(u, GROWTH_CFI_UNSUPPORTED, fde->fde->address);
    }
    if (u->refusal != GROWTH_RESIZABLE)
        u->most = 0;
    return 0;
}
