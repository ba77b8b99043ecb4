/*
 * script_queue.h - makes script records of threads' chains that are new, and queues them until they are
 * passed on.
 */
#ifndef FATHOM_COLLECTOR_SCRIPTS_SCRIPT_QUEUE_H
#define FATHOM_COLLECTOR_SCRIPTS_SCRIPT_QUEUE_H

#include "collector/rings/batch.h"
#include "collector/scripts/python_reader.h"

struct script_queue;

struct script_queue *script_queue_new(uint64_t id); /* of the records' event. NULL: out of memory */
void script_queue_free(struct script_queue *queue); /* NULL is allowed */
/* Adds what a thread runs at this time (the kernel's clock, ns). Unknown code is read from the process. A
 * chain that contains something other than code, as it changed while it was read, is dropped. Call from one
 * thread only. */
void script_queue_add(struct script_queue *queue, const struct python_process *process, uint32_t tid,
                      uint64_t time, const struct python_chain *chain);
/* Notes that this process's memory may not be read. */
void script_queue_refused(struct script_queue *queue, pid_t pid);
/* Any thread may call this and the next one. Returns such a process, once; 0: none. */
pid_t script_queue_take_refused(struct script_queue *queue);
int script_queue_pass(struct script_queue *queue, struct batch *batch, struct fathom_error *err);

#endif
