/*
 * derive_flow.h - the CFI rows of one function from its code: what objtool does for the kernel. Private to image/.
 *
 * A dataflow over the instructions, from the function's entry, where CFA = SP + 8: how far SP is below the CFA, whether BP is a frame
 * pointer, and where the caller's BP is. A function is left without rows if any way through it leaves with another depth than it
 * came, or without its caller's BP; so is an instruction that is reached with different depths, or by no way that is known. A call
 * after which the depth would be another than by another way does not return. Of functions that were found in code (function_starts.h)
 * ways out must lead to functions, and guessed ones must have one.
 */
#ifndef FATHOM_IMAGE_DERIVE_FLOW_H
#define FATHOM_IMAGE_DERIVE_FLOW_H

#include "image/image.h"

struct derivation;

struct derivation *derivation_new(const struct image *image); /* borrowed. NULL: out of memory */
void derivation_free(struct derivation *derivation);
/* Claims rows for the function, if they are proved. 0 or -ENOMEM. */
int derivation_function(struct derivation *derivation, uint32_t function);
/* Keeps what was claimed so far: functions that are not sure and come later may not contradict it. */
void derivation_settle(struct derivation *derivation);
/* Adds the rows to those that are derived (cfi/table.h). 0 or -ENOMEM. */
int derivation_finish(struct derivation *derivation);

#endif
