/*
 * insn.h - decodes x86-64 instructions (capstone) as far as a profiler needs: where control goes next, which
 * address it refers to, and whether the instruction could run elsewhere.
 */
#ifndef FATHOM_IMAGE_CODE_INSN_H
#define FATHOM_IMAGE_CODE_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INSN_MAX 15 /* maximal length of an instruction */

enum insn_flow {
    INSN_PLAIN,       /* continues with the next one */
    INSN_JUMP,        /* jmp, direct or through a register or memory */
    INSN_CONDITIONAL, /* jcc: to the target or to the next one */
    INSN_LOOP,        /* loop, loope, loopne, jrcxz, jecxz: the same, but only rel8 exists */
    INSN_CALL,
    INSN_RETURN, /* near */
    INSN_SPECIAL /* int, int3, iret, far jumps, calls and returns, sysenter and the like, xbegin */
};

struct insn {
    uint64_t address;
    uint8_t bytes[INSN_MAX];
    uint8_t length;
    uint8_t flow; /* enum insn_flow */
    bool direct;  /* a jump, branch or call with a target */
    bool nop;     /* does nothing */
    bool lea;
    bool rip_relative; /* has a memory operand at a distance from the next instruction */
    bool movable; /* everything that depends on its address is given here; else its encoding is not understood
                   */
    uint8_t displacement; /* rip_relative: offset of the 4 bytes of distance */
    uint8_t modrm;        /* indirect jump or call: offset of the ModRM byte, which follows opcode ff */
    uint64_t target;      /* direct */
    uint64_t memory;      /* rip_relative: the address it refers to */
    uint64_t immediate;   /* an immediate operand, sign-extended; 0 for none and for branches */
};

/* Whether the first byte of an instruction is that of VEX or EVEX, which starts nothing else in 64-bit mode. The
 * kernel's uprobes, which single-step a copy, failed with one in a test (EVEX, in a virtual machine): registers
 * that the program's string functions use were changed. */
static inline bool insn_is_vector(uint8_t first)
{
    return first == 0x62 || first == 0xc4 || first == 0xc5;
}

struct insn_reader;

struct insn_reader *insn_reader_new(void); /* NULL: out of memory */
void insn_reader_free(struct insn_reader *reader);

/* The instruction at the start of `code`. false: unknown, or truncated by the end. */
bool insn_read(struct insn_reader *reader, const uint8_t *code, size_t size, uint64_t address,
               struct insn *out);

#endif
