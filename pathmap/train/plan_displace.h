/*
 * plan_displace.h - rewrites instructions so that they do the same from another place. Private to the plan
 * builder.
 *
 * The code keeps every effect of the original but its own address: distances become fixups, short branches
 * long ones, and a call pushes the original return address and jumps, so that unwinding, exceptions and the
 * return itself find what they would have found. Flags and registers are as they would have been.
 */
#ifndef FATHOM_PATHMAP_TRAIN_PLAN_DISPLACE_H
#define FATHOM_PATHMAP_TRAIN_PLAN_DISPLACE_H

#include "image/code/insn.h"
#include "pathmap/wire/plan.h"

#define DISPLACED_MAX 8 /* instructions: more than fit 5 bytes */

struct displaced {
    uint32_t length, fixup_count;
    uint8_t code[PLAN_CODE_MAX];
    struct plan_fixup fixups[3 * DISPLACED_MAX];
};

/* Whether the instruction can be rewritten at all. */
bool displace_possible(const struct insn *insn);
/* Whether control never goes on to the bytes after it: a jump, a return; a call too, whose return goes to the
 * original place. */
bool displace_closes(const struct insn *insn);
/* Rewrites up to DISPLACED_MAX instructions for which displace_possible() holds; then a jump to `next`,
 * unless the last one closes. */
void displace(const struct insn *insns, unsigned count, uint64_t next, struct displaced *out);

#endif
