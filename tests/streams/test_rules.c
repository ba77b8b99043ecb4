/* Rules of grammars of known sequences as streams, in one piece and in several. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

#include "streams/rules.h"

static const struct hot_options all = {.shortest = 2, .longest = 100, .cover = 0.9};

static void add(struct hot_profile *profile, const char *text, unsigned times,
                const struct hot_options *options)
{
    struct sequitur *s = sequitur_new();
    cr_assert(s);
    for (; times; times--)
        for (const char *c = text; *c; c++)
            cr_assert(sequitur_push(s, *c == '|' ? SEQUITUR_BREAK : (uint32_t)*c) == 0);
    cr_assert(rules_add(profile, s, options) == 0);
    sequitur_free(s);
}

/* "abc*3 de*2" */
static const char *describe(const struct hot_profile *p, char out[1000])
{
    char *at = out;
    *out = 0;
    for (size_t i = 0; i < p->count; i++) {
        at += sprintf(at, i ? " " : "");
        for (uint32_t k = 0; k < p->streams[i].length; k++)
            *at++ = (char)p->streams[i].symbols[k];
        at += sprintf(at, "*%llu", (unsigned long long)p->streams[i].occurrences);
    }
    return out;
}

static void expect(const char *text, unsigned times, const struct hot_options *options, const char *wanted)
{
    struct hot_profile p = {0};
    char out[1000];
    add(&p, text, times, options);
    hot_cut(&p, options);
    cr_expect_str_eq(describe(&p, out), wanted, "%s: %s", text, out);
    hot_clear(&p);
}

Test(rules, streams_of_known_sequences)
{
    const struct hot_options four = {.shortest = 4, .longest = 4, .cover = 0.9};
    expect("", 1, &all, "");
    expect("abcdefgh", 1, &all, "");
    expect("abcd|", 4, &all, "abcd*4");
    expect("xabcdy|zabcdw|", 1, &all, "abcd*2");
    /* what is part of a hot stream is none of its own */
    expect("abcabcd|abcabcd|", 1, &all, "abcabcd*2");
    expect("abcabcd|abcabcd|", 1, &four, ""); /* no rule has four */
    /* one that is too long is in parts, the last of which may be too short */
    expect("abcdefghijk|", 3, &four, "abcd*3 efgh*3");
}

Test(rules, pieces_are_summed)
{
    struct hot_profile p = {0};
    char out[1000];
    for (unsigned i = 0; i < 3; i++)
        add(&p, "abcd|ef|", 4, &all);
    cr_expect(p.total == 72);
    hot_cut(&p, &all);
    cr_expect_str_eq(describe(&p, out), "abcd*12 ef*12", "%s", out);
    hot_cut(&p, &(struct hot_options){.cover = 0.5});
    cr_expect_str_eq(describe(&p, out), "abcd*12", "%s", out);
    hot_clear(&p);
}
