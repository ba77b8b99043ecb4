/*
 * wire.h - the interface of duplicated code and the runtime in its process: a block of memory per thread, to
 * which GS points (Linux leaves GS to programs: arch_prctl(2)), and the entry of the runtime. A thread inherits
 * the block of its creator until it is given its own.
 *
 * The check (Hirzel and Chilimbi, Bursty Tracing, FDDO-4 2001, figure 3) has a counter for each of 256 groups of
 * places: with a single counter each check would wait for the one before, up to 5 cycles. A check decrements its
 * place's counter; at 0, it also decrements burst_left. If that is above 0 then, a burst goes on, during which
 * all counters are 1. At 0 the burst ends, below 0 one begins: the code calls *change, with its stack pointer
 * lowered by a red zone. *change preserves all registers, sets ZF if the checking version is to continue, and has
 * set the counters: none is 0, except that the instrumented version sets its place's own to 1 itself.
 */
#ifndef FATHOM_REWRITE_DUPLICATE_WIRE_H
#define FATHOM_REWRITE_DUPLICATE_WIRE_H

#define WIRE_BURST_LEFT 4  /* int32_t */
#define WIRE_CHANGE     8  /* void (*)(void) */
#define WIRE_LOGGED     16 /* uint32_t: bytes logged in this burst, modulo 2^32 */
#define WIRE_SELF       24 /* the block's address */

#define WIRE_CHECKS_LEFT 1024 /* int32_t for each group */
#define WIRE_GROUPS      256

/* The log: record n of a burst, from 0, is at WIRE_LOG + (WIRE_RECORD * n) % WIRE_LOG_BYTES. The last one is
 * before the first. */
#define WIRE_RECORD    16 /* uint64_t: address referred to, or 0; uint64_t: PC in the instrumented version */
#define WIRE_LOG_BYTES 65536 /* code counts in 16 bits */
#define WIRE_LOG       4096

#define WIRE_BLOCK (WIRE_LOG + WIRE_LOG_BYTES) /* bytes of memory per thread */

#endif
