/* edits.c - see edits.h. */
#include "rewrite/edits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/sort.h"
#include "base/vec.h"
#include "rewrite/growth/frames.h"

/* Reads the number in the code that a frame's edit changes. false: not in the file. */
static bool read_number(const struct image *image, const struct frame_edit *edit, int32_t *out)
{
    size_t size;
    const uint8_t *bytes = image_bytes(image, edit->address, &size);
    if (!bytes || size < edit->size)
        return false;
    if (edit->size == 1)
        *out = (int8_t)bytes[0];
    else
        memcpy(out, bytes, sizeof *out);
    return true;
}

/* The instruction that contains the address. */
static uint32_t find_insn(const struct unit *u, uint64_t address)
{
    return lower_bound(i, 0u, u->code.count, u->code.insns[i].address <= address) - 1;
}

static int add_operand(const struct unit *u, const struct frame_edit *edit, uint32_t pad, struct edits *to)
{
    struct code_fields fields;
    uint32_t i = find_insn(u, edit->address);
    int32_t number;
    if (i >= u->code.count || !unit_fields(u, i, &fields) || !read_number(u->whole->image, edit, &number))
        return -EINVAL;
    uint64_t insn = u->code.insns[i].address;
    bool displacement = fields.displacement_size && edit->address == insn + fields.displacement_at;
    int64_t grown = number + edit->sign * (int64_t)pad;
    if (grown != (int32_t)grown)
        return -EINVAL;
    struct move_edit change = {insn, (int32_t)grown, displacement ? MOVE_DISPLACEMENT : MOVE_IMMEDIATE};
    return vec_push(to->at, to->count, to->capacity, change) ? 0 : -ENOMEM;
}

/* Adds edits of the CFA: from where on the pad is part of the frame, and from where not. */
static int add_cfa(const struct unit *u, uint32_t pad, struct edits *to)
{
    int32_t before = -1;
    for (uint32_t i = 0; i < u->code.count; i++) {
        uint64_t address = u->code.insns[i].address;
        for (uint32_t p = 0; p < u->part_count; p++)
            before = u->parts[p].address == address ? -1 : before;
        if (u->states[i].depth == DEPTH_UNSEEN)
            continue;
        int32_t come = u->states[i].bound ? (int32_t)pad : 0, now = unit_has_pad(u, i) ? (int32_t)pad : 0;
        struct move_edit first = {address, come, MOVE_CFA_BEFORE}, then = {address, now, MOVE_CFA};
        if ((now != come && come != before && !vec_push(to->at, to->count, to->capacity, first)) ||
            ((now != come || now != before) && !vec_push(to->at, to->count, to->capacity, then)))
            return -ENOMEM;
        before = now;
    }
    return 0;
}

/* Inserts lea, as the flags may be in use. */
static int add_insertions(const struct unit *u, uint32_t pad, struct edits *to)
{
    for (size_t i = 0; i < u->insertion_count; i++) {
        const struct unit_insertion *at = &u->insertions[i];
        struct move_edit edit = {u->code.insns[at->insn].address, -at->sign * (int32_t)pad,
                                 at->after ? MOVE_LEA_AFTER : MOVE_LEA_BEFORE};
        if (!vec_push(to->at, to->count, to->capacity, edit))
            return -ENOMEM;
    }
    return 0;
}

static int by_address(const void *a, const void *b)
{
    const struct move_edit *x = a, *y = b;
    return order_of(x->address, y->address) ?: x->what - y->what;
}

int edits_make(struct unit *u, const struct growth *growth, const struct pad *pad, struct edits *to)
{
    uint32_t function = image_function_entry(growth->whole.image, pad->address);
    if (function == IMAGE_NO_FUNCTION ||
        (!growth_is_understood(growth, function) && !growth_by_insertion(growth, function)))
        return -EINVAL;
    int rc = unit_analyse(u, &growth->whole, function);
    for (size_t i = 0; rc == 0 && i < u->edit_count; i++)
        rc = add_operand(u, &u->edits[i], pad->bytes, to);
    if (rc == 0)
        rc = add_insertions(u, pad->bytes, to);
    if (rc == 0)
        rc = add_cfa(u, pad->bytes, to);
    if (rc == 0)
        sort_with(to->at, to->count, by_address);
    return rc;
}

static struct move_edit *find_edit(const struct edits *e, uint64_t address, enum move_what what)
{
    size_t i =
        lower_bound(k, (size_t)0, e->count, by_address(&e->at[k], &(struct move_edit){address, 0, what}) < 0);
    return i < e->count && e->at[i].address == address && e->at[i].what == what ? &e->at[i] : NULL;
}

/* Adds an edit in order, or replaces the one that is there. */
static bool put_edit(struct edits *e, uint64_t address, int32_t value, enum move_what what)
{
    struct move_edit *there = find_edit(e, address, what), edit = {address, value, (uint8_t)what};
    if (there) {
        there->value = value;
        return true;
    }
    if (!vec_push(e->at, e->count, e->capacity, edit))
        return false;
    size_t i = e->count - 1;
    for (; i > 0 && by_address(&edit, &e->at[i - 1]) < 0; i--)
        e->at[i] = e->at[i - 1];
    e->at[i] = edit;
    return true;
}

/* How far the edits move the CFA away from SP at this instruction. */
static int32_t shift_at(const struct edits *e, uint64_t part, uint64_t address)
{
    for (size_t i = e->count; i-- > 0 && e->at[i].address >= part;)
        if (e->at[i].address <= address && (e->at[i].what == MOVE_CFA || e->at[i].what == MOVE_CFA_BEFORE))
            return e->at[i].value;
    return 0;
}

/* Ends the wrap's effect behind the call. */
static bool end_wrap(struct edits *e, uint64_t next, int32_t shift)
{
    bool added = find_edit(e, next, MOVE_LEA_BEFORE);
    enum move_what what = added ? MOVE_CFA_BEFORE : MOVE_CFA;
    return find_edit(e, next, MOVE_CFA_BEFORE) || find_edit(e, next, what) || put_edit(e, next, shift, what);
}

static bool wrap_call(const struct image *image, const struct wrap *wrap, uint64_t next, struct edits *e)
{
    uint32_t part = image_function_at(image, wrap->site);
    int32_t bytes = (int32_t)wrap->bytes;
    int32_t shift = shift_at(e, image_function(image, part)->address, wrap->site);
    struct move_edit *own = find_edit(e, wrap->site, MOVE_CFA);
    bool good = true;
    if (own && !find_edit(e, wrap->site, MOVE_CFA_BEFORE)) /* while SP is lowered */
        good = put_edit(e, wrap->site, own->value, MOVE_CFA_BEFORE);
    return good && put_edit(e, wrap->site, -bytes, MOVE_LEA_BEFORE) &&
           put_edit(e, wrap->site, bytes, MOVE_LEA_AFTER) &&
           put_edit(e, wrap->site, shift + bytes, MOVE_CFA) &&
           put_edit(e, wrap->site, bytes, MOVE_ARGUMENTS) && end_wrap(e, next, shift);
}

uint64_t edits_behind_call(const struct image *image, uint64_t site)
{
    struct code_insn call;
    size_t size;
    const uint8_t *bytes = image_bytes(image, site, &size);
    uint32_t part = image_function_at(image, site);
    if (!bytes || !code_read(bytes, size, site, &call) || call.kind != CODE_CALL ||
        part == IMAGE_NO_FUNCTION || image_function_at(image, site + call.length) != part)
        return 0;
    return site + call.length;
}

int edits_wrap(const struct image *image, const struct wrap *wraps, size_t count, struct edits *to)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t next = edits_behind_call(image, wraps[i].site);
        if (!next)
            return -EINVAL;
        if (!wrap_call(image, &wraps[i], next, to))
            return -ENOMEM;
    }
    return 0;
}
