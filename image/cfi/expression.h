/*
 * expression.h - the few DWARF expressions that compilers and linkers use in call frame information,
 * recognised by pattern, never evaluated. Private to image/.
 */
#ifndef FATHOM_IMAGE_CFI_EXPRESSION_H
#define FATHOM_IMAGE_CFI_EXPRESSION_H

#include "image/cfi/machine.h"

/* An expression for the CFA: sets the cfa fields of the rules (CFI_UNSUPPORTED if unknown). */
void cfi_expression_cfa(const uint8_t *code, size_t size, struct cfi_rules *rules);
/* An expression for where the caller's rbp was saved: sets the bp fields. */
void cfi_expression_bp(const uint8_t *code, size_t size, struct cfi_rules *rules);

#endif
