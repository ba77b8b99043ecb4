/*
 * alike_calls.h - the calls that a return address on a stack may be of, if only the functions of its path are known.
 *
 * Stacks that were compared with known ones (collector/verify/rule.h), and paths that were inferred, are right about
 * functions and heights. Another call of the same callee in the same function, with the same CFI row, would have left the
 * same.
 */
#ifndef FATHOM_PROFILE_ALIKE_CALLS_H
#define FATHOM_PROFILE_ALIKE_CALLS_H

#include "image/image.h"

#define ALIKE_CALLS_MOST 8 /* more are not told apart */

struct alike_calls;

struct alike_calls *alike_calls_new(void); /* NULL: out of memory */
void alike_calls_free(struct alike_calls *calls);
/* Return addresses of the calls that are alike, the given one first: 1 to ALIKE_CALLS_MOST. Found once for each. NULL: out
 * of memory. The images must outlive the last call. */
const uint64_t *alike_calls_find(struct alike_calls *calls, const struct image *image, uint64_t site,
                                 uint32_t *count);

#endif
