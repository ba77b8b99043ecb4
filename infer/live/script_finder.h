/*
 * script_finder.h - finds processes with an interpreter whose functions can be read, during a recording: by the names of the
 * files that they map, and by the code on their stacks.
 */
#ifndef FATHOM_INFER_LIVE_SCRIPT_FINDER_H
#define FATHOM_INFER_LIVE_SCRIPT_FINDER_H

#include "image/script.h"
#include "perfdata/known_stack.h"
#include "perfdata/record.h"
#include "process/unwind.h"

struct script_finder;

struct script_finder_input { /* as in stack_learner.h */
    void (*report)(void *context, uint32_t pid, const struct script_runtime *script, uint64_t state);
    void (*report_file)(void *context, uint32_t number, const struct script_runtime *script, uint64_t state);
    void *context;
};

struct script_finder *script_finder_new(const struct script_finder_input *input); /* NULL: out of memory */
void script_finder_free(struct script_finder *finder);                            /* NULL is allowed */
/* Takes a record before it is applied to the processes. A mapping is looked at with the next record. */
void script_finder_take(struct script_finder *finder, struct processes *processes,
                        const struct record *record);
/* Takes the frames of a stack of this process, and the places of the files of its code that have numbers. 0 or -ENOMEM. */
int script_finder_see(struct script_finder *finder, const struct process *process,
                      const struct unwind_frame *frames, size_t count, const struct stack_place *places,
                      size_t place_count);

#endif
