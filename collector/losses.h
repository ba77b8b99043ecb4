/*
 * losses.h - counts what the kernel could not write into the rings, each loss once.
 *
 * Records about stacks that did not fit are lost like others, but stand for no samples: those that were left out for
 * them are counted by the BPF program.
 */
#ifndef FATHOM_COLLECTOR_LOSSES_H
#define FATHOM_COLLECTOR_LOSSES_H

#include "collector/rings/counters.h"
#include "collector/verify/verify.h"

/* Zeroed at first. */
struct losses {
    uint64_t told;   /* as LOST records tell them, without those about stacks */
    uint64_t stacks; /* those about stacks in the same records */
};

/* Takes the count of a LOST record; returns it without records about stacks. verify: NULL if there are none. */
uint64_t losses_take(struct losses *losses, const struct verify *verify, uint64_t lost);
/* After the last round: the losses that no LOST record told, such as those of a ring that was full at the end. They
 * count as told from now on. */
uint64_t losses_untold(struct losses *losses, const struct counters *counters, const struct verify *verify);

#endif
