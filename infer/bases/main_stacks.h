/*
 * main_stacks.h - which processes run on copies of one main thread's stack (internal to infer/).
 *
 * An exec begins a new stack. A child forked by the main thread continues on a copy of it, at the same addresses, so that all
 * have the same base.
 */
#ifndef FATHOM_INFER_BASES_MAIN_STACKS_H
#define FATHOM_INFER_BASES_MAIN_STACKS_H

#include "perfdata/record.h"

struct main_stacks;

struct main_stacks *main_stacks_new(void); /* NULL: out of memory */
void main_stacks_free(struct main_stacks *stacks);
/* Applies a record, in time order. Passes over the same records give the same numbers. 0 or -ENOMEM. */
int main_stacks_apply(struct main_stacks *stacks, const struct record *record);
/* The number (from 1) of the main-thread stack that this thread runs on; 0 if it is not the first thread of its process, or the
 * process was forked by a thread that is not. */
uint32_t main_stacks_of(const struct main_stacks *stacks, uint32_t pid, uint32_t tid);

#endif
