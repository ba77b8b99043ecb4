/*
 * jitdump.h - reads a jitdump file (jit-PID.dump), in which a runtime records the code that it generates and
 * moves, with its lines and unwind rows, for perf inject (tools/perf/Documentation/jitdump-specification.txt).
 *
 * Its times are those of CLOCK_MONOTONIC, which recordings of `perf record -k 1` use. Our recordings use the
 * kernel's own clock, the default (perf_event_open(2)): times are converted by two moments at which both clocks
 * were read. Times of the processor's counter (JITDUMP_FLAGS_ARCH_TIMESTAMP) are taken as unknown.
 */
#ifndef FATHOM_IMAGE_MADE_JITDUMP_H
#define FATHOM_IMAGE_MADE_JITDUMP_H

#include "image/made/code_namer.h"

/* Two moments, ns. If they are equal, the clocks are taken to have the same rate. */
struct jitdump_clock {
    uint64_t monotonic[2], recording[2];
};

/* Adds the file's names to those begun in the namer. clock: NULL: times are unknown. A file that is no jitdump of
 * x86-64 has none; reading stops at a record that is damaged or still being written. Returns as code_namer_add(). */
int jitdump_read(struct code_namer *namer, const uint8_t *data, size_t size,
                 const struct jitdump_clock *clock);

#endif
