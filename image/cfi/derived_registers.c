/* derived_registers.c - see registers.h. */
#include "image/cfi/registers.h"

/* DWARF's numbers (psABI, figure 3.36) by those of the instruction set. */
static const uint8_t dwarf_numbers[16] = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};

struct cfi_registers cfi_derived_registers(const struct cfi_row *row)
{
    struct cfi_registers r = {.cfa = {.where = CFI_REGISTER,
                                      .number = dwarf_numbers[row->cfa_add / 8u % 16u],
                                      .offset = row->cfa_offset}};
    for (unsigned i = 0; i < CFI_REGISTERS; i++)
        r.of[i].where = CFI_UNDEFINED;
    r.of[REGISTER_SP].where = CFI_CFA_PLUS;
    r.of[REGISTER_RETURN] = (struct cfi_register){.where = CFI_AT_CFA, .offset = -8};
    if (row->bp == CFI_BP_SAME)
        r.of[REGISTER_BP].where = CFI_SAME;
    else if (row->bp == CFI_BP_AT_CFA)
        r.of[REGISTER_BP] = (struct cfi_register){.where = CFI_AT_CFA, .offset = row->bp_offset};
    return r;
}
