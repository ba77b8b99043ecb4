/*
 * compare.h - compares the code of one function before and after its frame grew. Private to rewrite/patch/.
 */
#ifndef FATHOM_REWRITE_PATCH_COMPARE_H
#define FATHOM_REWRITE_PATCH_COMPARE_H

#include "rewrite/growth/unit.h"

struct compare; /* a second disassembler (capstone) */

struct compare *compare_new(void); /* NULL: out of memory */
void compare_free(struct compare *compare);

/* NULL: they agree. Otherwise the difference, at *where. */
const char *compare_units(struct compare *compare, const struct unit *before, const struct unit *after,
                          uint32_t pad, uint64_t *where);

#endif
