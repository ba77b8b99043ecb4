/*
 * jitdump.h - reads a jitdump file (jit-PID.dump), in which a runtime writes what code it makes and moves, its lines and how it is unwound, for
 * perf inject (tools/perf/Documentation/jitdump-specification.txt).
 *
 * Its times are CLOCK_MONOTONIC's, as recordings of `perf record -k 1` have it. A recording of ours has the kernel's own clock, as any for which no other is
 * asked (perf_event_open(2)): from two moments at which both were read, times of one are times of the other. A file with times of the processor's
 * counter (JITDUMP_FLAGS_ARCH_TIMESTAMP) has none that are known.
 */
#ifndef FATHOM_IMAGE_MADE_JITDUMP_H
#define FATHOM_IMAGE_MADE_JITDUMP_H

#include "image/made/code_namer.h"

/* Two moments, ns. If they are the same, the clocks go at the same rate. */
struct jitdump_clock {
    uint64_t monotonic[2], recording[2];
};

/* Adds what the file says, to what was begun in the namer. clock: NULL: times are not known. What is not a jitdump of x86-64 says nothing; a record that is
 * damaged, or being written, ends it. Returns as code_namer_add(). */
int jitdump_read(struct code_namer *namer, const uint8_t *data, size_t size,
                 const struct jitdump_clock *clock);

#endif
