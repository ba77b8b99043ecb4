/*
 * claims.h - the rows that functions claim for code, which may be claimed more than once: by functions that share it, or where one goes on
 * into another by mistake. Private to image/.
 */
#ifndef FATHOM_IMAGE_CLAIMS_H
#define FATHOM_IMAGE_CLAIMS_H

#include "image/cfi/table.h"

struct claim {
    uint64_t address, end;
    struct cfi_row row;
};

struct claims {
    struct claim *items; /* the first `settled`: by address, not overlapping; CFI_NONE: contradicted */
    size_t count, capacity, settled;
};

bool claims_add(struct claims *claims, uint64_t address, uint64_t end,
                struct cfi_row row); /* false: out of memory */
/* Settles all: where different rows are claimed, there is none. */
void claims_settle(struct claims *claims);
/* Whether a row contradicts one that is settled. */
bool claims_contradict(const struct claims *claims, uint64_t address, uint64_t end, struct cfi_row row);
/* Whether one that is settled has this row at an address. */
bool claims_confirm(const struct claims *claims, uint64_t address, struct cfi_row row);
/* Shows what is settled of [from, to), in order: each row from an address on; CFI_NONE: between. 0, or what the sink returned. */
typedef int claims_sink(void *context, uint64_t address, struct cfi_row row);
int claims_rows(const struct claims *claims, uint64_t from, uint64_t to, claims_sink *sink, void *context);
void claims_forget(struct claims *claims); /* all */
void claims_free(struct claims *claims);

#endif
