/* jump_tables.c - see jump_tables.h. */
#include "image/jump_tables.h"

#include <elf.h>
#include <string.h>

#include "image/image_private.h"

/* Limit of followed table entries per instruction of a function: real functions have less than one. */
#define MAX_EDGES 8

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

bool jump_tables_fit(const struct function_code *code)
{
    return code->edge_count / MAX_EDGES < code->count;
}

int jump_table_distances(struct function_code *code, const struct image *image, uint32_t jump, uint64_t table)
{
    size_t size;
    int rc = 0;
    const uint8_t *bytes = table ? image_bytes(image, table, &size) : NULL;
    for (; bytes && size >= 4 && jump_tables_fit(code); bytes += 4, size -= 4) {
        int32_t distance;
        memcpy(&distance, bytes, sizeof distance);
        if (!function_code_add_edge(code, jump, table + (uint64_t)(int64_t)distance, &rc))
            break;
    }
    return rc;
}

int jump_table_addresses(struct function_code *code, const struct image *image, uint32_t jump, uint64_t table)
{
    size_t size;
    int rc = 0;
    const uint8_t *bytes = table && image->file.type == ET_EXEC ? image_bytes(image, table, &size) : NULL;
    for (; bytes && size >= 8 && jump_tables_fit(code); bytes += 8, size -= 8) {
        uint64_t address;
        memcpy(&address, bytes, sizeof address);
        if (!function_code_add_edge(code, jump, address, &rc))
            break;
    }
    return rc;
}
