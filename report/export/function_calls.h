/*
 * function_calls.h - a profile's functions and the calls between them, without their contexts. Private to report/export/.
 *
 * A call's weight is that of the samples below it, each counted once however often a recursion repeats the call.
 */
#ifndef FATHOM_REPORT_EXPORT_FUNCTION_CALLS_H
#define FATHOM_REPORT_EXPORT_FUNCTION_CALLS_H

#include "report/views/branches.h"

struct function_call {
    uint32_t caller, callee; /* items */
    uint64_t contexts;       /* in which it was seen */
    uint64_t values[];       /* of each metric */
};

struct function_calls {
    uint8_t *at; /* `count` calls of `size` bytes, by caller, then callee */
    size_t count, size;
};

/* branches: arranged, of a tree of `metrics` metrics. -ENOMEM. */
int function_calls_of(const struct branches *branches, uint32_t metrics, struct function_calls *out,
                      struct fathom_error *err);
const struct function_call *function_call_at(const struct function_calls *calls, size_t index);
void function_calls_clear(struct function_calls *calls);

#endif
