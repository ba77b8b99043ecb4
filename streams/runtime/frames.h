/* frames.h - walks the stack by the CFI of its code (_Unwind_Backtrace() of libgcc, which takes no lock and no
 * memory for code of files). Not thread-safe. */
#ifndef FATHOM_STREAMS_RUNTIME_FRAMES_H
#define FATHOM_STREAMS_RUNTIME_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "streams/process_wire.h"

struct frames {
    uint32_t depth;
    bool cut;                            /* outer frames are missing */
    bool steady;                         /* each of pcs is on the stack at its slot */
    uint64_t pcs[PROCESS_FRAMES_MOST];   /* return addresses, the innermost first */
    uint64_t slots[PROCESS_FRAMES_MOST]; /* their places on the stack */
};

void frames_begin(void);
/* Whether code at `pc` may hold locks that the walk needs, as it is libgcc's own. */
bool frames_refuse(uint64_t pc);
/* The path that leads to `pc`, to which control returns with the stack pointer at `sp`. Leaves out frames of this
 * library, and those from `base` on. vectors: preserve the caller's vector registers. */
void frames_walk(struct frames *out, uint64_t pc, uint64_t sp, uint64_t base, bool vectors);

#endif
