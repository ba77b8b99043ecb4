/*
 * derive_flow.h - the CFI rows of one function from its code: what objtool does for the kernel. Private to image/.
 *
 * A dataflow over the instructions, from the function's entry, where CFA = SP + 8: what is known of the frame (frame_state.h). A function
 * is left without rows if any way through it leaves with another depth than it came, or, if it is not surely called,
 * without its caller's BP; so is an instruction that
 * is reached with different depths, or by no way that is known. A call after which the depth would be another than by another way does
 * not return.
 *
 * In files without symbols the function goes on where its jumps lead (function_parts.h): that is followed in rounds, until nothing new is
 * found, with a budget for the file that is linear in its code. Functions that were found in code (function_starts.h) have rows only if
 * their ways out lead to functions, guessed ones only if they have one. What two functions claim with different rows has none
 * (claims.h), and less sure functions may not contradict surer ones.
 *
 * In a runtime that keeps frame pointers (run_time.h), as V8 does in its builtins, what is not proved so is followed again by these alone:
 * behind push %rbp; mov %rsp,%rbp the CFA is BP + 16, and SP is not known behind a call, as callees may take their arguments.
 */
#ifndef FATHOM_IMAGE_DERIVE_FLOW_H
#define FATHOM_IMAGE_DERIVE_FLOW_H

#include "image/claims.h"
#include "image/image.h"

struct derivation;

struct derivation *derivation_new(const struct image *image); /* borrowed. NULL: out of memory */
void derivation_free(struct derivation *derivation);
/* Claims rows for the function, if they are proved. 0 or -ENOMEM. */
int derivation_function(struct derivation *derivation, uint32_t function);
/* Whether functions do not keep their callers' BP that were taken to: then what was claimed is forgotten, and all functions that are sure
 * are to be claimed for again. */
bool derivation_again(struct derivation *derivation);
/* Keeps what was claimed so far: functions that are not sure and come later may not contradict it. */
void derivation_settle(struct derivation *derivation);
/* Shows the rows of [from, to) that were claimed (claims.h). 0, or what the sink returned. */
int derivation_rows(struct derivation *derivation, uint64_t from, uint64_t to, claims_sink *sink,
                    void *context);
/* Forgets what was claimed, and what was found of the functions [first, last): as if all were new. */
void derivation_forget(struct derivation *derivation, uint32_t first, uint32_t last);

#endif
