/*
 * machine.h - runs the call frame instructions of one CIE or FDE (DWARF 5, section 6.4.2) for the registers in
 * the CFI table (the CFA, rbp and the return address) or, on demand, for all. Private to image/.
 */
#ifndef FATHOM_IMAGE_CFI_MACHINE_H
#define FATHOM_IMAGE_CFI_MACHINE_H

#include "image/cfi/registers.h"
#include "image/elf/pointer.h"

#define CFI_PLT (CFI_UNSUPPORTED + 1) /* CFA = SP + offset + ((pc & 15) >= plt_limit ? 8 : 0) */

enum cfi_return {
    CFI_RETURN_UNSET,  /* no rule was given */
    CFI_RETURN_AT_CFA, /* at CFA - 8 */
    CFI_RETURN_NONE,   /* undefined: the stack's root */
    CFI_RETURN_OTHER,
};

/* The rules at one location. */
struct cfi_rules {
    uint8_t bp;          /* enum cfi_bp */
    uint8_t return_rule; /* enum cfi_return */
    uint8_t cfa;         /* CFI_SP or CFI_BP; CFI_UNSUPPORTED for another register or expression; CFI_PLT,
                            CFI_BP_MEMORY, CFI_SP_MEMORY, CFI_SIGNAL_FRAME for recognised expressions */
    bool cfa_expression; /* then register and offset rules do not apply */
    uint8_t plt_limit;
    uint8_t cfa_add;               /* added to the word, for the two *_MEMORY; bytes */
    int64_t cfa_offset, bp_offset; /* bytes */
};

#define CFI_REMEMBER_DEPTH 16

/* The rules of all registers, on demand. */
struct cfi_all {
    struct cfi_registers now, initial, remembered[CFI_REMEMBER_DEPTH];
};

struct cfi_machine {
    struct cfi_rules now, initial; /* initial: after the CIE's instructions; restored by DW_CFA_restore */
    struct cfi_rules remembered[CFI_REMEMBER_DEPTH];
    unsigned depth;
    uint64_t location; /* address */
    uint64_t code_alignment;
    int64_t data_alignment;
    uint8_t encoding; /* of DW_CFA_set_loc's operand */
    const struct pointer_bases *bases;
    struct cfi_all *all; /* updated together with `now`, `initial` and `remembered`; NULL: not wanted */
};

enum cfi_progress {
    CFI_MOVED, /* the location advanced: `now` applies up to the new location */
    CFI_END,   /* `now` applies from `location` to the range's end */
    CFI_BAD,   /* damaged or unknown instructions */
};

/* Runs until the location moves or the instructions end. */
enum cfi_progress cfi_machine_run(struct cfi_machine *machine, struct bytes *code);

#endif
