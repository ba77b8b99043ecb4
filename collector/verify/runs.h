/*
 * runs.h - where the words of a stack repeat, as those of a recursion do: the same words again and again, each time further out by
 * the same number of bytes.
 */
#ifndef FATHOM_COLLECTOR_VERIFY_RUNS_H
#define FATHOM_COLLECTOR_VERIFY_RUNS_H

#include "perfdata/known_stack.h"

struct word_run {
    size_t words;    /* of one period, at most RULE_WORDS; 0: nothing repeats */
    uint64_t period; /* bytes */
    size_t times;    /* that they stand there, one behind the other */
};

/* The run that begins at words[from], of those before words[end], with the shortest period; shorter ones than two blocks (rule.h)
 * are none. exactly: the words are the same; else, any that may stand there are. */
struct word_run run_at(const struct known_stack *stack, size_t from, size_t end, bool exactly);
/* The same with so many periods taken for one; those that are left over are not part of it. */
struct word_run run_by(struct word_run run, size_t periods);

#endif
