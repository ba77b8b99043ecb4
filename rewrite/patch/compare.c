/*
 * compare.c - see compare.h. Changed instructions are also decoded by capstone, independently of image/code/:
 * both must see the same change.
 */
#include "rewrite/patch/compare.h"

#include <capstone/capstone.h>
#include <stdlib.h>
#include <string.h>

struct compare {
    csh handle;
    cs_insn *before, *after;
};

struct compare *compare_new(void)
{
    struct compare *c = calloc(1, sizeof *c);
    if (!c || cs_open(CS_ARCH_X86, CS_MODE_64, &c->handle) != CS_ERR_OK) {
        free(c);
        return NULL;
    }
    cs_option(c->handle, CS_OPT_DETAIL, CS_OPT_ON);
    c->before = cs_malloc(c->handle);
    c->after = cs_malloc(c->handle);
    if (!c->before || !c->after) {
        compare_free(c);
        return NULL;
    }
    return c;
}

void compare_free(struct compare *c)
{
    if (!c)
        return;
    if (c->before)
        cs_free(c->before, 1);
    if (c->after)
        cs_free(c->after, 1);
    cs_close(&c->handle);
    free(c);
}

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
static bool decoded_alike(const struct compare *c, const uint8_t *x, const uint8_t *y, size_t length,
                          uint32_t pad)
{
    const uint8_t *code[2] = {x, y};
    size_t size[2] = {length, length};
    uint64_t address[2] = {0, 0};
    if (!cs_disasm_iter(c->handle, &code[0], &size[0], &address[0], c->before) ||
        !cs_disasm_iter(c->handle, &code[1], &size[1], &address[1], c->after))
        return false;
    const cs_x86 *a = &c->before->detail->x86, *b = &c->after->detail->x86;
    if (c->before->size != length || c->after->size != length || c->before->id != c->after->id ||
        a->op_count != b->op_count)
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

static const char *compare_insns(const struct compare *c, const struct unit *before, const struct unit *after,
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

const char *compare_units(struct compare *c, const struct unit *before, const struct unit *after,
                          uint32_t pad, uint64_t *where)
{
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
