/*
 * frame.h - computes the CFA of one frame by the CFI row of its PC, from its registers and the dump of its
 * stack. Used by samples and unwinding.
 */
#ifndef FATHOM_PROCESS_FRAME_H
#define FATHOM_PROCESS_FRAME_H

#include "image/cfi/cfi.h"
#include "perfdata/sample.h"

/* Where a signal frame has, relative to its SP, the alternate stack (struct ucontext, include/uapi/asm-generic/ucontext.h) and
 * the interrupted registers: arch/x86/include/uapi/asm/sigcontext.h after the 40 bytes of uc_flags, uc_link and uc_stack. */
#define UCONTEXT_STACK      16
#define UCONTEXT_STACK_SIZE 32
#define UCONTEXT_BP         120
#define UCONTEXT_SP         160
#define UCONTEXT_PC         168

struct frame {
    const struct sample *dump; /* the sample whose stack dump is read; it may have none */
    uint64_t sp, bp;
    bool bp_known;
};

enum frame_end {
    FRAME_FOUND,
    FRAME_NO_CFI,
    FRAME_UNSUPPORTED, /* an unsupported rule, or one that uses an unknown BP */
    FRAME_BELOW,       /* the CFA is stored below the dump: the rule was wrong */
    FRAME_BEYOND,      /* the CFA is stored above the dump's end, where the dump was truncated */
};

/* Reads 8 bytes of the dump, or of what was recorded below SP. */
bool frame_read(const struct frame *frame, uint64_t address, uint64_t *out);
/* *cfa is set if it is found. It need not be above SP, as BP may not be what the row assumes. */
enum frame_end frame_cfa(const struct frame *frame, const struct cfi_row *row, uint64_t *cfa);

#endif
