/* switch_bound.c - see switch_bound.h. */
#include "image/switch_bound.h"

#include <string.h>

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
