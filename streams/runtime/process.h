/*
 * process.h - the file of a process (streams/process_wire.h), its number, and the lock that orders its records.
 *
 * A thread holds the lock for a few instructions, but a signal handler can interrupt it meanwhile, and does not
 * get the lock. If a thread leaves it locked, by longjmp() from such a handler, nothing else gets it either: that
 * is noticed by waiting, and nothing more is written.
 */
#ifndef FATHOM_STREAMS_RUNTIME_PROCESS_H
#define FATHOM_STREAMS_RUNTIME_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/* false: out of memory; the lock can never be taken. */
bool process_begin(void);
/* Call it in the child of fork(), in case the kernel cannot clear the page; and in the parent. */
void process_child(void);
void process_parent(void);
/* Completes the file: the lock cannot be taken any more. */
void process_end(void);

bool process_lock(void);
void process_unlock(void);

/* The number of the file, which is made if there is none; STREAM_NO_PROCESS: it cannot be made. A trace will
 * refer to it. */
uint32_t process_number(void);
/* Position of its next record. */
uint64_t process_position(void);

/* Requires the lock. Returns whether the record was written. */
bool process_context(uint32_t id, const uint64_t *pcs, uint32_t depth, bool cut);
/* These stop at the limit of heap records. */
void process_allocated(uint64_t address, uint64_t size, uint32_t context);
void process_freed(uint64_t address);
/* Whether these two still do anything. */
extern bool process_logs_heap;

/* Copies the mappings, if there is a file. */
void process_maps(void);
/* maps.c, requires the lock: copies /proc/self/maps to DIR/PID-N.maps, replacing the last copy. */
void maps_copy(uint32_t pid, uint32_t number);

#endif
