/* dumped.h - the mappings and stacks of a process that left a core, for points of it. */
#ifndef FATHOM_API_RESOLVE_DUMPED_H
#define FATHOM_API_RESOLVE_DUMPED_H

#include "process/core_dump.h"
#include "process/process.h"

struct dumped;

/* Gives `processes` the mappings and the first stack, under this number. log: borrowed. Errors of core_dump_open(), -ENOMEM. */
int dumped_new(const char *core, uint32_t pid, struct processes *processes, const struct log *log,
               struct dumped **out, struct fathom_error *err);
void dumped_free(struct dumped *dumped); /* NULL is allowed */
const struct core_dump *dumped_core(const struct dumped *dumped);
/* Makes the stack that sp is on known as a shared one, if it is a thread's: 1, else 0. -ENOMEM. */
int dumped_find_stack(const struct dumped *dumped, uint64_t sp, struct fathom_error *err);

#endif
