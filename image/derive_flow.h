/*
 * derive_flow.h - derives the CFI rows of one function from its code, as objtool does for the kernel. Private to
 * image/.
 *
 * A dataflow over the instructions, starting from CFA = SP + 8 at the entry; the state is what is known of the
 * frame (frame_state.h). A function gets no rows if any path through it leaves with another depth than it entered
 * or, if the function is not certainly called, without its caller's BP. An instruction gets no row if it is
 * reached with different depths, or not at all. A call is taken not to return if the code behind it was reached
 * by another path with another depth.
 *
 * In files without symbols a function continues where its jumps lead (function_parts.h). This is repeated until
 * nothing new is found, within a budget for the file that is linear in its code. Functions found in code
 * (function_starts.h) get rows only if their exits lead to functions; guessed ones also need at least one exit.
 * Where two functions claim different rows, neither is used (claims.h), and less certain functions must not
 * contradict more certain ones.
 *
 * In a runtime that keeps frame pointers (run_time.h), as V8 does in its builtins, functions not proved this way
 * are followed once more by frame pointers alone: behind push %rbp; mov %rsp,%rbp the CFA is BP + 16, and SP is
 * unknown after a call, as callees may pop their arguments.
 */
#ifndef FATHOM_IMAGE_DERIVE_FLOW_H
#define FATHOM_IMAGE_DERIVE_FLOW_H

#include "image/claims.h"
#include "image/image.h"

struct derivation;

struct derivation *derivation_new(const struct image *image); /* the image is borrowed. NULL: out of memory */
void derivation_free(struct derivation *derivation);
/* Claims rows for the function if they can be proved. 0 or -ENOMEM. */
int derivation_function(struct derivation *derivation, uint32_t function);
/* Whether functions turned out not to keep their callers' BP that were assumed to. Then all claims have been
 * dropped, and rows of all sure functions must be claimed again. */
bool derivation_again(struct derivation *derivation);
/* Settles the claims so far, which less certain functions that follow must not contradict. */
void derivation_settle(struct derivation *derivation);
/* Passes the claimed rows of [from, to) to the sink, as claims_rows() does. */
int derivation_rows(struct derivation *derivation, uint64_t from, uint64_t to, claims_sink *sink,
                    void *context);
/* Drops all claims and what was found about functions [first, last), so that their rows do not depend on earlier calls. */
void derivation_forget(struct derivation *derivation, uint32_t first, uint32_t last);

#endif
