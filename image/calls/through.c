/*
 * through.c - resolves the operands of a function's indirect calls and jumps, and finds the addresses that it
 * takes; see calls.h.
 */
#include <errno.h>
#include <string.h>

#include "base/vec.h"
#include "image/calls/private.h"
#include "image/switch_tables.h"

bool calls_stub_slot(const struct calls *calls, uint32_t stub, uint64_t *slot)
{
    const struct image_function *f = image_function(calls->image, stub);
    size_t size;
    const uint8_t *code = image_bytes(calls->image, f->address, &size);
    if (!code)
        return false;
    if (size > f->size)
        size = f->size;
    struct code_insn insn;
    for (size_t at = 0; at < size && code_read(code + at, size - at, f->address + at, &insn);
         at += insn.length) {
        if (insn.kind != CODE_JUMP_INDIRECT || !insn.rip_relative)
            continue;
        *slot = insn.memory;
        return true;
    }
    return false;
}

static int note_slot(struct calls_reader *r, const struct relocation *word)
{
    if (word->symbol && calls_note_symbol(r->calls, word->symbol) < 0)
        return -ENOMEM;
    return word->value
               ? calls_note_taken(r->calls, r->function, image_function_entry(r->calls->image, word->value))
               : 0;
}

/* Notes the function whose address this instruction takes. */
static int note_address(struct calls_reader *r, const struct code_insn *insn)
{
    const struct image *image = r->calls->image;
    /* constants are addresses only if those are known at link time */
    bool number = insn->effect == CODE_CONSTANT && image->file.type == ET_EXEC;
    if (insn->effect != CODE_ADDRESS && !number) {
        const struct relocation *word = insn->rip_relative && insn->kind == CODE_PLAIN
                                            ? slots_find(&r->calls->slots, insn->memory)
                                            : NULL;
        return word ? note_slot(r, word) : 0;
    }
    uint64_t address = number ? insn->target : insn->memory;
    uint32_t f = image_function_entry(image, address);
    if (f == IMAGE_NO_FUNCTION && image_extent(image, address))
        return calls_note_object(r->calls, address);
    if (f == IMAGE_NO_FUNCTION || !(r->calls->marks[f] & MARK_STUB))
        return calls_note_taken(r->calls, r->function, f);
    uint64_t slot;
    const struct relocation *word =
        calls_stub_slot(r->calls, f, &slot) ? slots_find(&r->calls->slots, slot) : NULL;
    return word ? note_slot(r, word) : 0;
}

/* Follows a table of addresses. The function's own start may be a case of a switch or an entry in a table
 * of functions: the other entries decide. */
static int follow_entries(struct calls_reader *r, uint32_t jump, uint64_t table)
{
    uint64_t start = image_function(r->calls->image, r->function)->address;
    uint32_t before = r->code.edge_count;
    bool to_start = false;
    int rc = 0;
    for (; table && switch_tables_fit(&r->code); table += 8) {
        const struct relocation *word = slots_find(&r->calls->slots, table);
        if (!word || word->kind != RELOCATION_VALUE)
            break;
        if (word->value == start)
            to_start = true;
        else if (!function_code_add_edge(&r->code, jump, word->value, &rc))
            break;
    }
    if (rc == 0 && to_start && r->code.edge_count > before)
        function_code_add_edge(&r->code, jump, start, &rc);
    return rc;
}

/* Follows a table of distances, up to the first one that leads out of the function. */
static int follow_distances(struct calls_reader *r, uint32_t jump, const struct operand *table)
{
    uint64_t target = table->value;
    int rc = 0;
    for (uint32_t i = 0; target && switch_tables_fit(&r->code); i++) {
        target = switch_entry(&r->calls->image->file, &r->calls->slots, table, i);
        if (!function_code_add_edge(&r->code, jump, target, &rc))
            break;
    }
    return rc;
}

static int add_operand(struct calls_reader *r, struct operand operand)
{
    return vec_push(r->operands, r->operand_count, r->operand_capacity, operand) ? 0 : -ENOMEM;
}

int calls_read_operands(struct calls_reader *r)
{
    struct operand_walk walk = {.next = 0};
    for (uint32_t i = 0; i < r->code.count; i++) {
        const struct code_insn *insn = &r->code.insns[i];
        operand_walk_enter(&walk, &r->code, i);
        if (calls_is_indirect(insn)) {
            struct operand operand = operands_target(&walk.operands, insn);
            uint32_t before = r->code.edge_count;
            int rc = add_operand(r, operand);
            if (rc == 0 && insn->kind == CODE_JUMP_INDIRECT && operand.kind == OPERAND_DISTANCED)
                rc = follow_distances(r, i, &operand);
            if (rc == 0 && insn->kind == CODE_JUMP_INDIRECT && operand.kind == OPERAND_ENTRY)
                rc = follow_entries(r, i, operand.value);
            if (rc < 0)
                return rc;
            if (r->code.edge_count > before) /* it stays in the function */
                r->operands[r->operand_count - 1].kind = OPERAND_DISTANCED;
        }
        if (note_address(r, insn) < 0)
            return -ENOMEM;
        operand_walk_leave(&walk, &r->code, i);
    }
    return 0;
}
