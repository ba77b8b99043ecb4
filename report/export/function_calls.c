/* function_calls.c - see function_calls.h. */
#include "report/export/function_calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/sort.h"
#include "base/vec.h"

static int compare_calls(const void *a, const void *b)
{
    const struct function_call *x = a, *y = b;
    return order_of(x->caller, y->caller) ?: order_of(x->callee, y->callee) ?: order_of(x->line, y->line);
}

static struct function_call *call_at(struct function_calls *calls, size_t index)
{
    return (struct function_call *)(void *)(calls->at + index * calls->size);
}

const struct function_call *function_call_at(const struct function_calls *calls, size_t index)
{
    return (const struct function_call *)(const void *)(calls->at + index * calls->size);
}

uint32_t function_branch(const struct branches *b, const struct frames *frames, uint32_t branch,
                         uint32_t *line)
{
    *line = FRAMES_NONE;
    if (branch && frames_at(frames, b->at[branch].item)->kind == FRAME_LINE) {
        *line = b->at[branch].item;
        branch = b->at[branch].parent;
    }
    return branch;
}

struct found_call {
    uint32_t caller, callee, line;
    uint32_t same; /* the same caller and callee, another line: index + 1; 0: none */
};

/* The call that a branch stands for. false: none, as it is outermost, a line, or not a function. */
static bool call_of(const struct branches *b, const struct frames *frames, uint32_t branch,
                    struct found_call *out)
{
    uint32_t caller = function_branch(b, frames, b->at[branch].parent, &out->line);
    out->caller = b->at[caller].item;
    out->callee = b->at[branch].item;
    return caller && frames_at(frames, out->caller)->kind != FRAME_LEVEL &&
           frames_at(frames, out->callee)->kind != FRAME_LINE;
}

struct found_calls {
    struct table *newest; /* caller and callee -> their newest call, index + 1 */
    struct found_call *at;
    size_t count, capacity;
};

/* The number of a call, its index + 1; 0: out of memory. */
static uint32_t number_call(struct found_calls *found, struct found_call call)
{
    uint64_t *newest = table_put(found->newest, (uint64_t)call.caller << 32 | call.callee, NULL);
    if (!newest)
        return 0;
    for (uint32_t at = (uint32_t)*newest; at; at = found->at[at - 1].same)
        if (found->at[at - 1].line == call.line)
            return at;
    call.same = (uint32_t)*newest;
    if (!vec_push(found->at, found->count, found->capacity, call))
        return 0;
    *newest = found->count;
    return (uint32_t)found->count;
}

/* Numbers the different calls: number_of[branch], 0 for none. */
static int find_calls(const struct branches *b, const struct frames *frames, bool by_line,
                      uint32_t *number_of, struct function_calls *calls)
{
    struct found_calls found = {.newest = table_new()};
    bool good = found.newest;
    for (uint32_t i = 1; i < b->count && good; i++) {
        struct found_call call;
        if (!call_of(b, frames, i, &call))
            continue;
        if (!by_line)
            call.line = FRAMES_NONE;
        number_of[i] = number_call(&found, call);
        good = number_of[i];
    }
    calls->at = good ? calloc(found.count + 1, calls->size) : NULL;
    calls->count = found.count;
    for (size_t i = 0; calls->at && i < found.count; i++) {
        call_at(calls, i)->caller = found.at[i].caller;
        call_at(calls, i)->callee = found.at[i].callee;
        call_at(calls, i)->line = found.at[i].line;
    }
    table_free(found.newest);
    free(found.at);
    return calls->at ? 0 : -1;
}

/* Sums of all metrics of a branch and all below it: sums[branch * metrics]. */
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

int function_calls_of(const struct branches *b, const struct frames *frames,
                      const struct function_calls_options *options, struct function_calls *out,
                      struct fathom_error *err)
{
    uint32_t metrics = options->metrics;
    struct function_calls calls = {.size = sizeof(struct function_call) + metrics * sizeof(uint64_t)};
    uint32_t *number_of = calloc(b->count, sizeof *number_of);
    uint64_t *sums = sum_up(b, metrics);
    int rc = number_of && sums ? find_calls(b, frames, options->by_line, number_of, &calls) : -1;
    /* By call: the end of the outermost subtree of it that contains the current branch. */
    uint32_t *inside_until = rc == 0 ? calloc(calls.count + 1, sizeof *inside_until) : NULL;
    for (uint32_t i = 1; inside_until && i < b->count; i++) {
        if (!number_of[i])
            continue;
        struct function_call *call = call_at(&calls, number_of[i] - 1);
        call->contexts++;
        if (i < inside_until[number_of[i] - 1])
            continue;
        inside_until[number_of[i] - 1] = b->at[i].end;
        for (uint32_t m = 0; m < metrics; m++)
            call->values[m] = add_saturating(call->values[m], sums[(size_t)i * metrics + m]);
    }
    free(number_of);
    free(sums);
    if (!inside_until) {
        function_calls_clear(&calls);
        return error_memory(err);
    }
    free(inside_until);
    qsort(calls.at, calls.count, calls.size, compare_calls);
    *out = calls;
    return 0;
}

void function_calls_clear(struct function_calls *calls)
{
    free(calls->at);
    *calls = (struct function_calls){0};
}
