/* frames.h - walks the stack by the CFI of the code on it (_Unwind_Backtrace() of libgcc, which takes no lock and no memory for code
 * of files). Not from several threads at a time. */
#ifndef FATHOM_STREAMS_RUNTIME_FRAMES_H
#define FATHOM_STREAMS_RUNTIME_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "streams/process_wire.h"

struct frames {
    uint32_t depth;
    bool cut;                            /* outer frames are missing */
    bool steady;                         /* each of pcs stands at its slot */
    uint64_t pcs[PROCESS_FRAMES_MOST];   /* return addresses, the innermost first */
    uint64_t slots[PROCESS_FRAMES_MOST]; /* where they stand */
};

void frames_begin(void);
/* Whether code at `pc` may hold locks that the walk needs: it is libgcc's own. */
bool frames_refuse(uint64_t pc);
/* The path by which control came to `pc`; it returns there with the stack pointer at `sp`. Frames of this
 * library are left out, and so are those from `base` on. vectors: the caller's vector registers are kept. */
void frames_walk(struct frames *out, uint64_t pc, uint64_t sp, uint64_t base, bool vectors);

#endif
