/*
 * stack_bases.h - the stack bases of a recording that its own records do not tell: what unwound stacks and
 * votes told of them, kept from pass to pass (internal to infer/).
 *
 * A thread without a stack of its own on record gets one from an unwound stack, by bases.h, or by what the
 * binaries' code tells of main threads (code_votes.h). What a thread runs on outside of its own stack is a
 * shared one (shared_stacks.h), known by unwound stacks or by shared_votes.h.
 */
#ifndef FATHOM_INFER_BASES_STACK_BASES_H
#define FATHOM_INFER_BASES_STACK_BASES_H

#include "infer/bases/code_heights.h"
#include "infer/contexts/resolver.h"

struct stack_bases;

struct stack_bases *stack_bases_new(void); /* NULL: out of memory */
void stack_bases_free(struct stack_bases *bases);
/* The sample's dump was unwound: what the process knows of its stack by now is kept. `before` is what it knew
 * of it before. 0 or negative. */
int stack_bases_learn(struct stack_bases *bases, const struct process *process, const struct sample *sample,
                      enum stack_kind before, struct fathom_error *err);
/* A pass begins: what is said of threads is theirs as they are before the first record. 0 or negative. */
int stack_bases_begin(struct stack_bases *bases, struct fathom_error *err);
/* Each record of a pass, before anything else is asked about it. 0 or negative. */
int stack_bases_record(struct stack_bases *bases, const struct record *record, struct fathom_error *err);
/* The pass that votes: begin, a call for each sample with registers, settle. The resolver's map is what votes
 * are by. *voted: stacks that were found by it. 0 or negative. */
int stack_bases_ballot(struct stack_bases *bases, struct resolver *resolver, struct image_cache *images,
                       struct fathom_error *err);
int stack_bases_vote(struct stack_bases *bases, const struct process *process, const struct sample *sample,
                     struct fathom_error *err);
int stack_bases_settle(struct stack_bases *bases, uint64_t *voted, struct fathom_error *err);
/* Whether main threads are left without a base. Then: the function (of the trie that the heights are of) that
 * a sample is in. */
bool stack_bases_want_code(const struct stack_bases *bases);
int stack_bases_code_vote(struct stack_bases *bases, const struct sample *sample, uint32_t function,
                          uint64_t cfa, struct fathom_error *err);
/* Counts these, and adds to *voted. 0 or negative. */
int stack_bases_code_settle(struct stack_bases *bases, struct code_heights *heights, uint64_t *voted,
                            struct fathom_error *err);
/* Makes the stack that the sample is on known to its process, as far as it is. 0 or negative. */
int stack_bases_apply(struct stack_bases *bases, struct process *process, const struct sample *sample,
                      struct fathom_error *err);

#endif
