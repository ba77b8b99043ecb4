/*
 * outside.h - whether all other threads of the process are outside of the bytes that hooks replace.
 */
#ifndef FATHOM_PATHMAP_PROBE_OUTSIDE_H
#define FATHOM_PATHMAP_PROBE_OUTSIDE_H

#include <stdbool.h>
#include <stdint.h>

/* Whether each thread was outside once; whoever is, must be unable to get inside from now on. inside: whether an address
 * is. false: some thread stays inside, or does not tell. For one thread at a time, with all signals blocked. */
bool outside_all(bool (*inside)(uint64_t pc));

/* Around an execution of another program, which a pending question would end: between the two no thread is asked, and what the
 * calling one was asked has been answered. Both do nothing in a child that shares this process's memory (vfork). */
void outside_hold(void);
void outside_release(void); /* the execution failed */
void outside_fork_child(void);

#endif
