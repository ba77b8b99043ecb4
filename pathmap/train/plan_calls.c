/*
 * plan_calls.c - see plan_calls.h.
 *
 * If the code shows how far SP is below the CFA, that is used, whatever register the CFI uses: such a call's
 * frames always have the same size, which makes the runtime's fast path safe (pathmap/probe/enter.c).
 */
#include "pathmap/train/plan_calls.h"

#include <errno.h>
#include <stdlib.h>

#include "base/search.h"
#include "base/sort.h"
#include "image/calls/calls.h"
#include "image/cfi/cfi.h"

static bool offset_fits(int32_t offset)
{
    return offset > -PLAN_OFFSET_MAX && offset < PLAN_OFFSET_MAX;
}

static int32_t cfa_rule(const struct call_site *site, struct cfi_row row)
{
    if (!site->open && site->offset >= 8 && offset_fits(site->offset))
        return plan_rule(PLAN_CALL_FIXED, site->offset);
    if (site->open && row.cfa == CFI_BP && offset_fits(row.cfa_offset))
        return plan_rule(PLAN_CALL_BP, row.cfa_offset);
    if (site->open && row.cfa == CFI_BP_MEMORY && row.cfa_add == 0 && offset_fits(row.cfa_offset))
        return plan_rule(PLAN_CALL_BP_MEMORY, row.cfa_offset);
    return plan_rule(PLAN_CALL_UNKNOWN, 0);
}

static int32_t bp_rule(struct cfi_row row)
{
    switch (row.bp) {
    case CFI_BP_SAME:
        return plan_rule(PLAN_BP_SAME, 0);
    case CFI_BP_AT_CFA:
        return offset_fits(row.bp_offset) ? plan_rule(PLAN_BP_AT_CFA, row.bp_offset)
                                          : plan_rule(PLAN_BP_UNKNOWN, 0);
    case CFI_BP_AT_BP:
        return offset_fits(row.bp_offset) ? plan_rule(PLAN_BP_AT_BP, row.bp_offset)
                                          : plan_rule(PLAN_BP_UNKNOWN, 0);
    default:
        return plan_rule(PLAN_BP_UNKNOWN, 0);
    }
}

static uint32_t hook_of(const struct plan_hook *hooks, uint32_t count, uint64_t function)
{
    uint32_t first = lower_bound(i, 0, count, hooks[i].function < function);
    return first < count && hooks[first].function == function ? first : PLAN_NO_HOOK;
}

/* Sorts and removes duplicates: bytes in two functions were read twice. */
static uint32_t settle_calls(struct plan_call *calls, uint32_t count)
{
    uint32_t kept = 0;
    sort_by(calls, count, back);
    for (uint32_t i = 0; i < count; i++)
        if (!kept || calls[kept - 1].back != calls[i].back)
            calls[kept++] = calls[i];
    return kept;
}

static uint64_t first_back(const struct call_site *sites, size_t count)
{
    uint64_t first = UINT64_MAX;
    for (size_t i = 0; i < count; i++)
        if (!sites[i].tail && sites[i].next < first)
            first = sites[i].next;
    return first;
}

int plan_calls_find(const struct image *image, const struct plan_hook *hooks, uint32_t hook_count,
                    struct plan_calls *out, struct fathom_error *err)
{
    struct calls *calls;
    const struct call_site *sites;
    if (calls_build(image, &calls, err) < 0)
        return -ENOMEM;
    size_t n = calls_all(calls, &sites);
    uint64_t first = first_back(sites, n);
    struct plan_call *found = malloc((n + 1) * sizeof *found);
    uint32_t kept = 0;
    for (size_t i = 0; found && i < n; i++) {
        const struct call_site *s = &sites[i];
        if (s->tail || s->next - first > UINT32_MAX || kept == UINT32_MAX)
            continue;
        struct cfi_row row = cfi_lookup(image_cfi(image), s->address);
        found[kept++] = (struct plan_call){
            .back = (uint32_t)(s->next - first),
            .hook = hook_of(hooks, hook_count, image_function(image, s->function)->address),
            .cfa = cfa_rule(s, row),
            .bp = bp_rule(row)};
    }
    calls_free(calls);
    if (!found)
        return error_memory(err);
    *out = (struct plan_calls){found, settle_calls(found, kept), kept ? first : 0};
    return 0;
}
