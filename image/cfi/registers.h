/*
 * registers.h - the rules of all registers at one PC (DWARF 5, section 6.4.1), which the table (cfi.h) does not
 * have: a CFA by any register or expression, and registers other than rbp. Found by running the FDE again, or by
 * a derived row.
 */
#ifndef FATHOM_IMAGE_CFI_REGISTERS_H
#define FATHOM_IMAGE_CFI_REGISTERS_H

#include "image/cfi/cfi.h"

/* DWARF's register numbers on x86-64 (psABI, figure 3.36): the general ones, and the return address. */
enum { REGISTER_BP = 6, REGISTER_SP = 7, REGISTER_RETURN = 16 };
#define CFI_REGISTERS 17u

enum cfi_where {           /* where the caller's value is */
                 CFI_SAME, /* unchanged in the register */
                 CFI_UNDEFINED,
                 CFI_AT_CFA,   /* saved at CFA + offset */
                 CFI_CFA_PLUS, /* CFA + offset */
                 CFI_REGISTER, /* in register `number`; for the CFA: that + offset */
                 CFI_AT_VALUE, /* saved at the expression's value; the expression starts with the CFA on its stack */
                 CFI_VALUE, /* the expression's value, with the same start; for the CFA: with an empty stack */
};

struct cfi_register {
    uint8_t where;             /* enum cfi_where */
    uint8_t number;            /* below CFI_REGISTERS */
    uint32_t size;             /* bytes of the expression */
    int64_t offset;            /* bytes */
    const uint8_t *expression; /* borrowed from the file */
};

struct cfi_registers {
    struct cfi_register cfa; /* CFI_UNDEFINED, CFI_REGISTER or CFI_VALUE */
    struct cfi_register of[CFI_REGISTERS];
};

/* The rules of a derived row whose CFA is by a register (CFI_UNSUPPORTED). Of the caller's registers only BP is
 * known. */
struct cfi_registers cfi_derived_registers(const struct cfi_row *row);

/* The machine state that an expression can use. */
struct cfi_machine_state {
    void *context;
    bool (*get)(void *context, unsigned number, uint64_t *value);   /* register before the call */
    bool (*read)(void *context, uint64_t address, uint64_t *value); /* reads 8 bytes of memory */
};

/* Evaluates a DWARF expression (section 2.5.1), with at most a few hundred operations. initial: NULL: start with
 * an empty stack. false: it has operations that are not allowed in call frame information, or a value that it
 * needs is unknown. */
bool cfi_evaluate(const uint8_t *expression, size_t size, const uint64_t *initial,
                  const struct cfi_machine_state *state, uint64_t *value);

#endif
