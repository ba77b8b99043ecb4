/*
 * code_places.h - where the code of unwound stacks was mapped. The BPF program that compares stacks with known ones may not
 * have been told yet that a process has other code now: its result is valid only if the process has the same files in the same
 * places.
 */
#ifndef FATHOM_INFER_SAMPLES_CODE_PLACES_H
#define FATHOM_INFER_SAMPLES_CODE_PLACES_H

#include "perfdata/announced.h"
#include "process/unwind.h"

struct code_places;

#define CODE_PLACES_NONE UINT32_MAX

struct code_places *code_places_new(void); /* NULL: out of memory */
void code_places_free(struct code_places *places);
/* Stores where a stack's code is in the process now. height: of the first frame. Returns its number, which stacks with the same
 * code may share; CODE_PLACES_NONE: out of memory. */
uint32_t code_places_add(struct code_places *places, const struct process *process,
                         const struct unwind_frame *frames, size_t count, uint64_t height);
/* Whether the process has this stack's code now. placed: NULL: in the same places; else in these, considering only frames whose
 * height is less than their depth. Fast while its mappings stay the same. */
bool code_places_hold(struct code_places *places, uint32_t stack, const struct process *process,
                      const struct stack_places *placed);

#endif
