/*
 * claims.h - the CFI rows that functions claim for code. Code can be claimed more than once: by functions that
 * share it, or where a function is wrongly taken to continue into the next one. Private to image/.
 */
#ifndef FATHOM_IMAGE_CLAIMS_H
#define FATHOM_IMAGE_CLAIMS_H

#include "image/cfi/table.h"

struct claim {
    uint64_t address, end;
    struct cfi_row row;
};

struct claims {
    struct claim *items; /* the first `settled` are sorted and do not overlap; CFI_NONE: contradicted */
    size_t count, capacity, settled;
};

bool claims_add(struct claims *claims, uint64_t address, uint64_t end,
                struct cfi_row row); /* false: out of memory */
/* Resolves overlaps: where claims have different rows, none is valid. */
void claims_settle(struct claims *claims);
/* Whether a row contradicts a settled one. */
bool claims_contradict(const struct claims *claims, uint64_t address, uint64_t end, struct cfi_row row);
/* Whether a settled claim has this row at an address. */
bool claims_confirm(const struct claims *claims, uint64_t address, struct cfi_row row);
/* Passes the settled rows of [from, to) to the sink in address order; each applies up to the next one, and CFI_NONE fills gaps.
 * 0, or the sink's result if it is not 0. */
typedef int claims_sink(void *context, uint64_t address, struct cfi_row row);
int claims_rows(const struct claims *claims, uint64_t from, uint64_t to, claims_sink *sink, void *context);
void claims_forget(struct claims *claims); /* removes all */
void claims_free(struct claims *claims);

#endif
