/*
 * check.c - analyses a resized file anew and compares it with the original, instruction by instruction; see patch.h. Changed instructions
 * are also decoded by capstone, independently of image/code/: both must see the same change.
 */
#include <capstone/capstone.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rewrite/patch/apply.h"
#include "rewrite/patch/patch.h"
#include "image/image_file.h"
#include "image/image_private.h"

struct check {
    /* The resized image with the original's functions, as its own separate symbols might not be found by the new
     * build-id. */
    struct image after;
    struct whole whole_before, whole_after;
    struct unit u_before, u_after;
    uint8_t *data, *data_after; /* the original file, turned into the expected one; the resized one */
    size_t size, size_after;
    csh capstone;
    cs_insn *insn_before, *insn_after;
    struct fathom_error *err;
};

static const uint8_t *bytes_at(const struct unit *u, const struct code_insn *insn)
{
    size_t size;
    const uint8_t *bytes = image_bytes(u->whole->image, insn->address, &size);
    return bytes && size >= insn->length ? bytes : NULL;
}

static bool same_operand(const cs_x86_op *x, const cs_x86_op *y, uint32_t pad, unsigned *changes)
{
    if (x->type != y->type || x->size != y->size)
        return false;
    if (x->type == X86_OP_REG)
        return x->reg == y->reg;
    int64_t change;
    if (x->type == X86_OP_IMM) {
        change = y->imm - x->imm;
    } else {
        if (x->mem.base != y->mem.base || x->mem.index != y->mem.index || x->mem.scale != y->mem.scale ||
            x->mem.segment != y->mem.segment || (y->mem.disp != x->mem.disp && x->mem.base != X86_REG_RSP))
            return false;
        change = y->mem.disp - x->mem.disp;
    }
    *changes += change != 0;
    return change == 0 || change == (int64_t)pad || change == -(int64_t)pad;
}

/* Whether capstone sees the same instruction with one number changed by the pad. */
static bool decoded_alike(const struct check *c, const uint8_t *x, const uint8_t *y, size_t length,
                          uint32_t pad)
{
    const uint8_t *code[2] = {x, y};
    size_t size[2] = {length, length};
    uint64_t address[2] = {0, 0};
    if (!cs_disasm_iter(c->capstone, &code[0], &size[0], &address[0], c->insn_before) ||
        !cs_disasm_iter(c->capstone, &code[1], &size[1], &address[1], c->insn_after))
        return false;
    const cs_x86 *a = &c->insn_before->detail->x86, *b = &c->insn_after->detail->x86;
    if (c->insn_before->size != length || c->insn_after->size != length ||
        c->insn_before->id != c->insn_after->id || a->op_count != b->op_count)
        return false;
    unsigned changes = 0;
    for (unsigned i = 0; i < a->op_count; i++)
        if (!same_operand(&a->operands[i], &b->operands[i], pad, &changes))
            return false;
    return changes == 1;
}

static const char *compare_states(const struct frame_state *x, const struct frame_state *y, uint32_t pad)
{
    int64_t grown = x->bound && x->depth >= 0 ? pad : 0;
    if (x->bound != y->bound || x->frame != y->frame)
        return "another part of its frame is allocated there";
    return y->depth == x->depth + grown ? NULL : "its frame is not larger by the pad";
}

/* Whether an operand addressed by SP reaches the same memory: above the pad the same address, below it what moved
 * with SP. */
static bool reaches_same(const struct unit *before, const struct unit *after, uint32_t i, uint32_t pad)
{
    const struct code_insn *x = &before->code.insns[i], *y = &after->code.insns[i];
    const struct frame_state *s = &before->states[i], *t = &after->states[i];
    struct code_fields f;
    if (!s->bound || s->depth < 0 || before->framed)
        return x->displacement == y->displacement;
    if (x->stack == CODE_SP_MOVED && x->base == CODE_SP && unit_fields(before, i, &f) && f.opcode == 0x8d)
        return true; /* lea x(%rsp),%rsp: compared by the states */
    int64_t a = (int64_t)x->displacement - s->depth, b = (int64_t)y->displacement - t->depth;
    bool lea = unit_fields(before, i, &f) && f.map == 0 && !f.vector && f.opcode == 0x8d;
    bool above = lea ? a > -(int64_t)s->bound : a >= -(int64_t)s->bound;
    return b == (above ? a : a - (int64_t)pad);
}

static const char *compare_insns(const struct check *c, const struct unit *before, const struct unit *after,
                                 uint32_t i, uint32_t pad)
{
    const struct code_insn *x = &before->code.insns[i], *y = &after->code.insns[i];
    if (x->address != y->address || x->length != y->length || x->kind != y->kind || x->stack != y->stack)
        return "it is another instruction";
    if ((before->states[i].depth == DEPTH_UNSEEN) != (after->states[i].depth == DEPTH_UNSEEN))
        return "it is reached by other ways";
    const uint8_t *from = bytes_at(before, x), *to = bytes_at(after, y);
    if (!from || !to)
        return "its bytes are missing";
    bool changed = memcmp(from, to, x->length) != 0;
    if (before->states[i].depth == DEPTH_UNSEEN)
        return changed ? "code that nothing leads to was changed" : NULL;
    if (changed && !decoded_alike(c, from, to, x->length, pad))
        return "more than one number of an instruction was changed";
    if (x->memory_operand && x->base == CODE_SP && x->kind != CODE_NOP &&
        !reaches_same(before, after, i, pad))
        return "an operand addresses something else";
    return compare_states(&before->states[i], &after->states[i], pad);
}

/* NULL: the units agree. Otherwise the difference, at *where. */
static const char *compare_units(const struct check *c, uint32_t pad, uint64_t *where)
{
    const struct unit *before = &c->u_before, *after = &c->u_after;
    *where = before->parts[0].address;
    if (before->code.count != after->code.count || before->part_count != after->part_count)
        return "it has other instructions";
    if (before->framed != after->framed)
        return "its locals are addressed in another way";
    for (uint32_t i = 0; i < before->code.count; i++) {
        const char *what = compare_insns(c, before, after, i, pad);
        *where = before->code.insns[i].address;
        if (what)
            return what;
    }
    return NULL;
}

static int note_difference(struct check *c, uint64_t address, const char *what)
{
    return error_set(c->err, EBADMSG, "the resized %s is wrong at 0x%llx: %s", image_name(&c->after),
                     (unsigned long long)address, what);
}

/* Copies what may have changed in this function. */
static int expect_changes(struct check *c, uint32_t bytes)
{
    const struct unit *u = &c->u_before;
    for (size_t i = 0; i < u->edit_count; i++)
        if (patch_apply(u, &u->edits[i], bytes, c->data, c->size) < 0)
            return note_difference(c, u->edits[i].address, "its numbers have no room for the pad");
    /* CFI is compared by rows, in the analysis */
    for (size_t i = 0; i < u->fde_count; i++) {
        size_t at = patch_fde_offset(u, &u->fdes[i]);
        memcpy(c->data + at, c->data_after + at, bytes_left(&u->fdes[i].fde->code));
    }
    return 0;
}

static int check_function(struct check *c, const struct pad *pad)
{
    uint32_t function = image_function_entry(c->whole_before.image, pad->address);
    if (function == IMAGE_NO_FUNCTION)
        return note_difference(c, pad->address, "there is no function");
    if (unit_analyse(&c->u_before, &c->whole_before, function) < 0 ||
        unit_analyse(&c->u_after, &c->whole_after, function) < 0)
        return error_memory(c->err);
    if (c->u_before.refusal != GROWTH_RESIZABLE)
        return note_difference(c, pad->address, "it should not have been changed");
    enum growth_refusal refusal = c->u_after.refusal;
    if (refusal != GROWTH_RESIZABLE && refusal != GROWTH_NO_ROOM && refusal != GROWTH_NO_ROOM_CFI)
        return note_difference(c, c->u_after.where, growth_refusal_text(refusal));
    uint64_t where;
    const char *what = compare_units(c, pad->bytes, &where);
    if (what)
        return note_difference(c, where, what);
    return expect_changes(c, pad->bytes);
}

static int check_rest(struct check *c, bool changed)
{
    const struct elf_file *file = &c->whole_before.image->file;
    const uint64_t at = file->build_id_at, bytes = file->build_id_bytes;
    if (bytes && at + bytes <= c->size) {
        bool same = memcmp(c->data + at, c->data_after + at, bytes) == 0;
        if (changed && same)
            return error_set(c->err, EBADMSG, "the resized %s has the build-id of the original",
                             image_name(&c->after));
        memcpy(c->data + at, c->data_after + at, bytes);
    }
    for (size_t i = 0; i < c->size; i++)
        if (c->data[i] != c->data_after[i])
            return error_set(c->err, EBADMSG,
                             "the resized %s differs from the original at offset 0x%zx of the file",
                             image_name(&c->after), i);
    return 0;
}

/* false: out of memory. */
static bool open_capstone(struct check *c)
{
    if (cs_open(CS_ARCH_X86, CS_MODE_64, &c->capstone) != CS_ERR_OK)
        return false;
    cs_option(c->capstone, CS_OPT_DETAIL, CS_OPT_ON);
    c->insn_before = cs_malloc(c->capstone);
    c->insn_after = cs_malloc(c->capstone);
    return c->insn_before && c->insn_after;
}

static int run_check(struct check *c, const struct image *before, const struct pad *pads, size_t count)
{
    int rc = image_read_file(before, &c->data, &c->size, c->err);
    if (rc == 0)
        rc = image_read_file(&c->after, &c->data_after, &c->size_after, c->err);
    if (rc == 0 && c->size != c->size_after)
        rc = error_set(c->err, EBADMSG, "the resized %s has another length", image_name(&c->after));
    if (rc == 0)
        rc = whole_read(before, &c->whole_before, c->err);
    if (rc == 0)
        rc = whole_read(&c->after, &c->whole_after, c->err);
    if (rc == 0 && !open_capstone(c))
        rc = error_memory(c->err);
    bool changed = false;
    for (size_t i = 0; i < count && rc == 0; i++) {
        changed |= pads[i].bytes != 0;
        if (pads[i].bytes)
            rc = check_function(c, &pads[i]);
    }
    return rc == 0 ? check_rest(c, changed) : rc;
}

int patch_check(const struct image *before, const struct image *after, const struct pad *pads, size_t count,
                struct fathom_error *err)
{
    struct check c = {.after = *after, .err = err};
    c.after.functions = before->functions;
    int rc = run_check(&c, before, pads, count);
    if (c.insn_before)
        cs_free(c.insn_before, 1);
    if (c.insn_after)
        cs_free(c.insn_after, 1);
    if (c.capstone)
        cs_close(&c.capstone);
    free(c.data);
    free(c.data_after);
    whole_free(&c.whole_before);
    whole_free(&c.whole_after);
    unit_free(&c.u_before);
    unit_free(&c.u_after);
    return rc;
}
