/*
 * cfi.h - call frame information: for every PC, where the CFA is and where the caller's registers are.
 *
 * The rows of the FDEs of .eh_frame, computed per FDE when one of its addresses is first looked up (DWARF 5
 * section 6.4, LSB .eh_frame). Only what a sample can use is stored: the CFA by SP or BP, the caller's BP, the
 * return address. Anything else is CFI_UNSUPPORTED, never guessed.
 */
#ifndef FATHOM_IMAGE_CFI_CFI_H
#define FATHOM_IMAGE_CFI_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum cfi_cfa {
    CFI_NONE,      /* no FDE covers the address */
    CFI_SP,        /* CFA = SP + cfa_offset; the PLT's expression is resolved to this using the PC */
    CFI_BP,        /* CFA = BP + cfa_offset */
    CFI_BP_MEMORY, /* CFA = *(uint64_t *)(BP + cfa_offset) + cfa_add: a realigned frame; needs stack memory */
    CFI_SP_MEMORY, /* CFA = *(uint64_t *)(SP + cfa_offset) + cfa_add: a realigned frame, too */
    CFI_SIGNAL_FRAME, /* SP points at a struct ucontext (the kernel's x86-64 rt_sigframe): the interrupted
                         registers are in it */
    CFI_UNSUPPORTED, /* another register or expression (registers.h). Derived rows: CFA = register + cfa_offset; the
                      * register's number (image/code/code.h) is cfa_add / 8 */
};

enum cfi_bp {
    CFI_BP_SAME,    /* the caller's BP is still in BP */
    CFI_BP_AT_CFA,  /* saved at CFA + bp_offset */
    CFI_BP_AT_BP,   /* saved at BP + bp_offset (realigned frames) */
    CFI_BP_AT_SP,   /* saved at SP + bp_offset (likewise) */
    CFI_BP_UNKNOWN, /* undefined, or an unsupported rule */
};

#define CFI_ADD_MAX 248

struct cfi_row {
    uint8_t cfa;     /* enum cfi_cfa */
    uint8_t bp;      /* enum cfi_bp */
    uint8_t cfa_add; /* bytes from the word in memory to the CFA; a multiple of 8, at most CFI_ADD_MAX */
    bool derived;    /* computed from code, as no FDE covers it (image/derive.h) */
    bool root;       /* the return address is undefined: the stack's outermost frame. Else it is at CFA - 8 */
    int32_t cfa_offset, bp_offset; /* bytes */
};

/* Whether the CFA must be read from the stack. */
static inline bool cfi_in_memory(const struct cfi_row *row)
{
    return row->cfa == CFI_BP_MEMORY || row->cfa == CFI_SP_MEMORY;
}

/* Whether two rows have the same rules, derived or not. */
static inline bool cfi_row_same(const struct cfi_row *a, const struct cfi_row *b)
{
    return a->cfa == b->cfa && a->bp == b->bp && a->root == b->root && a->cfa_offset == b->cfa_offset &&
           a->cfa_add == b->cfa_add && a->bp_offset == b->bp_offset;
}

struct cfi;

/* The row for an instruction's address (for a return address, pass address - 1). cfa == CFI_NONE: there is none;
 * CFI_UNSUPPORTED also if out of memory. Thread-safe. Takes under 50 ns once the FDE's rows are computed: an
 * index access and a short search. */
struct cfi_row cfi_lookup(const struct cfi *cfi, uint64_t address);

/* Whether an FDE, even a damaged one, covers the address. Computes no rows: for callers that query many
 * functions. */
bool cfi_covers(const struct cfi *cfi, uint64_t address);

/* Whether an undamaged FDE has a row for the address. */
bool cfi_tells(const struct cfi *cfi, uint64_t address);

/* The end of the row that applies at an address: the first address above it with another row (which may be
 * CFI_NONE), or with the same one of another FDE; UINT64_MAX after the last. */
uint64_t cfi_row_end(const struct cfi *cfi, uint64_t address);
struct cfi_span {
    uint64_t start, end; /* [start, end) */
};
/* The row, and the range around the address in which it applies, within its FDE. */
struct cfi_row cfi_lookup_span(const struct cfi *cfi, uint64_t address, struct cfi_span *out);

typedef void cfi_row_sink(void *context, uint64_t start, struct cfi_row row);
/* Shows the rows of FDEs in [from, to), in order, without derived ones; each applies up to the next one's start.
 * CFI_NONE: between FDEs. A row that depends on the address is shown as CFI_UNSUPPORTED. */
void cfi_each_row(const struct cfi *cfi, uint64_t from, uint64_t to, cfi_row_sink *see, void *context);

struct cfi_statistics {
    uint32_t fdes, rows;
    uint32_t unsupported_rows; /* rows whose CFA is unsupported */
    uint32_t bad_fdes;         /* damaged: left out */
    size_t bytes;              /* of memory */
};
/* Statistics of all rows; computes those not looked up yet. */
void cfi_statistics(const struct cfi *cfi, struct cfi_statistics *out);

/* The FDEs' address ranges in address order. They mark the functions of stripped files. */
struct cfi_range {
    uint64_t address;
    uint32_t size;
    bool entry_state; /* its first row is a function's entry's, CFA = SP + 8; seldom a .cold part's */
    uint64_t lsda;    /* address of its language-specific data, 0: none */
};
size_t cfi_ranges(const struct cfi *cfi, const struct cfi_range **out);

#endif
