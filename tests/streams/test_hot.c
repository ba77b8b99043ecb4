/* Profiles: what is counted, the hottest ones, and how two overlap. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

#include "streams/hot.h"

static const struct hot_options most = {.cover = 0.9};

/* Adds each word of the text, which is one stream, so often. */
static void add(struct hot_profile *profile, const char *text, unsigned times)
{
    for (const char *word = text; *word; word += strspn(word, " ")) {
        uint32_t symbols[100], length = 0;
        for (; *word && *word != ' '; word++)
            symbols[length++] = (uint32_t)*word;
        cr_assert(hot_count(profile, symbols, length, times) == 0);
        profile->total += (uint64_t)length * times;
    }
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

Test(hot, the_hottest_come_first)
{
    struct hot_profile p = {0};
    char out[1000];
    add(&p, "ab cde ab f", 2);
    add(&p, "cde", 3);
    hot_cut(&p, &(struct hot_options){.cover = 1, .fewest = 2});
    cr_expect_str_eq(describe(&p, out), "cde*5 ab*4 f*2", "%s", out);
    add(&p, "f", 9); /* counting goes on */
    add(&p, "once", 1);
    hot_cut(&p, &(struct hot_options){.cover = 1, .fewest = 2});
    cr_expect_str_eq(describe(&p, out), "cde*5 f*11 ab*4", "%s", out);
    hot_cut(&p, &(struct hot_options){.cover = 0.5}); /* of 38 */
    cr_expect_str_eq(describe(&p, out), "cde*5 f*11", "%s", out);
    hot_clear(&p);
    hot_cut(&p, &most);
    cr_expect(p.count == 0);
    hot_clear(&p);
}

Test(hot, many_are_told_apart)
{
    struct hot_profile p = {0};
    for (uint32_t i = 0; i < 300000; i++)
        cr_assert(hot_count(&p, (uint32_t[]){i % 1000, i % 3, i}, 2, 1) == 0);
    cr_expect(p.count == 3000 && p.streams[2999].occurrences == 100, "%zu", p.count);
    hot_clear(&p);
}

Test(hot, overlap_is_by_symbols)
{
    struct hot_profile p = {0}, q = {0}, none = {0};
    double overlap;
    add(&p, "abcd ef", 4); /* 2/3 and 1/3 */
    add(&q, "abcd", 4);
    add(&q, "gh", 8); /* a half and a half */
    cr_expect(hot_heat(&p) == p.total && hot_heat(&none) == 0);
    cr_expect(hot_overlap(&p, &p, &overlap) == 0);
    cr_expect_float_eq(overlap, 1, 1e-9);
    cr_expect(hot_overlap(&p, &q, &overlap) == 0);
    cr_expect_float_eq(overlap, 0.5, 1e-9);
    cr_expect(hot_overlap(&q, &p, &overlap) == 0);
    cr_expect_float_eq(overlap, 0.5, 1e-9);
    cr_expect(hot_overlap(&p, &none, &overlap) == 0 && overlap == 0);
    cr_expect(hot_overlap(&none, &p, &overlap) == 0 && overlap == 0);
    hot_clear(&p);
    hot_clear(&q);
}
