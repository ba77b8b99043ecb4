/*
 * alike_calls.h - the calls that a return address on a stack may be of, if only the functions of its path are known.
 *
 * Stacks that were compared with known ones (collector/verify/rule.h), and paths that were inferred, are right about
 * functions and heights. Another call in the same function, with the same CFI row, would have left the same: of the same
 * callee, or of another one, where the known stack's innermost functions were others.
 */
#ifndef FATHOM_PROFILE_ALIKE_CALLS_H
#define FATHOM_PROFILE_ALIKE_CALLS_H

#include "image/image.h"

#define ALIKE_CALLS_MOST 8 /* more are not told apart */

struct alike_calls;

struct alike_calls *alike_calls_new(void); /* NULL: out of memory */
void alike_calls_free(struct alike_calls *calls);
/* The function that the call led to. */
struct alike_callee {
    const struct image *image;
    uint32_t function;
};

/* Return addresses of the calls with the CFI row of the one before `site` that can lead to the callee: direct ones; where `site` is an
 * indirect call's, these too; if there is none, those of which that is not known, by stubs without a name that fits, or by functions that
 * may go on to it by a jump; else the given one. 1 to ALIKE_CALLS_MOST; found once for each. NULL: out of memory. The images must outlive the
 * last call. */
const uint64_t *alike_calls_find(struct alike_calls *calls, const struct image *image, uint64_t site,
                                 const struct alike_callee *callee, uint32_t *count);

#endif
