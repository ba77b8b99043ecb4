/*
 * jitdump.h - reads a jitdump file (jit-PID.dump), in which a runtime writes what code it makes and moves, for perf inject
 * (tools/perf/Documentation/jitdump-specification.txt).
 *
 * Its times are of another clock than a recording's (CLOCK_MONOTONIC; perf_event_open(2) without a clockid takes the kernel's own), so the order
 * of the records is taken alone. Lines (JIT_CODE_DEBUG_INFO) and unwind tables (JIT_CODE_UNWINDING_INFO) are passed over.
 */
#ifndef FATHOM_IMAGE_MADE_JITDUMP_H
#define FATHOM_IMAGE_MADE_JITDUMP_H

#include "image/made/code_namer.h"

/* Adds what the file says, to what was begun in the namer. What is not a jitdump of x86-64 says nothing; a record that is damaged, or being
 * written, ends it. Returns as code_namer_add(). */
int jitdump_read(struct code_namer *namer, const uint8_t *data, size_t size);

#endif
