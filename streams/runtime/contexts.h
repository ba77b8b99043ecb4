/*
 * contexts.h - numbers call paths, cheaply if they are known: a path is found by its return address and the
 * height of the stack; then each of its return addresses is compared with the stack's contents, as another path
 * may have the same height. Heights and places are relative to the stack's base, so all threads share them.
 */
#ifndef FATHOM_STREAMS_RUNTIME_CONTEXTS_H
#define FATHOM_STREAMS_RUNTIME_CONTEXTS_H

#include <stdbool.h>
#include <stdint.h>

void contexts_begin(void);
/* Sets where the program's frames on the calling thread's stack end: at `base`. */
void contexts_thread(void *base);
/* The id of the path that leads to return address `pc`, to which control returns with the stack pointer at `sp`;
 * 0: unknown. On a stack other than the thread's own, the path is `pc` alone. vectors: preserve vector registers. */
uint32_t contexts_of(uint64_t pc, uint64_t sp, bool vectors);

#endif
