/* Streams of known sequences, and that those of bursts are those of the whole, wherever a burst begins. */
#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "streams/scan.h"

static const struct hot_options four = {.shortest = 4, .longest = 8, .cover = 1, .fewest = 2};
static const struct hot_options usual = {.shortest = 10, .longest = 40, .cover = 0.9, .fewest = 2};

/* One burst; a symbol's place is its number. */
static void scan(struct hot_profile *profile, const uint32_t *symbols, size_t count,
                 const struct hot_options *options)
{
    struct hot_scan *s = scan_new(profile, options);
    cr_assert(s);
    for (size_t i = 0; i < count; i++)
        cr_assert(scan_push(s, symbols[i], symbols[i]) == 0);
    cr_assert(scan_break(s) == 0);
    scan_free(s);
}

static void scan_text(struct hot_profile *profile, const char *text, unsigned times)
{
    uint32_t symbols[10000];
    size_t length = strlen(text);
    for (size_t i = 0; i < length * times; i++)
        symbols[i] = (uint32_t)text[i % length];
    scan(profile, symbols, length * times, &four);
}

static bool is(const struct hot_stream *s, const char *text)
{
    if (s->length != strlen(text))
        return false;
    for (uint32_t i = 0; i < s->length; i++)
        if (s->symbols[i] != (uint32_t)text[i])
            return false;
    return true;
}

Test(scan, a_loop_is_one_stream_wherever_it_is_entered)
{
    static const char *const loops[][2] = {{"abcde", "abcde"},    {"deabc", "abcde"}, {"abcdefg", "abcdefg"},
                                           {"ba", "abab"},        {"cab", "abcabc"},  {"a", "aaaa"},
                                           {"gfedcab", "abgfedc"}};
    for (size_t i = 0; i < sizeof loops / sizeof *loops; i++) {
        struct hot_profile p = {0};
        scan_text(&p, loops[i][0], 50);
        hot_cut(&p, &four);
        cr_expect(p.count == 1 && is(&p.streams[0], loops[i][1]), "%s: %zu", loops[i][0], p.count);
        cr_expect(p.streams[0].occurrences >= (strlen(loops[i][0]) * 50 - 16) / p.streams[0].length);
        cr_expect(p.total == p.streams[0].length * p.streams[0].occurrences);
        hot_clear(&p);
    }
}

Test(scan, short_bursts_have_none)
{
    struct hot_profile p = {0};
    scan_text(&p, "abcdefgh", 1);
    scan(&p, NULL, 0, &four);
    cr_expect(p.count == 0 && p.total == 0);
    hot_clear(&p);
}

/* 97 functions of some symbols each, one of which calls another one now and then. */
static void walk(uint32_t *out, size_t count)
{
    uint64_t state = 1, function = 0;
    for (size_t i = 0; i < count; function = hash_random(&state) % 97) {
        uint64_t length = 3 + hash_u64(function) % 20;
        for (uint64_t k = 0; k < length && i < count; k++)
            out[i++] = (uint32_t)(hash_u64(function) % 1000 * 32 + (k ^ function % 4));
        if (hash_random(&state) % 3)
            for (uint64_t k = 0; k < 30 && i < count; k++)
                out[i++] = 7 + (uint32_t)(k % 6);
    }
}

Test(scan, lengths_are_as_asked_for)
{
    static uint32_t symbols[100000];
    static const struct hot_options cases[] = {{10, 40, 1, 0}, {10, 15, 1, 0},    {10, 10, 1, 0},
                                               {1, 1, 1, 0},   {2, 100000, 1, 0}, {9000, 9000, 1, 0}};
    walk(symbols, 100000);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hot_profile p = {0};
        uint64_t sum = 0;
        scan(&p, symbols, 100000, &cases[i]);
        for (size_t k = 0; k < p.count; k++) {
            const struct hot_stream *s = &p.streams[k];
            sum += s->length * s->occurrences;
            cr_expect(s->length <= cases[i].longest);
            cr_expect(s->length >= (cases[i].shortest < HOT_LONGEST ? cases[i].shortest : HOT_LONGEST));
        }
        cr_expect(sum == p.total && sum >= 100000 - 3 * HOT_LONGEST, "case %zu", i);
        hot_clear(&p);
    }
}

Test(scan, samples_have_the_streams_of_the_whole)
{
    enum { ALL = 400000, BURST = 250 };
    uint32_t *symbols = malloc(ALL * sizeof *symbols);
    struct hot_profile whole = {0}, sampled = {0};
    uint64_t state = 5;
    double overlap, itself;
    cr_assert(symbols);
    walk(symbols, ALL);
    scan(&whole, symbols, ALL, &usual);
    for (unsigned i = 0; i < 800; i++)
        scan(&sampled, symbols + hash_random(&state) % (ALL - BURST), BURST, &usual);
    hot_cut(&whole, &usual);
    hot_cut(&sampled, &usual);
    cr_expect(hot_overlap(&whole, &whole, &itself) == 0 && itself >= 0.8, "%f", itself);
    cr_expect(hot_overlap(&whole, &sampled, &overlap) == 0 && overlap >= 0.9 * itself, "%f of %f", overlap,
              itself);
    hot_clear(&whole);
    hot_clear(&sampled);
    free(symbols);
}
