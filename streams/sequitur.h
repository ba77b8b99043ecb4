/*
 * sequitur.h - infers a grammar of a sequence, whose rules are what repeats in it: Nevill-Manning and Witten,
 * Identifying Hierarchical Structure in Sequences, JAIR 7 (1997). Takes time and memory in proportion to the
 * sequence.
 *
 * Invariants: no pair of neighbours occurs twice in the grammar without overlap (digram uniqueness), and each
 * rule is used at least twice (rule utility). Breaks are symbols that match nothing, so no rule crosses one.
 */
#ifndef FATHOM_STREAMS_SEQUITUR_H
#define FATHOM_STREAMS_SEQUITUR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEQUITUR_RULE  0x80000000u /* a symbol with this bit is a rule, of the number without it */
#define SEQUITUR_BREAK 0x7fffffffu

struct sequitur;

struct sequitur *sequitur_new(void);    /* NULL: out of memory */
void sequitur_free(struct sequitur *s); /* NULL is allowed */
/* Appends a terminal, below SEQUITUR_BREAK, or a break. -ENOMEM; -EOVERFLOW: the grammar has 2^31 symbols. After
 * an error only sequitur_free() is allowed. */
int sequitur_push(struct sequitur *s, uint32_t terminal);
/* Rules have numbers below this; 0 is the whole sequence. Some were removed. */
uint32_t sequitur_rules(const struct sequitur *s);
/* How often the rule is used in the grammar; 0: it was removed, or is the whole sequence. */
uint32_t sequitur_uses(const struct sequitur *s, uint32_t rule);
/* Walks the symbols of a rule, from left to right: start with *at = 0; false: the end. */
bool sequitur_next(const struct sequitur *s, uint32_t rule, uint32_t *at, uint32_t *symbol);
/* NULL: the invariants hold; else the violated one. For tests. */
const char *sequitur_check(const struct sequitur *s);

#endif
