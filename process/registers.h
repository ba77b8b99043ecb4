/*
 * registers.h - values of registers in the frames of a walk, for CFI rules that use more than SP and BP
 * (image/cfi/registers.h). Computed on demand, from the frame inwards: nothing is stored for frames that need none.
 */
#ifndef FATHOM_PROCESS_REGISTERS_H
#define FATHOM_PROCESS_REGISTERS_H

#include "process/frame.h"
#include "process/unwind.h"

struct registers {
    const struct sample *sample; /* with its registers and its stack */
    const struct unwind_frame *frames;
    size_t count; /* number of frames with a known CFA: the next one is asked for */
    /* Called for each word that was read; value: usually an address in the stack. May be NULL. */
    void (*note)(void *context, uint64_t address, uint64_t value);
    void *context;
    /* the sample's own registers that were used, as in sample.register_mask, except SP and IP */
    uint64_t used;
    unsigned steps; /* taken in this walk; they are bounded */
};

/* The CFA and return address of the next frame, by the rules of all registers. Its PC is at `place`; exact: the PC is not a
 * return address. */
enum frame_end registers_frame(struct registers *registers, const struct place *place, bool exact,
                               uint64_t *cfa, uint64_t *return_address);

#endif
