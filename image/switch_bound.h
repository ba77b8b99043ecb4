/*
 * switch_bound.h - how many cases a switch has, by the comparison before it. Private to image/.
 *
 * Recognises cmp $last,index; ja default; ...; jmp *table(index) in the order of addresses, at a distance of few
 * instructions.
 */
#ifndef FATHOM_IMAGE_SWITCH_BOUND_H
#define FATHOM_IMAGE_SWITCH_BOUND_H

#include "image/code/code.h"

struct switch_bound { /* initially 0 */
    uint32_t compared, cases;
    uint8_t age; /* instructions since the check; `cases` expires */
    bool is_compared;
};

/* Advances over one instruction. */
void switch_bound_step(struct switch_bound *bound, const struct code_insn *insn, const uint8_t *bytes);
/* Cases of the jump that is the next instruction; 0: unknown. */
uint32_t switch_bound_cases(const struct switch_bound *bound);

#endif
