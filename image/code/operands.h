/*
 * operands.h - tracks register contents through straight-line code: enough to resolve the operands of indirect
 * calls and jumps. Private to image/.
 */
#ifndef FATHOM_IMAGE_CODE_OPERANDS_H
#define FATHOM_IMAGE_CODE_OPERANDS_H

#include "image/code/code.h"

enum operand_kind {
    OPERAND_UNKNOWN,
    OPERAND_ADDRESS,   /* value: the address itself */
    OPERAND_SLOT,      /* value: address of the word that contains it */
    OPERAND_FIELD,     /* value: the word's offset from an unknown pointer */
    OPERAND_DISTANCE,  /* an entry of a table of 4-byte distances; value: the table's address, 0: unknown
                        */
    OPERAND_DISTANCED, /* the same, added to its base: the target of a switch */
    OPERAND_ENTRY,     /* an entry of a table of addresses; value as above */
    OPERAND_BEYOND,    /* an address, `value`, to which something unknown was added */
};

struct operand {
    uint8_t kind; /* enum operand_kind */
    uint64_t value;
};

struct operands {
    struct operand registers[16];
};

/* Call where control may arrive from elsewhere. */
void operands_forget(struct operands *operands);
/* Advances over one instruction. */
void operands_step(struct operands *operands, const struct code_insn *insn);
/* The target of an indirect call or jump; call before operands_step(). */
struct operand operands_target(const struct operands *operands, const struct code_insn *insn);

#endif
