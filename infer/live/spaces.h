/*
 * spaces.h - which processes share known stacks: those with the same code at the same addresses, as the children of one process
 * have while they load nothing. Each such set is a space.
 *
 * A process stays in its space while it maps more code, as known stacks stay valid, and moves to another when one of its stacks
 * is about to become known.
 */
#ifndef FATHOM_INFER_LIVE_SPACES_H
#define FATHOM_INFER_LIVE_SPACES_H

#include "process/process.h"

struct spaces;

/* All borrowed. */
struct spaces_input {
    /* From now on the process has the stacks known in this space; 0: none. */
    void (*place)(void *context, uint32_t pid, uint32_t space);
    /* No process is in this space any more; its number is not reused. */
    void (*end)(void *context, uint32_t space);
    void *context;
};

/* NULL: out of memory. */
struct spaces *spaces_new(const struct spaces_input *input);
void spaces_free(struct spaces *spaces);
/* The number of the space of the process's present code. 0: out of memory. */
uint32_t spaces_of(struct spaces *spaces, const struct process *process);
/* A child was forked. false: out of memory. */
bool spaces_fork(struct spaces *spaces, const struct process *parent, uint32_t child);
/* The process ended, or has other code in place of some that it had. */
void spaces_leave(struct spaces *spaces, uint32_t pid);

#endif
