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

#define DISPLACED_MAX 8 /* instructions: more than fit into 5 bytes */

struct displaced {
    uint32_t length, fixup_count;
    uint8_t code[PLAN_CODE_MAX];
    struct plan_fixup fixups[3 * DISPLACED_MAX];
};

/* Whether the instruction can be rewritten at all. */
bool displace_possible(const struct insn *insn);
/* Whether control never continues to the bytes after it: a jump or return; also a call, which returns to the
 * original place. */
bool displace_closes(const struct insn *insn);
/* Rewrites up to DISPLACED_MAX instructions for which displace_possible() holds; then a jump to `next`,
 * unless the last one closes. */
void displace(const struct insn *insns, unsigned count, uint64_t next, struct displaced *out);

#endif
