/* sites.c - the calls and tail jumps of a function that has been read; see calls.h. */
#include <errno.h>

#include "base/vec.h"
#include "image/calls/private.h"

static int add_site(struct calls *calls, const struct call_site *site)
{
    return vec_push(calls->sites, calls->site_count, calls->site_capacity, *site) ? 0 : -ENOMEM;
}

static void resolve_slot(const struct calls *calls, uint64_t slot, struct call_site *site)
{
    const struct relocation *word = slots_find(&calls->slots, slot);
    site->kind = CALL_INDIRECT;
    if (!word)
        return;
    if (word->kind == RELOCATION_SYMBOL) {
        site->kind = CALL_IMPORT;
        site->symbol = word->symbol;
    } else if (image_function_entry(calls->image, word->value) != IMAGE_NO_FUNCTION) {
        site->target = word->value;
        site->resolver = word->kind == RELOCATION_RESOLVER;
    }
}

static void resolve_target(const struct calls *calls, uint64_t target, struct call_site *site)
{
    uint32_t f = image_function_at(calls->image, target);
    uint64_t slot;
    site->kind = CALL_DIRECT;
    site->target = f == IMAGE_NO_FUNCTION ? target : image_function(calls->image, f)->address;
    if (f == IMAGE_NO_FUNCTION || !(calls->marks[f] & MARK_STUB) || !calls_stub_slot(calls, f, &slot))
        return;
    const struct relocation *word = slots_find(&calls->slots, slot);
    if (word && word->kind == RELOCATION_SYMBOL) {
        site->kind = CALL_IMPORT;
        site->symbol = word->symbol;
    }
}

static void resolve_operand(const struct calls *calls, struct operand operand, struct call_site *site)
{
    site->kind = CALL_INDIRECT;
    if (operand.kind == OPERAND_SLOT)
        resolve_slot(calls, operand.value, site);
    else if (operand.kind == OPERAND_FIELD)
        site->field = (int32_t)operand.value;
    else if (operand.kind == OPERAND_ADDRESS &&
             image_function_entry(calls->image, operand.value) != IMAGE_NO_FUNCTION)
        site->target = operand.value;
}

/* Whether this is the jump of the PLT's first entry: through the third word of the GOT, which the loader
 * fills in, after pushing the second. */
static bool is_binding(const struct calls_reader *r, uint32_t i, struct operand operand)
{
    const struct code_insn *push = &r->code.insns[0];
    return i == 1 && operand.kind == OPERAND_SLOT && push->kind == CODE_PLAIN && push->rip_relative &&
           push->stack == CODE_SP_MOVED && push->amount == 8 && push->memory + 8 == operand.value &&
           !slots_find(&r->calls->slots, operand.value);
}

/* Whether an indirect jump leaves the function: SP is where it was at its entry, and it is not a switch. */
static bool is_tail(const struct calls_reader *r, const struct code_insn *insn, struct operand operand,
                    int32_t depth)
{
    if (operand.kind == OPERAND_SLOT)
        return true;
    if (operand.kind == OPERAND_DISTANCED || insn->notrack || depth != 8 ||
        calls_is_binder(r->calls, r->function))
        return false;
    if (operand.kind == OPERAND_BEYOND) /* computed, as in the C library's string functions */
        return image_function_at(r->calls->image, operand.value) != r->function;
    return operand.kind != OPERAND_ENTRY || operand.value || !(r->calls->marks[r->function] & MARK_LABELS);
}

#define PADDING 64 /* most bytes between two functions if one falls through into the other */

/* The next function, if control falls through into it from the end of this code, with padding between; else 0. */
static uint64_t next_function(const struct image *image, uint64_t end)
{
    size_t left;
    const uint8_t *code = image_bytes(image, end, &left);
    struct code_insn insn;
    for (uint64_t at = 0; code && at < PADDING; at += insn.length) {
        if (image_function_entry(image, end + at) != IMAGE_NO_FUNCTION)
            return end + at;
        if (at >= left || !code_read(code + at, left - at, end + at, &insn) || insn.kind != CODE_NOP)
            return 0;
    }
    return 0;
}

/* The function into which this one falls through, if the instruction is its last; 0: none. */
static uint64_t runs_over(const struct calls_reader *r, uint32_t i, int32_t depth)
{
    const struct code_insn *insn = &r->code.insns[i];
    uint64_t end = insn->address + insn->length;
    if (depth != 8 || (i + 1 < r->code.count && r->code.insns[i + 1].address == end))
        return 0;
    /* Padding can be part of the function: check the instruction before it. */
    for (; insn->kind == CODE_NOP && i > 0 && insn[-1].address + insn[-1].length == insn->address; i--)
        insn--;
    if ((insn->kind != CODE_PLAIN && insn->kind != CODE_BRANCH) || insn->stack != CODE_SP_SAME)
        return 0;
    return next_function(r->calls->image, end);
}

static int put_site(struct calls_reader *r, struct call_site *site)
{
    if (site->tail) {
        r->calls->marks[r->function] |= MARK_RETURNS;
        site->offset = 0;
        site->open = false;
    }
    return add_site(r->calls, site);
}

static int add_insn(struct calls_reader *r, uint32_t i, int32_t depth, struct operand operand)
{
    const struct code_insn *insn = &r->code.insns[i];
    struct call_site site = {.address = insn->address,
                             .function = r->function,
                             .field = CALL_NO_FIELD,
                             .open = depth < 0,
                             .offset = depth < 0 ? 0 : depth};
    uint64_t next = insn->address + insn->length;
    switch (insn->kind) {
    case CODE_CALL:
        if (insn->target == next) /* pushes its own address */
            return 0;
        site.next = next;
        resolve_target(r->calls, insn->target, &site);
        break;
    case CODE_CALL_INDIRECT:
        site.next = next;
        resolve_operand(r->calls, operand, &site);
        break;
    case CODE_JUMP:
    case CODE_BRANCH:
        if (image_function_at(r->calls->image, insn->target) == r->function)
            return 0;
        site.tail = true;
        resolve_target(r->calls, insn->target, &site);
        break;
    case CODE_JUMP_INDIRECT:
        if (!is_tail(r, insn, operand, depth))
            return 0;
        site.tail = true;
        if (is_binding(r, i, operand))
            site.kind = CALL_BINDER;
        else
            resolve_operand(r->calls, operand, &site);
        break;
    default:
        next = runs_over(r, i, depth);
        if (!next)
            return 0;
        site.tail = true;
        resolve_target(r->calls, next, &site);
    }
    return put_site(r, &site);
}

/* A branch that is the function's last instruction falls through into the next function, as in the C
 * library's __memcpy_chk. */
static int add_fall(struct calls_reader *r, uint32_t i, int32_t depth)
{
    const struct code_insn *insn = &r->code.insns[i];
    uint64_t next = insn->kind == CODE_BRANCH ? runs_over(r, i, depth) : 0;
    struct call_site site = {.address = insn->address + insn->length - 1,
                             .function = r->function,
                             .field = CALL_NO_FIELD,
                             .tail = true};
    if (!next)
        return 0;
    resolve_target(r->calls, next, &site);
    return put_site(r, &site);
}

/* Whether the CFI rows give every depth in the function's code. */
static bool rows_suffice(const struct calls_reader *r, const struct cfi *cfi)
{
    for (uint32_t i = 0; i < r->code.count;) {
        uint64_t address = r->code.insns[i].address, end = cfi_row_end(cfi, address);
        if (cfi_lookup(cfi, address).cfa != CFI_SP)
            return false;
        while (i < r->code.count && r->code.insns[i].address < end && r->code.insns[i].address >= address)
            i++;
    }
    return true;
}

int calls_add_sites(struct calls_reader *r)
{
    const struct cfi *cfi = image_cfi(r->calls->image);
    bool by_rows = rows_suffice(r, cfi);
    if (!by_rows && frame_flow_run(&r->flow, cfi, &r->code) < 0)
        return -ENOMEM;
    size_t indirect = 0;
    for (uint32_t i = 0; i < r->code.count; i++) {
        const struct code_insn *insn = &r->code.insns[i];
        bool last = i + 1 == r->code.count || insn[1].address != insn->address + insn->length;
        if ((insn->kind == CODE_PLAIN || insn->kind == CODE_NOP) && !last)
            continue;
        if (insn->kind == CODE_RETURN)
            r->calls->marks[r->function] |= MARK_RETURNS;
        int32_t depth = by_rows ? cfi_lookup(cfi, insn->address).cfa_offset : r->flow.depths[i];
        struct operand operand = {0};
        if (calls_is_indirect(insn))
            operand = r->operands[indirect++];
        if (add_insn(r, i, depth, operand) < 0 || add_fall(r, i, depth) < 0)
            return -ENOMEM;
    }
    return 0;
}
