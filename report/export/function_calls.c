/* function_calls.c - see function_calls.h. */
#include "report/export/function_calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

static int compare(const void *a, const void *b)
{
    const struct function_call *x = a, *y = b;
    if (x->caller != y->caller)
        return x->caller < y->caller ? -1 : 1;
    return (x->callee > y->callee) - (x->callee < y->callee);
}

static struct function_call *call_at(struct function_calls *calls, size_t index)
{
    return (struct function_call *)(void *)(calls->at + index * calls->size);
}

const struct function_call *function_call_at(const struct function_calls *calls, size_t index)
{
    return (const struct function_call *)(const void *)(calls->at + index * calls->size);
}

static uint64_t key_of(const struct branches *b, uint32_t branch)
{
    return (uint64_t)b->at[b->at[branch].parent].item << 32 | b->at[branch].item;
}

/* Numbers the different calls; branches whose parent is the root are none. */
static int find_calls(const struct branches *b, struct table *numbers, struct function_calls *calls)
{
    for (uint32_t i = 1; i < b->count; i++) {
        bool added;
        uint64_t *number = b->at[i].parent ? table_put(numbers, key_of(b, i), &added) : NULL;
        if (b->at[i].parent && !number)
            return -1;
        if (number && added)
            *number = calls->count++;
    }
    calls->at = calloc(calls->count + 1, calls->size);
    return calls->at ? 0 : -1;
}

/* All metrics of a branch with all below it: sums[branch * metrics]. */
static uint64_t *sum_up(const struct branches *b, uint32_t metrics)
{
    uint64_t *sums = calloc((size_t)b->count, metrics * sizeof *sums);
    for (uint32_t i = b->count; sums && i-- > 0;)
        for (uint32_t m = 0; m < metrics; m++) {
            uint64_t *own = &sums[(size_t)i * metrics + m];
            *own = add_saturating(*own, b->at[i].node->self[m]);
            if (i) {
                uint64_t *above = &sums[(size_t)b->at[i].parent * metrics + m];
                *above = add_saturating(*above, *own);
            }
        }
    return sums;
}

int function_calls_of(const struct branches *b, uint32_t metrics, struct function_calls *out,
                      struct fathom_error *err)
{
    struct function_calls calls = {.size = sizeof(struct function_call) + metrics * sizeof(uint64_t)};
    struct table *numbers = table_new();
    uint64_t *sums = sum_up(b, metrics);
    int rc = numbers && sums ? find_calls(b, numbers, &calls) : -1;
    /* By call: the end of the outermost subtree below it that the walk is in. */
    uint32_t *inside_until = rc == 0 ? calloc(calls.count + 1, sizeof *inside_until) : NULL;
    for (uint32_t i = 1; inside_until && i < b->count; i++) {
        const uint64_t *number = b->at[i].parent ? table_find(numbers, key_of(b, i)) : NULL;
        if (!number)
            continue;
        struct function_call *call = call_at(&calls, *number);
        call->caller = b->at[b->at[i].parent].item;
        call->callee = b->at[i].item;
        call->contexts++;
        if (i < inside_until[*number])
            continue;
        inside_until[*number] = b->at[i].end;
        for (uint32_t m = 0; m < metrics; m++)
            call->values[m] = add_saturating(call->values[m], sums[(size_t)i * metrics + m]);
    }
    table_free(numbers);
    free(sums);
    if (!inside_until) {
        function_calls_clear(&calls);
        return error_memory(err);
    }
    free(inside_until);
    qsort(calls.at, calls.count, calls.size, compare);
    *out = calls;
    return 0;
}

void function_calls_clear(struct function_calls *calls)
{
    free(calls->at);
    *calls = (struct function_calls){0};
}
