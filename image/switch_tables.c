/* switch_tables.c - see switch_tables.h. */
#include "image/switch_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "image/image_private.h"
#include "image/jump_tables.h"
#include "image/switch_bound.h"

#define LEADS_MOST 8u /* for each instruction: functions have less than one */

struct reader {
    struct switch_tables *tables;
    struct function_code *code;
    const struct function_parts *parts;
};

/* Where the entry of a table leads: an address, or a distance of 4 bytes from the table's start. 0: it is none. */
static uint64_t table_entry(struct reader *r, struct operand table, uint32_t entry)
{
    size_t size;
    int32_t distance;
    uint64_t at = table.value + entry * (table.kind == OPERAND_ENTRY ? 8ULL : 4ULL);
    const uint8_t *bytes = image_bytes(r->parts->image, at, &size);
    if (table.kind == OPERAND_ENTRY) {
        if (!r->tables->has_slots && slots_build(&r->parts->image->file, &r->tables->slots) < 0)
            return 0;
        r->tables->has_slots = true;
        const struct relocation *word = slots_find(&r->tables->slots, at);
        return word ? word->value : 0;
    }
    if (!bytes || size < sizeof distance)
        return 0;
    memcpy(&distance, bytes, sizeof distance);
    return table.value + (uint64_t)(int64_t)distance;
}

/* Notes where jump i leads by a table; 0 cases: up to the first entry that leads out of the function. */
static int read_table(struct reader *r, uint32_t i, struct operand table, uint32_t cases)
{
    int rc = 0;
    for (uint32_t k = 0; rc == 0 && (!cases || k < cases) && jump_tables_fit(r->code) &&
                         r->tables->lead_count < LEADS_MOST * r->code->count;
         k++) {
        const uint64_t target = table_entry(r, table, k);
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
    const bool table = target.kind == OPERAND_DISTANCED || target.kind == OPERAND_ENTRY;
    if (r->code->insns[i].notrack || table || target.kind == OPERAND_BEYOND)
        r->code->ways[i] |= WAY_TABLE;
    return table && target.value ? read_table(r, i, target, cases) : 0;
}

int switch_tables_read(struct switch_tables *tables, struct function_code *code,
                       const struct function_parts *parts)
{
    struct reader r = {tables, code, parts};
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
    slots_free(&tables->slots);
    free(tables->leads);
}
