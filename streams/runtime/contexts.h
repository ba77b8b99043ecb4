/*
 * contexts.h - numbers call paths, cheaply where they are known: one that was seen before is found by its return address and the
 * height of the stack, and then each return address of it is compared with what stands at its place on the stack, as a path may
 * have the height of another one. Heights and places are relative to the stack's base, so that all threads share them.
 */
#ifndef FATHOM_STREAMS_RUNTIME_CONTEXTS_H
#define FATHOM_STREAMS_RUNTIME_CONTEXTS_H

#include <stdbool.h>
#include <stdint.h>

void contexts_begin(void);
/* Of the calling thread's stack, what is from `base` on is none of the program's. */
void contexts_thread(void *base);
/* The id of the path by which control came to return address `pc`, which it returns to with the stack pointer at `sp`; 0: unknown. On
 * another stack than the thread's it is of `pc` alone. vectors: vector registers are kept. */
uint32_t contexts_of(uint64_t pc, uint64_t sp, bool vectors);

#endif
