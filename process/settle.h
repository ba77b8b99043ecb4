/*
 * settle.h - the registers of a precise sample that belong together.
 *
 * With precise_ip 2 and 3 the kernel reports the address of the instruction that caused the event, from the PEBS record,
 * beside SP and BP as that record has them: those after it (arch/x86/events/intel/ds.c; Intel SDM volume 3, "Precise
 * Event Based Sampling": the record is written when the instruction retires). CFI rows hold before an instruction.
 */
#ifndef FATHOM_PROCESS_SETTLE_H
#define FATHOM_PROCESS_SETTLE_H

#include "process/process.h"

struct settled {
    uint64_t ip, sp, bp;
};

/* The sample's registers or, if SP and BP are late (struct sample): with the next instruction's address; for calls,
 * which are left at the callee's entry, and returns, with SP as it was before. As they are if the code is unknown. */
struct settled settled_of(const struct process *process, const struct sample *sample);

#endif
