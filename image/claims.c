/* claims.c - see claims.h. */
#include "image/claims.h"

#include <errno.h>
#include <stdlib.h>

#include "base/search.h"
#include "base/sort.h"
#include "base/vec.h"

bool claims_add(struct claims *claims, uint64_t address, uint64_t end, struct cfi_row row)
{
    return vec_push(claims->items, claims->count, claims->capacity, (struct claim){address, end, row});
}

/* Adds a claim. Claims are added by address, so it can overlap only the last one. From the first address where
 * the two disagree, both become invalid, including what one of them has behind the other's end (a few
 * instructions). */
static void settle_one(struct claims *claims, struct claim claim)
{
    struct claim *last = claims->settled ? &claims->items[claims->settled - 1] : NULL;
    if (last && claim.address < last->address)
        claim.address = last->address; /* before that address the claims already contradict each other */
    if (last && last->row.cfa == CFI_NONE && claim.address < last->end)
        claim.address = last->end;
    if (claim.address >= claim.end)
        return;
    if (last && claim.address <= last->end && cfi_row_same(&last->row, &claim.row)) {
        last->end = claim.end > last->end ? claim.end : last->end;
        return;
    }
    if (last && claim.address < last->end) {
        claim.end = claim.end > last->end ? claim.end : last->end;
        claim.row = (struct cfi_row){.cfa = CFI_NONE};
        last->end = claim.address;
    }
    if (last && last->address == last->end)
        *last = claim;
    else
        claims->items[claims->settled++] = claim;
}

void claims_settle(struct claims *claims)
{
    sort_by(claims->items, claims->count, address);
    claims->settled = 0;
    for (size_t i = 0; i < claims->count; i++)
        settle_one(claims, claims->items[i]);
    claims->count = claims->settled;
}

bool claims_contradict(const struct claims *claims, uint64_t address, uint64_t end, struct cfi_row row)
{
    const struct claim *items = claims->items;
    size_t i = lower_bound(k, (size_t)0, claims->settled, items[k].end <= address);
    for (; i < claims->settled && items[i].address < end; i++)
        if (!cfi_row_same(&items[i].row, &row))
            return true;
    return false;
}

bool claims_confirm(const struct claims *claims, uint64_t address, struct cfi_row row)
{
    const struct claim *items = claims->items;
    const size_t i = lower_bound(k, (size_t)0, claims->settled, items[k].end <= address);
    return row.cfa != CFI_NONE && i < claims->settled && items[i].address <= address &&
           cfi_row_same(&items[i].row, &row);
}

int claims_rows(const struct claims *claims, uint64_t from, uint64_t to, claims_sink *sink, void *context)
{
    const struct claim *items = claims->items;
    size_t i = lower_bound(k, (size_t)0, claims->settled, items[k].end <= from);
    int rc = 0;
    for (; rc == 0 && i < claims->settled && items[i].address < to; i++) {
        rc = sink(context, items[i].address < from ? from : items[i].address, items[i].row);
        if (rc == 0 && items[i].end < to &&
            (i + 1 == claims->settled || items[i + 1].address != items[i].end))
            rc = sink(context, items[i].end, (struct cfi_row){.cfa = CFI_NONE});
    }
    return rc;
}

void claims_forget(struct claims *claims)
{
    claims->count = claims->settled = 0;
}

void claims_free(struct claims *claims)
{
    free(claims->items);
}
