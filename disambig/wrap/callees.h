/*
 * callees.h - functions that do not notice if their caller's stack is elsewhere: calls of them can be wrapped.
 *
 * Such a function neither accesses memory at its CFA or above, where its caller pushed arguments or has its own
 * frame, nor takes its address or that of its return address; and the same is true of all functions that it jumps
 * to (tail calls). Addresses of locals are assumed to be used only within these, and so is an index, as in C.
 * Uncertain cases are refused.
 */
#ifndef FATHOM_DISAMBIG_WRAP_CALLEES_H
#define FATHOM_DISAMBIG_WRAP_CALLEES_H

#include "rewrite/growth/growth.h"

enum wrap_refusal { /* why a call is not wrapped */
                    WRAP_POSSIBLE,
                    WRAP_NOT_DIRECT,
                    WRAP_NO_SITE,
                    WRAP_CALLEE_UNKNOWN,
                    WRAP_CALLEE_ARGUMENTS,
                    WRAP_CALLEE_JUMPS,
                    WRAP_LAST,
                    WRAP_CALLER,
                    WRAP_REFUSALS /* their number */
};

/* The reason as the end of a sentence about a call: "it ..." */
const char *wrap_refusal_text(enum wrap_refusal refusal);

struct callees;

/* The growth must outlive it. NULL: out of memory. */
struct callees *callees_new(const struct growth *growth);
void callees_free(struct callees *callees); /* NULL is allowed */
/* Whether calls of the function with this index in the image can be wrapped, or why not. 0 or -ENOMEM. */
int callees_judge(struct callees *callees, uint32_t function, enum wrap_refusal *out);

#endif
