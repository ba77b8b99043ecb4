/* Hot streams of known sequences, in one piece and in several, and how profiles overlap. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

#include "streams/hot.h"

static const struct hot_options all = {.shortest = 2, .longest = 100, .cover = 0.9};

static void add(struct hot_profile *profile, const char *text, unsigned times,
                const struct hot_options *options)
{
    struct sequitur *s = sequitur_new();
    cr_assert(s);
    for (; times; times--)
        for (const char *c = text; *c; c++)
            cr_assert(sequitur_push(s, *c == '|' ? SEQUITUR_BREAK : (uint32_t)*c) == 0);
    cr_assert(hot_add(profile, s, options) == 0);
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

Test(hot, streams_of_known_sequences)
{
    const struct hot_options four = {.shortest = 4, .longest = 4, .cover = 0.9};
    expect("", 1, &all, "");
    expect("abcdefgh", 1, &all, "");
    expect("abcd|", 4, &all, "abcd*4");
    expect("xabcdy|zabcdw|", 1, &all, "abcd*2");
    /* what is part of a hot stream is none of its own */
    expect("abcabcd|abcabcd|", 1, &all, "abcabcd*2");
    expect("abcabcd|abcabcd|", 1, &four, ""); /* no rule has four */
}

Test(hot, pieces_are_summed)
{
    struct hot_profile p = {0};
    char out[1000];
    for (unsigned i = 0; i < 3; i++)
        add(&p, "abcd|ef|", 4, &all);
    cr_expect(p.total == 72);
    cr_expect_str_eq(describe(&p, out), "abcd*12 ef*12", "%s", out);
    hot_cut(&p, &(struct hot_options){.cover = 0.5});
    cr_expect_str_eq(describe(&p, out), "abcd*12", "%s", out);
    hot_clear(&p);
}

Test(hot, overlap_is_by_names)
{
    struct hot_profile p = {0}, q = {0}, none = {0};
    uint32_t names[256], other[256];
    double overlap;
    for (uint32_t i = 0; i < 256; i++) {
        names[i] = i;
        other[i] = i >= 'A' && i <= 'Z' ? i + 'a' - 'A' : i;
    }
    add(&p, "abcd|ef|", 4, &all); /* 2/3 and 1/3 */
    add(&q, "ABCD|", 4, &all);
    add(&q, "gh|", 8, &all); /* a half and a half */
    cr_expect(hot_overlap(&p, names, &p, names, &overlap) == 0);
    cr_expect_float_eq(overlap, 1, 1e-9);
    cr_expect(hot_overlap(&p, names, &q, names, &overlap) == 0);
    cr_expect_float_eq(overlap, 0, 1e-9);
    cr_expect(hot_overlap(&p, names, &q, other, &overlap) == 0);
    cr_expect_float_eq(overlap, 0.5, 1e-9);
    cr_expect(hot_overlap(&q, other, &p, names, &overlap) == 0);
    cr_expect_float_eq(overlap, 0.5, 1e-9);
    cr_expect(hot_overlap(&p, names, &none, names, &overlap) == 0 && overlap == 0);
    hot_clear(&p);
    hot_clear(&q);
}
