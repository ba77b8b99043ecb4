/* runs.c - see runs.h. */
#include "collector/verify/runs.h"

#include "collector/verify/rule.h"

/* Whether the second word is the first one again, so many bytes further out. */
static bool is_again(const struct stack_word *first, const struct stack_word *second, uint64_t period)
{
    return second->address - first->address == period && second->in_stack == first->in_stack &&
           second->size == first->size && second->low - first->low == (first->in_stack ? period : 0);
}

/* How many words from words[from] on are those that stand `words` before them again. */
static size_t again(const struct known_stack *stack, size_t from, size_t end, size_t words, uint64_t period)
{
    size_t count = 0;
    while (from + words + count < end &&
           is_again(&stack->words[from + count], &stack->words[from + words + count], period))
        count++;
    return count;
}

struct word_run run_at(const struct known_stack *stack, size_t from, size_t end)
{
    for (size_t words = 1; words <= RULE_WORDS && from + words < end; words++) {
        const uint64_t period = stack->words[from + words].address - stack->words[from].address;
        const size_t at_once = RULE_WORDS / words,
                     times = period < RULE_STACK_MAX ? 1 + again(stack, from, end, words, period) / words : 1;
        if (times >= 2 * at_once)
            return (struct word_run){words * at_once, at_once * period,
                                     times / at_once < RULE_TIMES_MAX ? times / at_once : RULE_TIMES_MAX};
    }
    return (struct word_run){0};
}
