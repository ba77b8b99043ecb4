/* switch_tables.c - see switch_tables.h. */
#include "image/switch_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "image/image_private.h"
#include "image/jump_tables.h"
#include "image/switch_bound.h"

#define LEADS_MOST 8u /* per instruction: functions have less than one */

struct reader {
    struct switch_tables *tables;
    struct function_code *code;
    const struct function_parts *parts;
    struct slots *slots;
};

bool switch_is_table(const struct operand *target)
{
    return (target->kind == OPERAND_DISTANCED || target->kind == OPERAND_ENTRY) && target->value;
}

uint64_t switch_entry(const struct elf_file *file, struct slots *slots, const struct operand *table,
                      uint32_t entry)
{
    size_t size;
    int32_t distance;
    const uint64_t at = table->value + entry * (table->kind == OPERAND_ENTRY ? 8ULL : 4ULL);
    if (table->kind == OPERAND_ENTRY)
        return slots_value(slots, file, at);
    const uint8_t *bytes = elf_file_bytes(file, at, sizeof distance, &size);
    if (!bytes || size < sizeof distance)
        return 0;
    memcpy(&distance, bytes, sizeof distance);
    return table->value + (uint64_t)(int64_t)distance;
}

/* Records where jump i leads by a table. cases: 0: up to the first entry that leads out of the function. */
static int read_table(struct reader *r, uint32_t i, struct operand table, uint32_t cases)
{
    int rc = 0;
    for (uint32_t k = 0; rc == 0 && (!cases || k < cases) && jump_tables_fit(r->code) &&
                         r->tables->lead_count < LEADS_MOST * r->code->count;
         k++) {
        const uint64_t target = switch_entry(&r->parts->image->file, r->slots, &table, k);
        if (!target || (!function_code_add_edge(r->code, i, target, &rc) && !cases))
            break;
        if (rc == 0 && function_code_find(r->code, target) == FUNCTION_CODE_NONE &&
            function_parts_leads(r->parts, target) &&
            !vec_push(r->tables->leads, r->tables->lead_count, r->tables->lead_capacity,
                      (struct lead){i, target}))
            rc = -ENOMEM;
    }
    return rc;
}

static int read_jump(struct reader *r, uint32_t i, struct operand target, uint32_t cases)
{
    if (r->code->insns[i].notrack || target.kind == OPERAND_DISTANCED || target.kind == OPERAND_ENTRY ||
        target.kind == OPERAND_BEYOND)
        r->code->ways[i] |= WAY_TABLE;
    return switch_is_table(&target) ? read_table(r, i, target, cases) : 0;
}

int switch_tables_read(struct switch_tables *tables, struct function_code *code,
                       const struct function_parts *parts, struct slots *slots)
{
    struct reader r = {tables, code, parts, slots};
    struct operand_walk walk = {.next = 0};
    struct switch_bound bound = {0};
    size_t size;
    int rc = 0;
    tables->lead_count = 0;
    for (uint32_t i = 0; rc == 0 && i < code->count; i++) {
        const struct code_insn *insn = &code->insns[i];
        operand_walk_enter(&walk, code, i);
        const struct operand target = operands_target(&walk.operands, insn);
        if (insn->kind == CODE_JUMP_INDIRECT)
            rc = read_jump(&r, i, target, switch_bound_cases(&bound));
        switch_bound_step(&bound, insn, image_bytes(parts->image, insn->address, &size));
        operand_walk_leave(&walk, code, i);
    }
    return rc;
}

void switch_tables_close(struct switch_tables *tables)
{
    free(tables->leads);
}
