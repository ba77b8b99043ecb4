/*
 * proof.h - how much of a sample's recorded callers is certain, and the stack that they were read from.
 *
 * A chain by frame pointers (CHAIN_FRAMES) skips the callers of code without frame pointers, and is wrong beyond it.
 * A step of it is certain
 *   - where the CFI of the frame says that BP points to the saved BP with the return address above it: the kernel read
 *     what unwinding reads;
 *   - where BP is still the caller's, if only one function can be missing (the one that the call before the next entry
 *     calls), and it has just one call of the frame's function: this caller is filled in.
 * A call that the processor recorded (CHAIN_CALLS) is certain if its target is the function of the frame below, or one
 * that jumps there. When the processor's stack was lost (by a context switch that did not save it), calls do not fit,
 * or end. Beyond the last certain frame, callers are added while the code allows only one: the only call of a function
 * whose address is never taken, the program's entry for __libc_start_main, the start of a thread for its first function.
 *
 * The offset from each frame's CFA to its caller's is in the CFI row at the call, or with frame pointers in the code. So
 * the stack can be written as it was, as far as unwinding by CFI reads it; unwinding it must give the same frames.
 */
#ifndef FATHOM_INFER_CHAINS_PROOF_H
#define FATHOM_INFER_CHAINS_PROOF_H

#include "infer/chains/links.h"
#include "infer/statics/image_calls.h"
#include "process/process.h"

enum proof_extent {
    PROOF_NONE,
    PROOF_PART,  /* from the sample's function outwards, but not to the stack's base */
    PROOF_WHOLE, /* the whole path */
};

struct prover;

/* calls is borrowed. NULL: out of memory. */
struct prover *prover_new(struct image_calls *calls);
void prover_free(struct prover *prover);
/* Makes *out the sample with a dump of what is certain of its stack (borrowed until the next call), which ends where that
 * does, and with registers if it had none; `chain` is set. A stack without registers is at an address of its own for
 * each thread. *out is only set if something is certain. */
enum proof_extent prover_prove(struct prover *prover, const struct process *process,
                               const struct sample *sample, enum chain_source source, struct sample *out);

#endif
