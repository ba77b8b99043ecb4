/*
 * plan_displace.h - rewrites instructions so that they do the same at another address. Private to the plan
 * builder.
 *
 * The code has every effect of the original: distances become fixups, short branches long ones, and a call
 * pushes the original return address and jumps, so that unwinding, exceptions and the return itself work as
 * before. Flags and registers have the same values.
 */
#ifndef FATHOM_PATHMAP_TRAIN_PLAN_DISPLACE_H
#define FATHOM_PATHMAP_TRAIN_PLAN_DISPLACE_H

#include "image/code/insn.h"
#include "pathmap/wire/plan.h"

#define DISPLACED_MAX 128 /* instructions: those that 5 bytes replace, or a loop */

struct displaced {
    uint32_t length, fixup_count;
    uint8_t code[PLAN_CODE_MAX];
    struct plan_fixup fixups[3 * DISPLACED_MAX];
};
/* An indirect call takes the most: a push of 13 bytes and 15 of its own, whose displacement may grow by 4. */
_Static_assert(PLAN_CODE_MAX >= 32 * DISPLACED_MAX + PLAN_JUMP, "all instructions fit");

/* Whether the instruction can be rewritten at all. */
bool displace_possible(const struct insn *insn);
/* Whether control never continues to the bytes after it: a jump or return; also a call, which returns to the
 * original place. */
bool displace_closes(const struct insn *insn);
/* Rewrites up to DISPLACED_MAX adjacent instructions for which displace_possible() holds; then a jump to `next`,
 * unless the last one closes. Jumps and branches among them stay among them. */
void displace(const struct insn *insns, unsigned count, uint64_t next, struct displaced *out);

#endif
