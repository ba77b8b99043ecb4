/* What a survey keeps of a recording that is longer than it has room for. */
#include <criterion/criterion.h>

#include "infer/samples/survey.h"
#include "pathmap/map/trie.h"

static void add(struct survey *s, uint64_t thread_key, uint64_t time, uint32_t function, uint32_t true_path)
{
    struct wanted cid = {.function = function, .height = 16, .sure = true_path != TRIE_NONE};
    cr_assert_eq(survey_add(s, (struct run_time){.thread_key = thread_key, .ran = time}, &cid, true_path), 0);
}

Test(survey, all_of_a_short_recording)
{
    struct survey *s = survey_new();
    const struct moment *m;
    const struct wanted *cids;
    for (uint32_t i = 0; i < 1000; i++)
        add(s, 1, i, i % 3, i % 100 ? TRIE_NONE : 7);
    cr_assert_eq(survey_threads(s), 1u);
    cr_assert_eq(survey_moments(s, 0, &m), 1000u);
    cr_expect_eq(survey_step(s), 1u);
    for (uint32_t i = 0; i < 1000; i++)
        cr_assert(m[i].time == i && m[i].cid == i % 3 && m[i].true_path == (i % 100 ? TRIE_NONE : 7));
    cr_assert_eq(survey_cids(s, &cids), 3u);
    cr_expect_eq(cids[0].samples, 334u);
    cr_expect_eq(cids[0].sure + cids[1].sure + cids[2].sure, 10u);
    survey_free(s);
}

Test(survey, pieces_lie_evenly_in_a_long_one)
{
    struct survey *s = survey_new();
    const struct moment *m;
    const struct wanted *cids;
    const uint64_t samples = 9 * (uint64_t)SURVEY_MOMENTS;
    for (uint64_t i = 0; i < samples; i++)
        add(s, i % 2, i / 2, 1, i % 1000 ? TRIE_NONE : 7);
    size_t step = survey_step(s);
    cr_expect_eq(step, 16u);
    for (uint32_t t = 0; t < 2; t++) {
        size_t count = survey_moments(s, t, &m);
        cr_expect_float_eq((double)count, (double)samples / 2 / (double)step, SURVEY_PIECE);
        for (size_t i = 0; i < count; i++)
            cr_assert_eq(m[i].time, i / SURVEY_PIECE * step * SURVEY_PIECE + i % SURVEY_PIECE, "%zu of %u", i,
                         t);
    }
    survey_cids(s, &cids);
    cr_expect_eq(cids[0].samples, samples, "all are counted");
    survey_free(s);
}

/* Each has one piece, and none can be left out. */
Test(survey, many_short_threads)
{
    struct survey *s = survey_new();
    const struct moment *m;
    const uint32_t threads = SURVEY_MOMENTS / 50;
    size_t kept = 0;
    for (uint32_t i = 0; i < 100; i++)
        for (uint32_t t = 0; t < threads; t++)
            add(s, t, i, 1, TRIE_NONE);
    for (uint32_t t = 0; t < threads; t++)
        kept += survey_moments(s, t, &m);
    cr_expect_eq(kept, (size_t)threads * 100);
    survey_free(s);
}
