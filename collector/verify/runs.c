/* runs.c - see runs.h. */
#include "collector/verify/runs.h"

#include "collector/verify/rule.h"

/* Whether the second word repeats the first one, `period` bytes further out; exactly: with the same value. */
static bool is_again(const struct stack_word *first, const struct stack_word *second, uint64_t period,
                     bool exactly)
{
    const uint64_t grows = first->in_stack ? period : 0;
    return second->address - first->address == period && second->in_stack == first->in_stack &&
           (exactly ? second->value - first->value == grows
                    : second->size == first->size && second->low - first->low == grows);
}

/* How many words from words[from] on repeat those `words` before them. */
static size_t count_repeats(const struct known_stack *stack, size_t from, size_t end, size_t words,
                            bool exactly)
{
    const uint64_t period = stack->words[from + words].address - stack->words[from].address;
    size_t count = 0;
    while (from + words + count < end && period < RULE_STACK_MAX &&
           is_again(&stack->words[from + count], &stack->words[from + words + count], period, exactly))
        count++;
    return count;
}

struct word_run run_at(const struct known_stack *stack, size_t from, size_t end, bool exactly)
{
    for (size_t words = 1; words <= RULE_WORDS && from + words < end; words++) {
        const size_t times = 1 + count_repeats(stack, from, end, words, exactly) / words;
        if (times >= 2 * (RULE_WORDS / words))
            return (struct word_run){words, stack->words[from + words].address - stack->words[from].address,
                                     times};
    }
    return (struct word_run){0};
}

struct word_run run_by(struct word_run run, size_t periods)
{
    const size_t times = run.times / periods;
    return (struct word_run){run.words * periods, run.period * periods,
                             times < RULE_TIMES_MAX ? times : RULE_TIMES_MAX};
}
