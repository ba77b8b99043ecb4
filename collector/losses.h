/*
 * losses.h - counts what the kernel could not write into the rings, each loss once.
 *
 * A lost stack record does not stand for a lost sample: the BPF program counts the samples that it drops
 * because of one.
 */
#ifndef FATHOM_COLLECTOR_LOSSES_H
#define FATHOM_COLLECTOR_LOSSES_H

#include "collector/rings/counters.h"
#include "collector/verify/verify.h"

/* Zeroed at first. */
struct losses {
    uint64_t told;   /* from LOST records, without stack records */
    uint64_t stacks; /* stack records in the same LOST records */
};

/* Takes the count of a LOST record and returns it without stack records. verify: NULL if there are none. */
uint64_t losses_take(struct losses *losses, const struct verify *verify, uint64_t lost);
/* After the last round: the losses without a LOST record, for example those of a ring that was full at the
 * end. Each is returned once. */
uint64_t losses_untold(struct losses *losses, const struct counters *counters, const struct verify *verify);

#endif
