/*
 * stack_keeper.h - the kept stacks of the programs that are recorded: those of earlier recordings become known when a stack of their
 * program is learned first, and what is learned is kept for later ones.
 *
 * A kept stack has a number, as a stack record has, of those from STACK_NUMBER_KEPT on. The recorder's program announces it where
 * it fits; the first record that does so becomes that of a new stack, with its frames, which are here (stack_keeper_walk()).
 */
#ifndef FATHOM_INFER_LIVE_STACK_KEEPER_H
#define FATHOM_INFER_LIVE_STACK_KEEPER_H

#include "base/log.h"
#include "infer/live/kept_stacks.h"

struct stack_keeper;

struct stack_keeper *stack_keeper_new(void); /* NULL: out of memory */
void stack_keeper_free(struct stack_keeper *keeper);
/* A stack of the process became known, as for kept_stacks_add(). *index: of its callee's stack; then its own. 0 or -ENOMEM. */
int stack_keeper_add(struct stack_keeper *keeper, const struct process *process,
                     const struct file_numbers *numbers, const struct known_stack *known,
                     const struct unwind_frame *frames, size_t count, size_t *index);
/* Calls know() for each stack that is kept of the process's program, unless that was done. 0; -ENOMEM; or a negative result of know(). */
int stack_keeper_begin(struct stack_keeper *keeper, const struct process *process,
                       struct file_numbers *numbers,
                       int (*know)(void *context, const struct known_stack *stack, struct fathom_error *err),
                       void *context, struct fathom_error *err);
/* The number of the file whose code is at an address of the process, and whose offset 0 would lie at another, if that can be told without
 * opening it, by what is kept of its program; else 0. */
uint32_t stack_keeper_number(struct stack_keeper *keeper, const struct process *process, uint64_t ip,
                             uint64_t at);
/* The frames of a sample whose stack is announced as a kept one with the places of its files: `frames` has UNWIND_MAX_FRAMES. Sets
 * sample->stack_number to the number that the sample's record is to have: the stack's, or another that no stack is announced by, if the
 * sample's innermost function need not be that stack's. 0: it cannot be told to be a stack of this process. */
size_t stack_keeper_walk(struct stack_keeper *keeper, const struct process *process, struct sample *sample,
                         struct unwind_frame *frames);
/* Keeps all for later recordings; what cannot be is told to the log. notes: how many stacks are kept; NULL: nobody wants to know. */
void stack_keeper_save(const struct stack_keeper *keeper, const struct log *log, const struct log *notes);

#endif
