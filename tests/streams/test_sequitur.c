/* Grammars of known sequences, and the invariants of random ones. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "streams/sequitur.h"

struct text {
    uint32_t *at;
    size_t count, capacity;
};

static void expand(const struct sequitur *s, uint32_t rule, struct text *out)
{
    uint32_t at = 0, symbol;
    while (sequitur_next(s, rule, &at, &symbol)) {
        if (symbol & SEQUITUR_RULE)
            expand(s, symbol & ~SEQUITUR_RULE, out);
        else
            cr_assert(vec_push(out->at, out->count, out->capacity, symbol));
    }
}

/* "S: 1 1  1: a b" with rules in the order of their numbers. */
static void describe(const struct sequitur *s, char *out)
{
    uint32_t names[100] = {0}, next = 1;
    for (uint32_t r = 1; r < sequitur_rules(s) && r < 100; r++)
        names[r] = sequitur_uses(s, r) ? next++ : 0;
    for (uint32_t r = 0; r < sequitur_rules(s); r++) {
        uint32_t at = 0, symbol;
        if (r && !sequitur_uses(s, r))
            continue;
        out += r ? sprintf(out, "  %u:", names[r]) : sprintf(out, "S:");
        while (sequitur_next(s, r, &at, &symbol))
            out += symbol & SEQUITUR_RULE     ? sprintf(out, " %u", names[symbol & ~SEQUITUR_RULE])
                   : symbol == SEQUITUR_BREAK ? sprintf(out, " |")
                                              : sprintf(out, " %c", (char)symbol);
    }
}

static struct sequitur *infer(const char *text)
{
    struct sequitur *s = sequitur_new();
    cr_assert(s);
    for (; *text; text++)
        cr_assert(sequitur_push(s, *text == '|' ? SEQUITUR_BREAK : (uint32_t)*text) == 0);
    return s;
}

Test(sequitur, known_grammars)
{
    static const struct {
        const char *text, *grammar;
    } cases[] = {
        {"", "S:"},
        {"a", "S: a"},
        {"abab", "S: 1 1  1: a b"},
        {"abcdbc", "S: a 1 d 1  1: b c"},               /* figure 1 b of the paper */
        {"abcdbcabcdbc", "S: 2 2  1: b c  2: a 1 d 1"}, /* c */
        {"aaa", "S: a a a"},
        {"aaaa", "S: 1 1  1: a a"},
        {"abcabc", "S: 1 1  1: a b c"}, /* rule utility: ab is no rule any more */
        {"ab|ab", "S: 1 | 1  1: a b"},
        {"a|ba|b", "S: a | b a | b"}, /* no rule crosses a break */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[1000] = "";
        struct sequitur *s = infer(cases[i].text);
        describe(s, out);
        cr_expect_str_eq(out, cases[i].grammar, "%s: %s", cases[i].text, out);
        cr_expect_null(sequitur_check(s));
        sequitur_free(s);
    }
}

Test(sequitur, invariants_hold_and_nothing_is_lost)
{
    uint64_t random = 1;
    for (unsigned round = 0; round < 3000; round++) {
        unsigned letters = 1 + round % 7, length = 1 + (unsigned)(hash_random(&random) % 200);
        uint32_t sequence[200];
        struct sequitur *s = sequitur_new();
        struct text out = {0};
        cr_assert(s);
        for (unsigned i = 0; i < length; i++) {
            sequence[i] = (uint32_t)(hash_random(&random) % letters);
            if (hash_random(&random) % 50 == 0)
                sequence[i] = SEQUITUR_BREAK;
            cr_assert(sequitur_push(s, sequence[i]) == 0);
            const char *what = sequitur_check(s);
            cr_assert(!what, "round %u, %u: %s", round, i, what);
        }
        expand(s, 0, &out);
        cr_assert(out.count == length && memcmp(out.at, sequence, length * sizeof *sequence) == 0, "round %u",
                  round);
        free(out.at);
        sequitur_free(s);
    }
}

/* A loop of a thousand rounds becomes a few rules. */
Test(sequitur, what_repeats_is_small)
{
    struct sequitur *s = sequitur_new();
    cr_assert(s);
    for (unsigned i = 0; i < 100000; i++)
        cr_assert(sequitur_push(s, i % 10) == 0);
    cr_expect(!sequitur_check(s));
    unsigned symbols = 0;
    for (uint32_t r = 0; r < sequitur_rules(s); r++) {
        uint32_t at = 0, symbol;
        while (sequitur_next(s, r, &at, &symbol))
            symbols++;
    }
    cr_expect(symbols < 80, "%u", symbols);
    sequitur_free(s);
}
