/* survey.c - see survey.h. */
#include "infer/samples/survey.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/hash.h"
#include "base/vec.h"
#include "pathmap/map/trie.h"

struct thread {
    struct moment *moments;
    size_t count, capacity;
    uint64_t seen; /* including those that were dropped */
};

struct survey {
    struct table *cid_of; /* hash of (setting, function, height) -> index in cids + 1 */
    struct wanted *cids;
    size_t cid_count, cid_capacity;
    struct table *thread_of; /* thread_key -> index in threads + 1 */
    struct thread *threads;
    uint32_t thread_count, thread_capacity;
    size_t moments;    /* of all threads together */
    size_t most;       /* limit above which pieces are dropped */
    size_t step;       /* survey_step() */
    uint64_t last_key; /* of threads[last]; valid if there is any */
    uint32_t last;
};

struct survey *survey_new(void)
{
    struct survey *s = allocate(struct survey, .cid_of = table_new(), .thread_of = table_new(),
                                .most = SURVEY_MOMENTS, .step = 1);
    return whole_or_free(s, s->cid_of && s->thread_of, survey_free);
}

void survey_free(struct survey *s)
{
    if (!s)
        return;
    for (uint32_t i = 0; i < s->thread_count; i++)
        free(s->threads[i].moments);
    free(s->threads);
    free(s->cids);
    table_free(s->cid_of);
    table_free(s->thread_of);
    free(s);
}

/* The CID's index; SIZE_MAX: out of memory. */
static size_t count_cid(struct survey *s, const struct wanted *cid)
{
    const uint64_t key = ((uint64_t)cid->function << 32 | cid->height) ^ hash_u64(cid->setting);
    const struct wanted new = {.function = cid->function, .height = cid->height, .setting = cid->setting};
    const size_t index = table_index(s->cid_of, key, s->cids, s->cid_count, s->cid_capacity, new);
    if (index == SIZE_MAX)
        return index;
    s->cids[index].samples++;
    s->cids[index].sure += cid->sure;
    s->cids[index].part += cid->part;
    return index;
}

static struct thread *thread_of(struct survey *s, uint64_t thread_key)
{
    if (s->thread_count && thread_key == s->last_key)
        return &s->threads[s->last];
    const size_t index = table_index(s->thread_of, thread_key, s->threads, s->thread_count,
                                     s->thread_capacity, (struct thread){0});
    if (index == SIZE_MAX)
        return NULL;
    s->last_key = thread_key;
    s->last = (uint32_t)index;
    return &s->threads[index];
}

/* Drops every second piece of each thread. */
static void thin_moments(struct survey *s)
{
    s->step *= 2;
    s->moments = 0;
    for (uint32_t i = 0; i < s->thread_count; i++) {
        struct thread *t = &s->threads[i];
        size_t kept = 0;
        for (size_t at = 0; at < t->count; at += 2 * SURVEY_PIECE) {
            size_t length = t->count - at < SURVEY_PIECE ? t->count - at : SURVEY_PIECE;
            memmove(t->moments + kept, t->moments + at, length * sizeof *t->moments);
            kept += length;
        }
        t->count = kept;
        s->moments += kept;
    }
    s->most = 2 * s->moments > s->most ? 2 * s->moments : s->most;
}

int survey_add(struct survey *s, struct run_time run, const struct wanted *of, uint32_t true_path)
{
    const size_t cid = count_cid(s, of);
    struct thread *t = cid == SIZE_MAX ? NULL : thread_of(s, run.thread_key);
    if (!t)
        return -ENOMEM;
    if (t->seen++ / SURVEY_PIECE % s->step)
        return 0;
    if (!vec_push(t->moments, t->count, t->capacity, (struct moment){run.ran, (uint32_t)cid, true_path}))
        return -ENOMEM;
    if (++s->moments > s->most)
        thin_moments(s);
    return 0;
}

size_t survey_cids(const struct survey *s, const struct wanted **out)
{
    *out = s->cids;
    return s->cid_count;
}

uint32_t survey_threads(const struct survey *s)
{
    return s->thread_count;
}

size_t survey_moments(const struct survey *s, uint32_t thread, const struct moment **out)
{
    *out = s->threads[thread].moments;
    return s->threads[thread].count;
}

size_t survey_step(const struct survey *s)
{
    return s->step;
}
