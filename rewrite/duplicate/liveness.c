/* liveness.c - see liveness.h; Aho, Sethi, Ullman, Compilers, section 10.6. */
#include "rewrite/duplicate/liveness.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

/* Registers that a function may change: rcx, rsi, rdi, r8 to r11. */
#define SCRATCH 0x0fc2u

static int read_accesses(struct liveness *live, const struct move_unit *unit)
{
    uint32_t room = live->capacity, count = unit->code.count;
    if (!vec_reserve(live->access, 0, room, count) || !vec_reserve(live->before, 0, live->capacity, count))
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++)
        if (!access_read(unit->reader, move_unit_bytes(unit, i), unit->code.insns[i].length,
                         unit->code.insns[i].address, &live->access[i]))
            live->access[i] = (struct access){.reads = ACCESS_ALL, .writes = ACCESS_ALL};
    return 0;
}

/* Live at the function's exits: all but the flags and the scratch registers that it writes. */
static uint32_t live_outside(const struct liveness *live, const struct move_unit *unit)
{
    uint32_t written = 0;
    for (uint32_t i = 0; i < unit->code.count; i++)
        if (!code_is_call(&unit->code.insns[i]))
            written |= live->access[i].writes;
    return (ACCESS_ALL & ~ACCESS_FLAGS) & ~(written & SCRATCH);
}

/* Live before an instruction, from what is live behind it. */
static uint32_t live_before(const struct liveness *live, const struct move_unit *unit, uint32_t i,
                            uint32_t after)
{
    if (code_is_call(&unit->code.insns[i]))
        return ACCESS_ALL & ~ACCESS_FLAGS;
    return (after & ~live->access[i].kills) | live->access[i].reads;
}

/* Live at a block's end. Where it continues outside, everything is live: that may be an unrecognised part of the
 * function. */
static uint32_t live_at_end(const struct liveness *live, const struct move_unit *unit,
                            const struct flow *flow, uint32_t b, uint32_t outside)
{
    const struct flow_block *block = &flow->blocks[b];
    uint32_t last = block->first + block->count - 1, out = 0;
    const struct code_insn *insn = &unit->code.insns[last];
    bool jumps = insn->kind == CODE_JUMP || insn->kind == CODE_BRANCH;
    if (insn->kind == CODE_RETURN)
        return outside;
    if (block->open || block->out_count == 0 || (jumps && unit->code.jumps[last] == FUNCTION_CODE_NONE) ||
        (code_goes_on(insn) && !function_code_goes_on(&unit->code, last)))
        return ACCESS_ALL;
    for (uint32_t e = 0; e < block->out_count; e++)
        out |= live->before[flow->blocks[flow->to[block->out + e]].first];
    return out;
}

int liveness_make(struct liveness *live, const struct move_unit *unit, const struct flow *flow)
{
    if (read_accesses(live, unit) < 0 || !vec_reserve(live->ends, 0, live->end_capacity, flow->count))
        return -ENOMEM;
    uint32_t outside = live_outside(live, unit);
    memset(live->before, 0, unit->code.count * sizeof *live->before);
    memset(live->ends, 0, flow->count * sizeof *live->ends);
    for (bool changed = true, first = true; changed; first = false) {
        changed = false;
        for (uint32_t b = flow->count - 1; b-- > 0;) {
            const struct flow_block *block = &flow->blocks[b];
            uint32_t at = live_at_end(live, unit, flow, b, outside);
            if (at == live->ends[b] && !first)
                continue;
            live->ends[b] = at;
            changed = true;
            for (uint32_t i = block->first + block->count; i-- > block->first;)
                live->before[i] = at = live_before(live, unit, i, at);
        }
    }
    return 0;
}

void liveness_free(struct liveness *live)
{
    free(live->access);
    free(live->before);
    free(live->ends);
    *live = (struct liveness){0};
}
