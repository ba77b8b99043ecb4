/*
 * script_poll.h - polls, in a thread of its own, what interpreters run in the threads of processes, and makes
 * script records of it (perfdata/script_record.h): used if no BPF program reads it at each sample. Its
 * records are from another moment than a sample, and are marked so (SCRIPT_POLLED).
 */
#ifndef FATHOM_COLLECTOR_SCRIPTS_SCRIPT_POLL_H
#define FATHOM_COLLECTOR_SCRIPTS_SCRIPT_POLL_H

#include "base/log.h"
#include "collector/rings/batch.h"
#include "image/script.h"

struct script_poll;

/* id: of the event of its records. log: borrowed. Errors: -ENOMEM. */
int script_poll_new(uint64_t id, const struct log *log, struct script_poll **out, struct fathom_error *err);
void script_poll_free(struct script_poll *poll); /* NULL is allowed */
/* poll: the struct script_poll, as it is called for infer/live/script_finder.h.
 * Sets the interpreter of a process, with the address of its state; script NULL: it has none any more. Any
 * thread may call it. Only Python is read: the first such process starts the thread. */
void script_poll_process(void *poll, uint32_t pid, const struct script_runtime *script, uint64_t state);
/* Call when a process was forked: it has its parent's interpreter. */
void script_poll_fork(struct script_poll *poll, uint32_t parent, uint32_t child);
/* Adds the records that were made since the last call. */
int script_poll_pass(struct script_poll *poll, struct batch *batch, struct fathom_error *err);

#endif
