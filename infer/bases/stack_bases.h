/*
 * stack_bases.h - the stack bases of a recording that are not in its records, but were found by unwinding or voting; they last
 * from pass to pass (internal to infer/).
 *
 * A thread without a recorded stack of its own gets one from an unwound stack, by voting (map_votes.h), or for main threads
 * from the binaries' code (code_votes.h). Any other stack that a thread runs on is a shared one (shared_stacks.h), found by
 * unwinding or by shared_votes.h.
 */
#ifndef FATHOM_INFER_BASES_STACK_BASES_H
#define FATHOM_INFER_BASES_STACK_BASES_H

#include "infer/bases/code_heights.h"
#include "infer/contexts/resolver.h"

struct stack_bases;

struct stack_bases *stack_bases_new(void); /* NULL: out of memory */
void stack_bases_free(struct stack_bases *bases);
/* Stores what the process knows about its stack after the sample's dump was unwound; `before` is what it knew before. 0 or
 * negative. */
int stack_bases_learn(struct stack_bases *bases, const struct process *process, const struct sample *sample,
                      enum stack_kind before, struct fathom_error *err);
/* Begins a pass: threads are as before the first record again. 0 or negative. */
int stack_bases_begin(struct stack_bases *bases, struct fathom_error *err);
/* Call for each record of a pass, before anything else. 0 or negative. */
int stack_bases_record(struct stack_bases *bases, const struct record *record, struct fathom_error *err);
/* The voting pass: begin, a call for each sample with registers, settle. Votes are by the resolver's map. proved: the sample's
 * path needs no base. *voted: number of stacks found. 0 or negative. */
int stack_bases_ballot(struct stack_bases *bases, struct resolver *resolver, struct image_cache *images,
                       struct fathom_error *err);
int stack_bases_vote(struct stack_bases *bases, const struct process *process, const struct sample *sample,
                     const struct leaf_frame *frame, bool proved, struct fathom_error *err);
int stack_bases_settle(struct stack_bases *bases, uint64_t *voted, struct fathom_error *err);
/* Whether main threads with enough samples are still without a base. If so, each sample then votes by its function (of the trie
 * that the heights refer to). */
bool stack_bases_want_code(const struct stack_bases *bases);
int stack_bases_code_vote(struct stack_bases *bases, const struct sample *sample, uint32_t function,
                          uint64_t cfa, struct fathom_error *err);
/* Counts these votes, and adds the number of stacks found to *voted. 0 or negative. */
int stack_bases_code_settle(struct stack_bases *bases, struct code_heights *heights, uint64_t *voted,
                            struct fathom_error *err);
/* Sets the process's stack that the sample is on, if known. 0 or negative. */
int stack_bases_apply(struct stack_bases *bases, struct process *process, const struct sample *sample,
                      struct fathom_error *err);

#endif
