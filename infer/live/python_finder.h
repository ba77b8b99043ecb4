/*
 * python_finder.h - finds processes that have CPython, while they are recorded: by the names of the files that they map, and by the code
 * on their stacks.
 */
#ifndef FATHOM_INFER_LIVE_PYTHON_FINDER_H
#define FATHOM_INFER_LIVE_PYTHON_FINDER_H

#include "image/python.h"
#include "perfdata/record.h"
#include "process/unwind.h"

struct python_finder;

/* tell: as in stack_learner.h. NULL: out of memory. */
struct python_finder *python_finder_new(void (*tell)(void *context, uint32_t pid, const struct python *python,
                                                     uint64_t runtime),
                                        void *context);
void python_finder_free(struct python_finder *finder); /* NULL is allowed */
/* A record, before it is applied to the processes. What it maps is looked at with the next one. */
void python_finder_take(struct python_finder *finder, struct processes *processes,
                        const struct record *record);
/* The frames of a stack of this process. 0 or -ENOMEM. */
int python_finder_see(struct python_finder *finder, const struct process *process,
                      const struct unwind_frame *frames, size_t count);

#endif
