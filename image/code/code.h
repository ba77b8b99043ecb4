/*
 * code.h - a fast reader of x86-64 instructions for passes over whole images: lengths, branches, and what an
 * instruction does to SP and to registers that hold addresses.
 *
 * About a hundred times as fast as insn.h (capstone), but less thorough: it does not distinguish invalid
 * encodings from valid ones of the same length. Source: Intel SDM volume 2, sections 2.1 to 2.7 (formats),
 * appendix A (opcode maps). A test compares it with capstone on real binaries.
 */
#ifndef FATHOM_IMAGE_CODE_CODE_H
#define FATHOM_IMAGE_CODE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CODE_NO_REGISTER 0xff

enum { /* register numbers */
       CODE_AX = 0,
       CODE_CX = 1,
       CODE_DX = 2,
       CODE_SP = 4,
       CODE_BP = 5,
       CODE_SI = 6,
       CODE_DI = 7,
};

enum code_kind {
    CODE_PLAIN,
    CODE_CALL,          /* to target */
    CODE_JUMP,          /* to target */
    CODE_BRANCH,        /* to target or the next instruction: jcc, loop, jrcxz, xbegin */
    CODE_CALL_INDIRECT, /* through the operand */
    CODE_JUMP_INDIRECT,
    CODE_RETURN,
    CODE_STOP, /* does not continue: ud2, hlt, int3, far jumps */
    CODE_NOP,
};

enum code_stack { /* SP after the instruction */
                  CODE_SP_SAME,
                  CODE_SP_MOVED,   /* SP - amount */
                  CODE_SP_FROM_BP, /* BP + amount */
                  CODE_SP_OTHER,   /* unknown */
};

/* What is known about the register `reg` after the instruction. */
enum code_effect {
    CODE_NO_EFFECT,
    CODE_ADDRESS,      /* `memory`: lea x(%rip) */
    CODE_CONSTANT,     /* `target`; without a register it is stored to memory */
    CODE_LOAD,         /* 8 bytes of memory, not indexed */
    CODE_LOAD_INDEXED, /* a table entry of 4 or 8 bytes: (base, index, scale), sign-extended */
    CODE_LOAD_SUM,     /* 4 bytes of memory at registers `base` + `index` + displacement */
    CODE_EXTEND,       /* its low 4 bytes, sign-extended */
    CODE_ADD,          /* itself + register `base` */
    CODE_SUM,          /* registers `base` + `index` */
};

/* The operand of an indirect call or jump, or of a load: a register (base alone, memory_operand false), or
 * memory at base + index * scale + displacement; relative to the next instruction: rip_relative and `memory`.
 */
struct code_insn {
    uint64_t address;
    uint64_t target; /* of direct branches; CODE_CONSTANT: the number */
    uint64_t memory; /* rip_relative: the address */
    int32_t amount;  /* bytes */
    int32_t displacement;
    uint16_t written; /* bit n: register n may have changed */
    uint8_t length;
    uint8_t kind;   /* enum code_kind */
    uint8_t stack;  /* enum code_stack */
    uint8_t effect; /* enum code_effect */
    uint8_t reg, base, index, scale;
    bool rip_relative, memory_operand;
    bool notrack; /* an indirect jump that need not land on endbr64: a switch */
};

static inline bool code_is_call(const struct code_insn *insn)
{
    return insn->kind == CODE_CALL || insn->kind == CODE_CALL_INDIRECT;
}

/* Whether control can continue to the next instruction: no jump, return or stop. */
static inline bool code_goes_on(const struct code_insn *insn)
{
    return insn->kind != CODE_JUMP && insn->kind != CODE_JUMP_INDIRECT && insn->kind != CODE_RETURN &&
           insn->kind != CODE_STOP;
}

/* The instruction at the start of `code`; false: unknown, or truncated by the end. */
bool code_read(const uint8_t *code, size_t size, uint64_t address, struct code_insn *out);

#endif
