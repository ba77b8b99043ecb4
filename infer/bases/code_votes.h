/*
 * code_votes.h - finds the bases of main threads' stacks from what the binaries' code allows, if neither the recording nor a
 * map provides them: for recordings by stock perf without dumps (internal to infer/).
 *
 * A function that can only have certain heights (code_heights.h) and was sampled at some CFA fits the bases that are these
 * heights above the CFA. Such functions are main and those called only by it, and the functions with which the loader starts
 * each program. A base wins if it fits all of them, or all but a few, and no other does. Functions whose heights are open have
 * no vote, however often they were sampled: an interpreter's recursion fits hundreds of bases.
 */
#ifndef FATHOM_INFER_BASES_CODE_VOTES_H
#define FATHOM_INFER_BASES_CODE_VOTES_H

#include "infer/bases/code_heights.h"

#define CODE_VOTES_POSITIONS 65536u /* (function, CFA) pairs stored; later ones do not vote */

struct code_votes;

struct code_votes *code_votes_new(void); /* NULL: out of memory */
void code_votes_free(struct code_votes *votes);
/* Notes a sample in this function (of the trie) with this CFA, on the stack with this number (main_stacks.h). 0 or -ENOMEM. */
int code_votes_add(struct code_votes *votes, uint32_t stack, uint32_t function, uint64_t cfa);
/* Counts the votes. *won: how many stacks have a base now. 0 or -ENOMEM. */
int code_votes_settle(struct code_votes *votes, struct code_heights *heights, uint64_t *won);
/* After settling: whether the stack has a base. */
bool code_votes_base(const struct code_votes *votes, uint32_t stack, uint64_t *base);

#endif
