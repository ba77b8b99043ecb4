/* equivalent.c - see equivalent.h. It uses capstone directly, so that a misreading in image/code/insn.c shows. */
#include "tests/pathmap/equivalent.h"

#include <criterion/criterion.h>

#include <capstone/capstone.h>
#include <stdlib.h>
#include <string.h>

#include "image/cfi/cfi.h"

struct check {
    const struct image *image;
    csh handle;
    cs_insn *original, *placed;
    uint64_t bias;
    char where[128];
    const uint8_t *at; /* placed code not read yet */
    size_t left;
    uint64_t address;
    struct {
        uint64_t from,
            to; /* where an instruction was, and is placed; a branch: where it should go, and goes */
    } moved[256], branches[256];
    unsigned moved_count, branch_count;
};

static void next_placed(struct check *c)
{
    cr_assert(cs_disasm_iter(c->handle, &c->at, &c->left, &c->address, c->placed), "%s: undecodable",
              c->where);
}

static const cs_x86_op *operand(const cs_insn *insn, unsigned i)
{
    return &insn->detail->x86.operands[i];
}

static void expect_jump(struct check *c, uint64_t target)
{
    next_placed(c);
    cr_assert_eq(c->placed->id, X86_INS_JMP, "%s: %s", c->where, c->placed->mnemonic);
    cr_assert_eq((uint64_t)operand(c->placed, 0)->imm, target, "%s: jumps to the wrong place", c->where);
}

/* A branch to one of the displaced instructions, which may be placed later, goes there; any other one to the original. */
static void expect_branch(struct check *c, uint64_t target)
{
    cr_assert_lt(c->branch_count, 256);
    c->branches[c->branch_count].from = target;
    c->branches[c->branch_count++].to = (uint64_t)operand(c->placed, 0)->imm;
}

static void check_expected_branches(const struct check *c)
{
    for (unsigned i = 0; i < c->branch_count; i++) {
        uint64_t target = c->branches[i].from;
        for (unsigned j = 0; j < c->moved_count; j++)
            if (c->moved[j].from == c->branches[i].from)
                target = c->moved[j].to;
        cr_assert_eq(c->branches[i].to, target, "%s: branches wrongly", c->where);
    }
}

static void expect_push(struct check *c, uint64_t value)
{
    next_placed(c);
    cr_assert_eq(c->placed->id, X86_INS_PUSH, "%s", c->where);
    uint64_t low = (uint32_t)operand(c->placed, 0)->imm;
    next_placed(c);
    cr_assert_eq(c->placed->id, X86_INS_MOV, "%s", c->where);
    cr_assert_str_eq(c->placed->mnemonic, "mov");
    cr_assert_eq(operand(c->placed, 0)->mem.base, X86_REG_RSP);
    cr_assert_eq(operand(c->placed, 0)->mem.disp, 4);
    cr_assert_eq(operand(c->placed, 0)->size, 4);
    uint64_t high = (uint32_t)operand(c->placed, 1)->imm;
    cr_assert_eq(high << 32 | low, value, "%s: pushes the wrong return address", c->where);
}

/* The operands of placed are those of original; memory by rsp is `shift` further up. */
static void expect_operands(struct check *c, int64_t shift)
{
    const cs_x86 *a = &c->original->detail->x86, *b = &c->placed->detail->x86;
    cr_assert_eq(a->op_count, b->op_count, "%s", c->where);
    for (unsigned i = 0; i < a->op_count; i++) {
        const cs_x86_op *x = &a->operands[i], *y = &b->operands[i];
        cr_assert(x->type == y->type && x->size == y->size, "%s: operand %u", c->where, i);
        if (x->type == X86_OP_REG)
            cr_assert_eq(x->reg, y->reg, "%s", c->where);
        if (x->type == X86_OP_IMM)
            cr_assert_eq(x->imm, y->imm, "%s", c->where);
        if (x->type != X86_OP_MEM)
            continue;
        cr_assert(x->mem.base == y->mem.base && x->mem.index == y->mem.index &&
                      x->mem.scale == y->mem.scale && x->mem.segment == y->mem.segment,
                  "%s: operand %u", c->where, i);
        uint64_t from = (uint64_t)x->mem.disp, to = (uint64_t)y->mem.disp;
        if (x->mem.base == X86_REG_RIP) {
            from += c->bias + c->original->address + c->original->size;
            to += c->placed->address + c->placed->size;
        } else if (x->mem.base == X86_REG_RSP) {
            from += (uint64_t)shift;
        }
        cr_assert_eq(from, to, "%s: operand %u names another address", c->where, i);
    }
}

static bool is_loop(unsigned id)
{
    return id == X86_INS_LOOP || id == X86_INS_LOOPE || id == X86_INS_LOOPNE || id == X86_INS_JRCXZ ||
           id == X86_INS_JECXZ;
}

/* Whether control goes on after it. */
static bool check_insn(struct check *c)
{
    const cs_insn *o = c->original;
    const cs_x86_op *first = operand(o, 0);
    bool direct = o->detail->x86.op_count == 1 && first->type == X86_OP_IMM;
    uint64_t target = direct ? c->bias + (uint64_t)first->imm : 0;
    bool branch = cs_insn_group(c->handle, o, X86_GRP_JUMP);
    if (o->id == X86_INS_CALL) {
        expect_push(c, c->bias + o->address + o->size);
        if (direct) {
            expect_jump(c, target);
        } else {
            next_placed(c);
            cr_assert_eq(c->placed->id, X86_INS_JMP, "%s", c->where);
            expect_operands(c, 8);
        }
        return false;
    }
    if (o->id == X86_INS_JMP && direct) {
        next_placed(c);
        cr_assert_eq(c->placed->id, X86_INS_JMP, "%s", c->where);
        expect_branch(c, target);
        return false;
    }
    next_placed(c);
    cr_assert_str_eq(c->placed->mnemonic, o->mnemonic, "%s", c->where);
    if (is_loop(o->id)) {
        uint64_t taken = (uint64_t)operand(c->placed, 0)->imm;
        next_placed(c);
        uint64_t after = (uint64_t)operand(c->placed, 0)->imm;
        cr_assert_eq(c->placed->id, X86_INS_JMP, "%s", c->where);
        cr_assert_eq(taken, c->address, "%s", c->where);
        next_placed(c);
        cr_assert_eq(c->placed->id, X86_INS_JMP, "%s", c->where);
        expect_branch(c, target);
        cr_assert_eq(after, c->address, "%s", c->where);
    } else if (branch && direct) {
        expect_branch(c, target);
    } else {
        cr_assert_eq(c->placed->size, o->size, "%s", c->where);
        expect_operands(c, 0);
    }
    return o->id != X86_INS_JMP && o->id != X86_INS_RET;
}

/* The end of the instructions that are displaced: of those that are replaced, or of the last jump into a loop that
 * begins at the hook, among the first 128 instructions; up to one that cannot be displaced (int3, or data). */
static uint64_t displaced_end(struct check *c, const struct plan_hook *h)
{
    size_t size = h->function + h->size - h->address;
    const uint8_t *bytes = image_bytes(c->image, h->address, &(size_t){0});
    uint64_t at = h->address, end = at + h->original_length, loop = at + 1;
    for (unsigned i = 0; i < 128 && cs_disasm_iter(c->handle, &bytes, &size, &at, c->original); i++) {
        const cs_insn *o = c->original;
        const bool jumps = (cs_insn_group(c->handle, o, X86_GRP_JUMP) || is_loop(o->id)) &&
                           operand(o, 0)->type == X86_OP_IMM;
        const uint64_t target = jumps ? (uint64_t)operand(o, 0)->imm : 0;
        if (o->id == X86_INS_INT3 || (jumps && !image_covers(c->image, target)))
            break;
        if (!jumps || target < h->address || target >= loop)
            continue;
        loop = at;
        end = at > end ? at : end;
    }
    return end;
}

static void check_hook(struct check *c, const struct plan *plan, const struct plan_hook *h)
{
    uint8_t code[PLAN_CODE_MAX];
    size_t size;
    const uint8_t *bytes = image_bytes(c->image, h->address, &size);
    uint64_t at = h->address, place = c->bias + plan->header->text_high + (64 << 20) + h->code * 2;
    uint32_t f = image_function_entry(c->image, h->function);
    snprintf(c->where, sizeof c->where, "%s: hook at %#lx (kind %u)", image_name(c->image),
             (unsigned long)h->address, h->kind);
    cr_assert_neq(f, IMAGE_NO_FUNCTION, "%s", c->where);
    cr_assert(bytes && size >= h->original_length && memcmp(bytes, h->original, h->original_length) == 0,
              "%s", c->where);
    if (h->kind == PLAN_PAD) {
        size_t pad_size;
        const uint8_t *pad = image_bytes(c->image, h->pad, &pad_size);
        cr_assert(pad && memcmp(pad, h->pad_original, PLAN_JUMP) == 0, "%s", c->where);
    }
    cr_assert(plan_place(plan, h, c->bias, place, code), "%s: out of reach", c->where);
    c->at = code;
    c->left = h->code_length;
    c->address = place;
    bool open = true;
    const uint64_t end = displaced_end(c, h), replaced_end = h->address + h->original_length;
    c->moved_count = c->branch_count = 0;
    const char *vector_prefixes = "\x62\xc4\xc5";
    while (h->kind != PLAN_SLED && at < end && (open || end > replaced_end)) {
        cr_assert_lt(c->moved_count, 256);
        c->moved[c->moved_count].from = c->bias + at;
        c->moved[c->moved_count++].to = c->address;
        if (!cs_disasm_iter(c->handle, &bytes, &size, &at, c->original)) {
            /* capstone does not know all of AVX-512; what it does not know has no rip here, and is copied */
            cr_assert_not_null(strchr(vector_prefixes, bytes[0]), "%s", c->where);
            unsigned length = (unsigned)(replaced_end - at);
            cr_assert_eq(memcmp(bytes, c->at, length), 0, "%s", c->where);
            c->at += length;
            c->left -= length;
            c->address += length;
            break;
        }
        open = check_insn(c);
    }
    if (open)
        expect_jump(c, c->bias + end);
    check_expected_branches(c);
    cr_assert_eq(c->left, 0, "%s: more code than that", c->where);
}

static int by_address(const void *key, const void *item)
{
    uint64_t address = *(const uint64_t *)key;
    const struct plan_hook *h = item;
    return address < h->address ? -1 : address >= h->address + h->patch_length;
}

static const struct plan_hook *hook_over(const struct plan *plan, uint64_t address)
{
    return plan->header->hook_count
               ? bsearch(&address, plan->hooks, plan->header->hook_count, sizeof *plan->hooks, by_address)
               : NULL;
}

static void check_branches(struct check *c, const struct plan *plan)
{
    for (uint32_t i = 0; i < image_function_count(c->image); i++) {
        const struct image_function *f = image_function(c->image, i);
        size_t size;
        const uint8_t *bytes = image_bytes(c->image, f->address, &size);
        uint64_t at = f->address;
        if (!bytes || size < f->size)
            continue;
        size = f->size;
        while (cs_disasm_iter(c->handle, &bytes, &size, &at, c->original)) {
            bool branch = cs_insn_group(c->handle, c->original, X86_GRP_JUMP) ||
                          cs_insn_group(c->handle, c->original, X86_GRP_CALL) || is_loop(c->original->id);
            if (!branch || operand(c->original, 0)->type != X86_OP_IMM)
                continue;
            uint64_t target = (uint64_t)operand(c->original, 0)->imm;
            const struct plan_hook *h = hook_over(plan, target);
            cr_assert(!h || h->address == target, "%s: %#lx branches into the hook at %#lx",
                      image_name(c->image), (unsigned long)c->original->address,
                      h ? (unsigned long)h->address : 0);
        }
    }
}

static bool is_left_out(const struct plan_summary *summary, uint64_t function)
{
    for (uint32_t i = 0; i < summary->left_out_count; i++)
        if (summary->left_out[i].function == function)
            return summary->left_out[i].reason && summary->left_out[i].reason[0];
    return false;
}

static bool starts_mid_frame(const struct image *image, uint64_t address)
{
    const struct cfi_range *ranges;
    size_t count = cfi_ranges(image_cfi(image), &ranges);
    for (size_t i = 0; i < count; i++)
        if (ranges[i].address == address)
            return !ranges[i].entry_state;
    return false;
}

static void check_coverage(const struct image *image, const struct plan *plan,
                           const struct plan_summary *summary)
{
    uint32_t next = 0, hooks = plan->header->hook_count;
    for (uint32_t i = 0; i < image_function_count(image); i++) {
        const struct image_function *f = image_function(image, i);
        if (next < hooks && plan->hooks[next].function == f->address) {
            next++;
            continue;
        }
        cr_assert(f->owner != i || image_function_is_found(image, i) || image_function_is_stub(image, i) ||
                      f->address == plan->header->entry || is_left_out(summary, f->address) ||
                      (!f->name && starts_mid_frame(image, f->address)),
                  "%s: no word of the function at %#lx", image_name(image), (unsigned long)f->address);
    }
    cr_assert_eq(next, hooks, "a hook that is no function's");
}

void equivalent_check(const struct image *image, const struct plan *plan, const struct plan_summary *summary)
{
    struct check c = {.image = image, .bias = 0x7f1234560000 & ~(uint64_t)0xfff};
    cr_assert_eq(cs_open(CS_ARCH_X86, CS_MODE_64, &c.handle), CS_ERR_OK);
    cs_option(c.handle, CS_OPT_DETAIL, CS_OPT_ON);
    c.original = cs_malloc(c.handle);
    c.placed = cs_malloc(c.handle);
    for (uint32_t i = 0; i < plan->header->hook_count; i++)
        check_hook(&c, plan, &plan->hooks[i]);
    check_branches(&c, plan);
    check_coverage(image, plan, summary);
    cs_free(c.original, 1);
    cs_free(c.placed, 1);
    cs_close(&c.handle);
}
