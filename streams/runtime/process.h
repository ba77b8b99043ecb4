/*
 * process.h - the file of a process (streams/process_wire.h), its number, and the lock that orders its records.
 *
 * A thread takes the lock for a few instructions, but can be interrupted by a signal handler meanwhile, which gets no lock. So can
 * nobody once a thread has left it locked, by longjmp() from such a handler: that is found out by waiting, and nothing more is written.
 */
#ifndef FATHOM_STREAMS_RUNTIME_PROCESS_H
#define FATHOM_STREAMS_RUNTIME_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/* false: without memory there is never a lock. */
bool process_begin(void);
/* In the child of fork(), if the kernel could not be asked to tell; and in the parent. */
void process_child(void);
void process_parent(void);
/* The file is whole: no lock is given any more. */
void process_end(void);

bool process_lock(void);
void process_unlock(void);

/* The number of the file, which is made if there is none yet; STREAM_NO_PROCESS: it cannot be made. A trace will name it. */
uint32_t process_number(void);
/* Where its next record will be. */
uint64_t process_position(void);

/* With the lock. Whether the record was written. */
bool process_context(uint32_t id, const uint64_t *pcs, uint32_t depth, bool cut);
/* These stop at the bound of the heap's records. */
void process_allocated(uint64_t address, uint64_t size, uint32_t context);
void process_freed(uint64_t address);
/* Whether these two do something yet. */
extern bool process_logs_heap;

/* Copies what is mapped, if there is a file. */
void process_maps(void);
/* maps.c, with the lock: copies /proc/self/maps to DIR/PID-N.maps, whose last copy is replaced. */
void maps_copy(uint32_t pid, uint32_t number);

#endif
