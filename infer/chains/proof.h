/*
 * proof.h - how much of a sample's recorded callers is certain, and the stack that they were read from.
 *
 * A chain by frame pointers (CHAIN_FRAMES) skips the callers of code that keeps none, and goes wrong above it. A step of
 * it is certain
 *   - where the CFI of the frame says that BP points to the saved BP and the return address above it: the kernel read
 *     what unwinding reads;
 *   - where BP is still a caller's, if there is just one function, called by the call before the next entry, that could
 *     be missing, and just one call in it: that caller is filled in.
 * A call that the processor kept (CHAIN_CALLS) is certain if it led to the function of the frame below, or to one that
 * jumped there. After a loss of the processor's stack (a switch of contexts without saving it) calls do not fit, or end.
 * From the last certain frame on, callers are added while the code allows only one: a function that one call leads to
 * and no pointer, __libc_start_main called by the program's entry, the first function of a thread.
 *
 * The offset from each frame to its caller's is in the CFI row at the call, or with frame pointers in the code. So the
 * stack can be written as it was, as far as unwinding by CFI reads it, and unwinding that must give the same frames.
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
