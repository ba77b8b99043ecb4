/*
 * registers.h - values of registers in the frames of a walk, for CFI rules by others than SP and BP (image/cfi/registers.h). Found when
 * asked for, from the frame inwards: nothing is kept for frames that need none.
 */
#ifndef FATHOM_PROCESS_REGISTERS_H
#define FATHOM_PROCESS_REGISTERS_H

#include "process/frame.h"
#include "process/unwind.h"

struct registers {
    const struct sample *sample; /* with its registers and its stack */
    const struct unwind_frame *frames;
    size_t count; /* of the frames whose CFA is known: the next one is asked for */
    /* Told of each word that was read; value: an address in the stack, as a rule. NULL: nobody is. */
    void (*note)(void *context, uint64_t address, uint64_t value);
    void *context;
    uint64_t used;  /* the sample's own registers that decided, as in sample.register_mask, but SP and IP */
    unsigned steps; /* that were taken in this walk, which are bounded */
};

/* The next frame, whose PC is at `place` (of a return address, that), by the rules of all registers: its CFA, and its return
 * address. */
enum frame_end registers_frame(struct registers *registers, const struct place *place, bool exact,
                               uint64_t *cfa, uint64_t *return_address);

#endif
