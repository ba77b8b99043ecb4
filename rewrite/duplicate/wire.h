/*
 * wire.h - what duplicated code and the runtime in its process share: a block of memory for each thread, which GS points to (Linux
 * leaves GS to programs: arch_prctl(2)), and the way into the runtime. Threads inherit the block of the one that made them
 * until they are given their own.
 *
 * The check (Hirzel and Chilimbi, Bursty Tracing, FDDO-4 2001, figure 3), but with a counter of checks for each of 256 groups of
 * places: one that all count in makes each check wait for the one before, 5 cycles at most. A place's counter is counted down; at 0
 * burst_left is, too. If that is above 0 then, a burst goes on, in which all counters are 1. At 0 it ends, and below 0 one begins:
 * the code calls *change, with its stack pointer lowered by a red zone. That keeps all registers, sets ZF if the checking version is to
 * go on, and has set the numbers: no counter is 0, but that the instrumented version sets the place's own to 1 itself.
 */
#ifndef FATHOM_REWRITE_DUPLICATE_WIRE_H
#define FATHOM_REWRITE_DUPLICATE_WIRE_H

#define WIRE_BURST_LEFT 4  /* int32_t */
#define WIRE_CHANGE     8  /* void (*)(void) */
#define WIRE_LOGGED     16 /* uint32_t: bytes logged in this burst, modulo 2^32 */
#define WIRE_SELF       24 /* the block's address */

#define WIRE_CHECKS_LEFT 1024 /* int32_t for each group */
#define WIRE_GROUPS      256

/* The log, where record n of a burst, from 0 on, is at WIRE_LOG + (WIRE_RECORD * n) % WIRE_LOG_BYTES. The last one stands before the
 * first. */
#define WIRE_RECORD                                                                                          \
    16 /* uint64_t: what it refers to, or 0; uint64_t: address of the instruction, in the instrumented version */
#define WIRE_LOG_BYTES 65536 /* as what code counts in 16 bits */
#define WIRE_LOG       4096

#define WIRE_BLOCK (WIRE_LOG + WIRE_LOG_BYTES) /* bytes of memory for a thread */

#endif
