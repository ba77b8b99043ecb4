/*
 * alike_calls.h - which calls a return address on a stack may belong to, if only the functions of its path are known.
 *
 * Stacks that were compared with known ones (collector/verify/rule.h), and paths that were inferred, are right about functions
 * and heights. But another call in the same function, with the same CFI row, would have left the same words: a call of the same
 * callee, or of another one if the known stack had other innermost functions.
 */
#ifndef FATHOM_PROFILE_ALIKE_CALLS_H
#define FATHOM_PROFILE_ALIKE_CALLS_H

#include "image/image.h"

#define ALIKE_CALLS_MOST 8 /* beyond this number, calls are not distinguished */

struct alike_calls;

struct alike_calls *alike_calls_new(void); /* NULL: out of memory */
void alike_calls_free(struct alike_calls *calls);
/* The function that was called. */
struct alike_callee {
    const struct image *image;
    uint32_t function;
};

/* Return addresses of the calls with the same CFI row as the one before `site` that can reach the callee: direct calls of it,
 * and if `site` follows an indirect call, indirect ones too. If there are none: calls that may reach it, through stubs without
 * a fitting name, or functions that may go on to it by a jump. Failing these, `site` itself. 1 to ALIKE_CALLS_MOST; cached.
 * NULL: out of memory. The images must outlive the last call. */
const uint64_t *alike_calls_find(struct alike_calls *calls, const struct image *image, uint64_t site,
                                 const struct alike_callee *callee, uint32_t *count);

#endif
