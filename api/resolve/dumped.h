/* dumped.h - the mappings and stacks of a process that left a core dump, to resolve points of it. */
#ifndef FATHOM_API_RESOLVE_DUMPED_H
#define FATHOM_API_RESOLVE_DUMPED_H

#include "process/core_dump.h"
#include "process/process.h"

/* Adds the mappings and the first stack to `processes`, under this PID. -ENOMEM. */
int dumped_read(const struct core_dump *core, uint32_t pid, struct processes *processes,
                const struct log *log, struct fathom_error *err);
/* Adds the stack that sp is on to the process, as a shared one, if it is a thread's: 1, else 0. process: may be NULL. -ENOMEM. */
int dumped_find_stack(const struct core_dump *core, struct process *process, uint64_t sp,
                      struct fathom_error *err);

#endif
