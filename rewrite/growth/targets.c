/*
 * targets.c - the possible targets of a jump through an unknown table of its function: the loop around a switch
 * may have loaded the table's address long before. See unit.h.
 *
 * Tables begin at addresses that the unit's code takes and at which there are distances to its instructions (gcc,
 * clang); labels are its addresses in data (computed gotos).
 */
#include "rewrite/growth/unit.h"

#include <errno.h>
#include <string.h>

#include "base/search.h"
#include "base/sort.h"
#include "base/vec.h"

#define MOST_FOR_INSN 8 /* table entries per instruction: real functions have less than one */

static int add_target(struct unit *u, uint32_t to)
{
    return vec_push(u->targets, u->target_count, u->target_capacity, to) ? 0 : -ENOMEM;
}

static int add_table(struct unit *u, uint64_t table)
{
    size_t size;
    const uint8_t *bytes = image_bytes(u->whole->image, table, &size);
    for (; bytes && size >= 4 && u->target_count / MOST_FOR_INSN < u->code.count; bytes += 4, size -= 4) {
        int32_t distance;
        memcpy(&distance, bytes, sizeof distance);
        uint32_t to = function_code_find(&u->code, table + (uint64_t)(int64_t)distance);
        if (to == FUNCTION_CODE_NONE)
            return 0;
        if (add_target(u, to) < 0)
            return -ENOMEM;
    }
    return 0;
}

int unit_targets(struct unit *u)
{
    const struct whole *w = u->whole;
    u->target_count = 0;
    for (uint32_t p = 0; p < u->part_count; p++) {
        uint64_t start = u->parts[p].address, end = start + u->parts[p].size;
        for (size_t k = lower_bound(n, (size_t)0, w->label_count, w->labels[n] <= start);
             k < w->label_count && w->labels[k] < end; k++) {
            uint32_t to = function_code_find(&u->code, w->labels[k]);
            if (to != FUNCTION_CODE_NONE &&
                add_target(u, to) < 0) /* otherwise a number that looks like a pointer */
                return -ENOMEM;
        }
    }
    for (uint32_t i = 0; i < u->code.count; i++)
        if (u->code.insns[i].effect == CODE_ADDRESS && add_table(u, u->code.insns[i].memory) < 0)
            return -ENOMEM;
    u->target_count = sort_unique(u->targets, u->target_count);
    return 0;
}
