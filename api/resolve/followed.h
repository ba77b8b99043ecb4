/* followed.h - the current mappings and stacks of a running process, to resolve points of it. */
#ifndef FATHOM_API_RESOLVE_FOLLOWED_H
#define FATHOM_API_RESOLVE_FOLLOWED_H

#include <sys/types.h>

#include "process/process.h"

struct followed;

/* Reads the mappings, which replace those of this process in `processes`. Errors: -ESRCH; system errors; -ENOMEM. */
int followed_new(pid_t pid, struct processes *processes, struct followed **out, struct fathom_error *err);
void followed_free(struct followed *followed); /* NULL is allowed */
pid_t followed_pid(const struct followed *followed);
/* Reads the mappings again, and forgets the stacks. */
int followed_read(struct followed *followed, struct fathom_error *err);
/* Adds the stack that sp is on, with code at pc, as a shared one if its base is found: 1, else 0. -ENOMEM. */
int followed_find_stack(struct followed *followed, uint64_t pc, uint64_t sp, struct fathom_error *err);

#endif
