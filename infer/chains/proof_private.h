/* proof_private.h - private to infer/chains/: the frames that are certain, and the stack written for them. */
#ifndef FATHOM_INFER_CHAINS_PROOF_PRIVATE_H
#define FATHOM_INFER_CHAINS_PROOF_PRIVATE_H

#include "infer/chains/proof.h"
#include "process/unwind.h"

#define PROOF_FRAMES      (LINKS_MOST + 16u) /* the code adds some */
#define PROOF_STACK_BYTES (1u << 20)         /* larger stacks are not written */

struct proof_frame {
    uint64_t pc; /* the return address for callers */
    struct place place;
    struct cfi_row row;
    /* bytes from the callee's CFA to this frame's; for the innermost frame with CFI_SP, from SP */
    uint64_t rise;
    uint64_t cfa, bp;
};

/* Where a function's frame returns to, as far as the code tells. */
struct proof_origin {
    enum {
        ORIGIN_NONE,
        ORIGIN_CALL, /* behind the only call of it, `address` */
        ORIGIN_THREAD, /* nothing calls it, and its address is taken: threads start there, if it is in their image */
        ORIGIN_ENTRY, /* nothing in its image calls it, and it is exported: programs' entries call it */
    } kind;
    uint64_t address; /* in the image */
};

struct prover {
    struct image_calls *calls;
    struct table *known; /* function -> index in origins + 1 */
    struct proof_origin *origins;
    size_t origin_count, origin_capacity;
    const struct process *process;
    uint32_t tid;
    struct links links;
    struct proof_frame frames[PROOF_FRAMES]; /* innermost first */
    size_t count;
    struct unwind_frame unwound[PROOF_FRAMES + 1];
    uint64_t stack[PROOF_STACK_BYTES / 8];
};

/* Whether the innermost frame leaves the caller's BP in place, or has restored it (its slot was popped). */
static inline bool proof_leaves_bp(const struct cfi_row *row)
{
    return row->bp == CFI_BP_SAME ||
           (row->bp == CFI_BP_AT_CFA && row->cfa == CFI_SP && row->cfa_offset + row->bp_offset < 0);
}

/* Writes the words of these frames' stack that unwinding reads. whole: the last frame is the outermost. false: the frames do
 * not fit the sample's registers, or unwinding gives others. */
bool proof_write_stack(struct prover *prover, const struct sample *sample, bool whole, struct sample *out);

#endif
