/*
 * stack_keeper.h - the kept stacks of the programs being recorded: those of earlier recordings become known when the first
 * stack of their program is learned, and those learned now are stored for later recordings.
 *
 * A kept stack has a number, as in a stack record, from STACK_NUMBER_KEPT on. The BPF program announces it where it fits. The
 * first record that does so becomes that of a new stack, with the frames that are stored (stack_keeper_walk()).
 */
#ifndef FATHOM_INFER_LIVE_STACK_KEEPER_H
#define FATHOM_INFER_LIVE_STACK_KEEPER_H

#include "base/log.h"
#include "infer/live/kept_stacks.h"

struct stack_keeper;

struct stack_keeper *stack_keeper_new(void); /* NULL: out of memory */
void stack_keeper_free(struct stack_keeper *keeper);
/* Adds a stack of the process that became known, as for kept_stacks_add(). *index: its callee's stack on entry, its own on
 * return. 0 or -ENOMEM. */
int stack_keeper_add(struct stack_keeper *keeper, const struct process *process,
                     const struct file_numbers *numbers, const struct known_stack *known,
                     const struct unwind_frame *frames, size_t count, size_t *index);
/* Calls know() for each kept stack of the process's program, once per program. 0; -ENOMEM; or a negative result of know(). */
int stack_keeper_begin(struct stack_keeper *keeper, const struct process *process,
                       struct file_numbers *numbers,
                       int (*know)(void *context, const struct known_stack *stack, struct fathom_error *err),
                       void *context, struct fathom_error *err);
/* The number of the file that has code at `ip` of the process, and offset 0 at `at`, if the kept stacks of its program
 * identify it without opening it; else 0. */
uint32_t stack_keeper_number(struct stack_keeper *keeper, const struct process *process, uint64_t ip,
                             uint64_t at);
/* The frames of a sample whose stack is announced as a kept one, with the places of its files: `frames` has
 * UNWIND_MAX_FRAMES. Sets sample->stack_number to the number for the sample's record: the stack's, or one that is never
 * announced if the sample's innermost function may differ from that stack's. 0: the stack may not be this process's. */
size_t stack_keeper_walk(struct stack_keeper *keeper, const struct process *process, struct sample *sample,
                         struct unwind_frame *frames);
/* Writes all for later recordings; failures go to the log. notes: gets how many stacks were written; may be NULL. */
void stack_keeper_save(const struct stack_keeper *keeper, const struct log *log, const struct log *notes);

#endif
