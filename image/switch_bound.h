/*
 * switch_bound.h - how many cases a switch has, from the comparison before it. Private to image/.
 *
 * cmp $last,index; ja default; ...; jmp *table(index): looked for in the order of addresses, a few instructions before the jump.
 */
#ifndef FATHOM_IMAGE_SWITCH_BOUND_H
#define FATHOM_IMAGE_SWITCH_BOUND_H

#include "image/code/code.h"

struct switch_bound { /* starts as 0 */
    uint32_t compared, cases;
    uint8_t age; /* instructions for which `cases` still counts */
    bool is_compared;
};

/* Follows one instruction. */
void switch_bound_step(struct switch_bound *bound, const struct code_insn *insn, const uint8_t *bytes);
/* Of a jump that is the next instruction; 0: not known. */
uint32_t switch_bound_cases(const struct switch_bound *bound);

#endif
