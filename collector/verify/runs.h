/*
 * runs.h - finds words of a stack that repeat, as in a recursion: a sequence of words that recurs at a fixed
 * distance in bytes.
 */
#ifndef FATHOM_COLLECTOR_VERIFY_RUNS_H
#define FATHOM_COLLECTOR_VERIFY_RUNS_H

#include "perfdata/known_stack.h"

struct word_run {
    size_t words;    /* in one period, at most RULE_WORDS; 0: nothing repeats */
    uint64_t period; /* bytes */
    size_t times;    /* number of consecutive periods */
};

/* The run that begins at words[from] and ends before words[end], with the shortest period. Runs shorter than
 * two blocks (rule.h) do not count. exactly: the words must be equal; else they must only allow the same
 * values. */
struct word_run run_at(const struct known_stack *stack, size_t from, size_t end, bool exactly);
/* The same run with `periods` periods combined into one; a remainder is cut off. */
struct word_run run_by(struct word_run run, size_t periods);

#endif
