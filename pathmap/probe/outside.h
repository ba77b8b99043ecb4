/*
 * outside.h - determines whether all other threads of the process are outside of the bytes that hooks replace.
 */
#ifndef FATHOM_PATHMAP_PROBE_OUTSIDE_H
#define FATHOM_PATHMAP_PROBE_OUTSIDE_H

#include <stdbool.h>
#include <stdint.h>

/* Whether each thread was outside at least once; threads outside must be unable to get inside from now on.
 * inside: whether an address is inside. false: a thread stays inside, or its position is unknown. Only one thread
 * may call this at a time, with all signals blocked. */
bool outside_all(bool (*inside)(uint64_t pc));

/* Encloses the execution of another program, which a pending question would kill: between the two no thread is
 * asked, and the calling thread has answered all questions. Both do nothing in a child that shares this process's
 * memory (vfork). */
void outside_hold(void);
void outside_release(void); /* call it if the execution failed */
void outside_fork_child(void);

#endif
