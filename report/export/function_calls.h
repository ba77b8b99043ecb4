/*
 * function_calls.h - a profile's functions and the calls between them, without their contexts. Private to report/export/.
 *
 * A call's weight is that of the samples below it, each counted once however often a recursion repeats the call.
 */
#ifndef FATHOM_REPORT_EXPORT_FUNCTION_CALLS_H
#define FATHOM_REPORT_EXPORT_FUNCTION_CALLS_H

#include "report/views/branches.h"

struct function_call {
    uint32_t caller, callee; /* items of functions */
    uint32_t line;           /* of the caller, an item; FRAMES_NONE: unknown or not requested */
    uint64_t contexts;       /* in which it was seen */
    uint64_t values[];       /* of each metric */
};

struct function_calls {
    uint8_t *at; /* `count` calls of `size` bytes, by caller, callee, line */
    size_t count, size;
};

/* The function of a branch: the branch itself, or for a line (FRAME_LINE) the branch above it; 0: none. *line: the line's item, or
 * FRAMES_NONE. */
uint32_t function_branch(const struct branches *branches, const struct frames *frames, uint32_t branch,
                         uint32_t *line);

struct function_calls_options {
    uint32_t metrics; /* of the tree */
    bool by_line;     /* calls from different lines of a function are different calls */
};

/* branches: arranged. -ENOMEM. */
int function_calls_of(const struct branches *branches, const struct frames *frames,
                      const struct function_calls_options *options, struct function_calls *out,
                      struct fathom_error *err);
const struct function_call *function_call_at(const struct function_calls *calls, size_t index);
void function_calls_clear(struct function_calls *calls);

#endif
