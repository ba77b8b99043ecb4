/*
 * stack_learner.h - learns stacks while they are recorded: in a thread of its own, unwinds the stacks that the BPF program
 * found to be new, and reports what makes each of them known.
 */
#ifndef FATHOM_INFER_LIVE_STACK_LEARNER_H
#define FATHOM_INFER_LIVE_STACK_LEARNER_H

#include "base/log.h"
#include "image/go_stacks.h"
#include "image/script.h"
#include "perfdata/code_rows.h"
#include "perfdata/known_stack.h"
#include "perfdata/record.h"
#include "infer/live/stack_keeper.h"
#include "perfdata/stack_record.h"
#include "process/unwind.h"

/* Bytes of records that may wait while the thread is busy; beyond that, stacks are dropped. As much again is being handled. */
#define STACK_LEARNER_QUEUE (32u << 20)

struct stack_learner;

/* All borrowed. The functions are called by the learner's thread. */
struct stack_learner_input {
    const struct event *events;
    size_t count;
    /* A stack was unwound to its root, or to where the same words would end any walk. A negative result ends learning. */
    int (*know)(void *context, const struct known_stack *stack, struct fathom_error *err);
    /* The threads of this space have their stacks there; bias: added to the addresses of its code. Returns whether Go's second
     * stacks are copied from now on. */
    bool (*stacks_are)(void *context, uint32_t space, const struct go_stacks *go, uint64_t bias);
    /* The process has this interpreter, with its state at `state`; script NULL: none any more. May be NULL. */
    void (*script)(void *context, uint32_t pid, const struct script_runtime *script, uint64_t state);
    /* The same for each process with the file of this number; state: relative to the address of its offset 0. Not NULL if
     * `script` is not. */
    void (*script_file)(void *context, uint32_t number, const struct script_runtime *script, uint64_t state);
    /* The sample's stack has these frames, and its record has to get this number. May be NULL. */
    void (*walked)(void *walks, const struct sample *sample, uint32_t number,
                   const struct unwind_frame *frames, size_t count, enum unwind_end end);
    /* The code of this file has this number in the places of known stacks. NULL: stacks are known by space only. */
    void (*number)(void *context, const struct stack_file *file, uint32_t number);
    /* Rules for finding return addresses in code of numbered files (row_sender.h). May be NULL. */
    bool (*rows)(void *context, const struct code_rows_key *key, const struct code_rows *rows);
    /* Stores stacks from one recording to the next; NULL: they are not stored. */
    struct stack_keeper *keeper;
    /* Whether no record with the frames of this kept stack was found yet, so that walked() has to report them. */
    bool (*wants)(void *walks, uint32_t number);
    /* From now on the process has the stacks known in this space; 0: none. */
    void (*place)(void *context, uint32_t pid, uint32_t space);
    /* No process is in this space any more. */
    void (*forget)(void *context, uint32_t space);
    void *context; /* of all but the next */
    void *walks;   /* of walked() and wants() */
};

/* Starts the thread. */
int stack_learner_start(const struct stack_learner_input *input, struct stack_learner **out,
                        struct fathom_error *err);
/* Whole raw records, as the collector passes them on; what is needed is copied. */
int stack_learner_add(struct stack_learner *learner, const void *records, size_t size,
                      struct fathom_error *err);
/* The number of stack_learner_add() calls whose records were all handled. */
uint64_t stack_learner_looked(struct stack_learner *learner);
/* Without a thread: takes a record, before it is applied to the processes. */
int stack_learner_new(const struct stack_learner_input *input, struct stack_learner **out,
                      struct fathom_error *err);
int stack_learner_take(struct stack_learner *learner, struct processes *processes,
                       const struct record *record, struct fathom_error *err);
/* Ends the thread, if there is one: no stack of the records left is walked, but the frames of kept stacks are still reported.
 * learner NULL is allowed. images: as for feed_stop(). */
void stack_learner_stop(struct stack_learner *learner, struct image_cache **images);

#endif
