/* function_code.c - see function_code.h. */
#include "image/function_code.h"

#include <errno.h>
#include <stdlib.h>

#include "base/search.h"
#include "base/vec.h"

#define LOCK 0xf0 /* a prefix; the C library jumps over it in a process with one thread */

/* Makes room for one more instruction. */
static bool reserve_code(struct function_code *code)
{
    uint32_t insns = code->capacity,
             jumps = code->capacity; /* of all three arrays; if out of memory, of some */
    return vec_reserve(code->insns, code->count, insns, 1) &&
           vec_reserve(code->jumps, code->count, jumps, 1) &&
           vec_reserve(code->ways, code->count, code->capacity, 1);
}

static int read_part(struct function_code *code, const struct image *image, const struct function_part *part)
{
    size_t size;
    const uint8_t *bytes = image_bytes(image, part->address, &size);
    if (!bytes)
        return 0;
    if (size > part->size)
        size = part->size;
    for (size_t at = 0; at < size;) {
        if (!reserve_code(code))
            return -ENOMEM;
        struct code_insn *insn = &code->insns[code->count++];
        if (!code_read(bytes + at, size - at, part->address + at, insn)) {
            insn->kind = CODE_STOP;
            insn->length = 1;
        }
        at += insn->length;
    }
    return 0;
}

uint32_t function_code_find(const struct function_code *code, uint64_t address)
{
    uint32_t first = lower_bound(i, 0, code->count, code->insns[i].address < address);
    return first < code->count && code->insns[first].address == address ? first : FUNCTION_CODE_NONE;
}

bool function_code_goes_on(const struct function_code *code, uint32_t i)
{
    const struct code_insn *insn = &code->insns[i];
    return code_goes_on(insn) && i + 1 < code->count && insn[1].address == insn->address + insn->length;
}

/* The instruction that a branch leads to, or FUNCTION_CODE_NONE if it is outside. */
static uint32_t find_target(const struct function_code *code, const struct image *image, uint64_t target)
{
    size_t size;
    uint32_t to = function_code_find(code, target);
    if (to != FUNCTION_CODE_NONE)
        return to;
    const uint8_t *before = image_bytes(image, target - 1, &size);
    return before && *before == LOCK ? function_code_find(code, target - 1) : FUNCTION_CODE_NONE;
}

int function_code_read(struct function_code *code, const struct image *image,
                       const struct function_part *parts, uint32_t part_count)
{
    code->count = code->edge_count = 0;
    for (uint32_t i = 0; i < part_count; i++)
        if (read_part(code, image, &parts[i]) < 0)
            return -ENOMEM;
    for (uint32_t i = 0; i < code->count; i++) {
        code->jumps[i] = FUNCTION_CODE_NONE;
        code->ways[i] = i == 0 || !function_code_goes_on(code, i - 1) ? WAY_ALONE : 0;
    }
    for (uint32_t i = 0; i < code->count; i++) {
        const struct code_insn *insn = &code->insns[i];
        if (insn->kind != CODE_JUMP && insn->kind != CODE_BRANCH)
            continue;
        uint32_t to = find_target(code, image, insn->target);
        code->jumps[i] = to;
        if (to != FUNCTION_CODE_NONE)
            code->ways[to] |= code->ways[to] & WAY_BRANCH ? WAY_MORE : WAY_BRANCH;
    }
    for (uint32_t i = 0; i < code->count; i++) {
        if (i && code->ways[i - 1] & WAY_NONE)
            code->ways[i] |= WAY_ALONE;
        if (code->insns[i].kind == CODE_NOP && (code->ways[i] & (WAY_ALONE | WAY_BRANCH)) == WAY_ALONE)
            code->ways[i] |= WAY_NONE;
    }
    return 0;
}

void function_code_free(struct function_code *code)
{
    free(code->insns);
    free(code->jumps);
    free(code->ways);
    free(code->edges);
    *code = (struct function_code){0};
}

bool function_code_add_edge(struct function_code *code, uint32_t from, uint64_t address, int *rc)
{
    uint32_t to = function_code_find(code, address);
    if (to == FUNCTION_CODE_NONE)
        return false;
    if (vec_push(code->edges, code->edge_count, code->edge_capacity, (struct table_edge){from, to}))
        return true;
    *rc = -ENOMEM;
    return false;
}
