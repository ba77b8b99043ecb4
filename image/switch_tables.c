/* switch_tables.c - see switch_tables.h. */
#include "image/switch_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "image/image_private.h"

#define LEADS_MOST 8u    /* per instruction: functions have less than one */
#define EDGES_MOST 8     /* the same of followed entries of tables */
#define CASES_MOST 4096u /* a larger bound was compared before the index was computed */
#define AGE_MOST   12u   /* instructions between the bounds check and the jump: gcc -O0 has 7 */

/* Reads the constant of a cmp of a register or memory (Intel SDM volume 2: 80, 81, 83, 3c, 3d). */
static bool read_compared(const uint8_t *bytes, size_t length, uint32_t *value)
{
    size_t at = 0;
    while (at < length && (bytes[at] == 0x66 || (bytes[at] & 0xf0) == 0x40))
        at++;
    if (at + 1 >= length)
        return false;
    const uint8_t opcode = bytes[at];
    const bool group = (bytes[at + 1] >> 3 & 7) == 7; /* cmp of 80 to 83 */
    if (opcode == 0x3c || (opcode == 0x80 && group))
        *value = bytes[length - 1];
    else if (opcode == 0x83 && group)
        *value = (uint32_t)(int8_t)bytes[length - 1];
    else if (length >= 5 && bytes[0] != 0x66 && (opcode == 0x3d || (opcode == 0x81 && group)))
        memcpy(value, bytes + length - 4, 4);
    else
        return false;
    return true;
}

/* The condition of a branch, as the low half of its opcode. */
static unsigned condition_of(const uint8_t *bytes)
{
    return (bytes[0] == 0x0f ? bytes[1] : bytes[0]) & 15;
}

void switch_bound_step(struct switch_bound *bound, const struct code_insn *insn, const uint8_t *bytes)
{
    const unsigned is = insn->kind == CODE_BRANCH && bound->is_compared ? condition_of(bytes) : 0;
    bound->age -= bound->age > 0;
    if (is == 7 || is == 6 || is == 3 || is == 2) {                      /* ja, jbe; jae, jb */
        const bool negative = bound->compared > UINT32_MAX - CASES_MOST; /* the last case is -1 */
        bound->cases = negative ? -bound->compared : bound->compared + (is == 7 || is == 6);
        bound->age = AGE_MOST;
    }
    bound->is_compared = read_compared(bytes, insn->length, &bound->compared);
}

uint32_t switch_bound_cases(const struct switch_bound *bound)
{
    return bound->age && bound->cases <= CASES_MOST ? bound->cases : 0;
}

#define CARRIED (sizeof((struct operand_walk *)0)->carried / sizeof *((struct operand_walk *)0)->carried)

static bool is_only_way(uint8_t ways)
{
    return ways == (WAY_BRANCH | WAY_ALONE);
}

void operand_walk_enter(struct operand_walk *walk, const struct function_code *code, uint32_t insn)
{
    if (!code->ways[insn])
        return;
    operands_forget(&walk->operands);
    if (!is_only_way(code->ways[insn]))
        return;
    for (unsigned k = 0; k < CARRIED; k++)
        if (walk->carried[k].to == insn) /* (instruction 0 has no predecessor) */
            walk->operands = walk->carried[k].operands;
}

void operand_walk_leave(struct operand_walk *walk, const struct function_code *code, uint32_t insn)
{
    operands_step(&walk->operands, &code->insns[insn]);
    uint32_t to = code->jumps[insn];
    if (to == FUNCTION_CODE_NONE || to <= insn || !is_only_way(code->ways[to]))
        return;
    unsigned at = walk->next++ % CARRIED;
    walk->carried[at].to = to;
    walk->carried[at].operands = walk->operands;
}

bool switch_tables_fit(const struct function_code *code)
{
    return code->edge_count / EDGES_MOST < code->count;
}

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
    for (uint32_t k = 0; rc == 0 && (!cases || k < cases) && switch_tables_fit(r->code) &&
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
