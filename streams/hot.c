/* hot.c - see hot.h. */
#include "streams/hot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/sort.h"
#include "base/vec.h"

/* Profiles ---------------------------------------------------------------------------------------------------- */

static uint64_t heat_of(const struct hot_stream *s)
{
    return s->length * s->occurrences;
}

static int by_heat(const void *a, const void *b)
{
    const struct hot_stream *x = a, *y = b;
    return order_of(heat_of(y), heat_of(x)) ?: order_of(y->length, x->length)
           ?: memcmp(x->symbols, y->symbols, x->length * sizeof *x->symbols);
}

static uint64_t hash_of(const struct hot_stream *s)
{
    uint64_t hash = s->length;
    for (uint32_t i = 0; i < s->length; i++)
        hash = hash_u64(hash ^ s->symbols[i]) + i;
    return hash;
}

static bool same_symbols(const struct hot_stream *a, const struct hot_stream *b)
{
    return a->length == b->length && memcmp(a->symbols, b->symbols, a->length * sizeof *a->symbols) == 0;
}

/* `firsts` has 1 + the index of the first stream with a hash, `next` links those with the same hash. */
static struct hot_stream *find_stream(const struct hot_finder *f, const struct hot_profile *profile,
                                      const struct hot_stream *wanted)
{
    const uint64_t *first = table_find(f->firsts, hash_of(wanted));
    for (uint64_t i = first ? *first : 0; i; i = f->next[i - 1])
        if (same_symbols(&profile->streams[i - 1], wanted))
            return &profile->streams[i - 1];
    return NULL;
}

static bool note_stream(struct hot_finder *f, const struct hot_profile *profile, size_t index)
{
    uint64_t *first = table_put(f->firsts, hash_of(&profile->streams[index]), NULL);
    if (!first || !vec_reserve(f->next, index, f->capacity, 1))
        return false;
    f->next[index] = (uint32_t)*first;
    *first = index + 1;
    return true;
}

static int finder_make(struct hot_finder *f, const struct hot_profile *profile)
{
    *f = (struct hot_finder){.firsts = table_new()};
    bool ok = f->firsts;
    for (size_t i = 0; ok && i < profile->count; i++)
        ok = note_stream(f, profile, i);
    return ok ? 0 : -ENOMEM;
}

static void finder_clear(struct hot_finder *f)
{
    table_free(f->firsts);
    free(f->next);
    *f = (struct hot_finder){0};
}

static int add_new(struct hot_profile *profile, struct hot_stream stream)
{
    size_t bytes = stream.length * sizeof *stream.symbols;
    const uint32_t *symbols = stream.symbols;
    stream.symbols = malloc(bytes);
    if (!stream.symbols)
        return -ENOMEM;
    memcpy(stream.symbols, symbols, bytes);
    if (!vec_push(profile->streams, profile->count, profile->capacity, stream)) {
        free(stream.symbols);
        return -ENOMEM;
    }
    return note_stream(&profile->finder, profile, profile->count - 1) ? 0 : -ENOMEM;
}

int hot_count(struct hot_profile *profile, const uint32_t *symbols, uint32_t length, uint64_t occurrences)
{
    const struct hot_stream stream = {(uint32_t *)symbols, length, occurrences};
    if (!profile->finder.firsts && finder_make(&profile->finder, profile) < 0)
        return -ENOMEM;
    struct hot_stream *known = find_stream(&profile->finder, profile, &stream);
    if (!known)
        return add_new(profile, stream);
    known->occurrences += occurrences;
    return 0;
}

void hot_cut(struct hot_profile *profile, const struct hot_options *options)
{
    size_t kept = 0;
    double covered = 0, wanted = options->cover * (double)profile->total;
    finder_clear(&profile->finder); /* the order changes */
    sort_with(profile->streams, profile->count, by_heat);
    for (size_t i = 0; i < profile->count; i++) {
        struct hot_stream *s = &profile->streams[i];
        if (covered >= wanted || s->occurrences < options->fewest) {
            free(s->symbols);
            continue;
        }
        covered += (double)heat_of(s);
        profile->streams[kept++] = *s;
    }
    profile->count = kept;
}

void hot_clear(struct hot_profile *profile)
{
    for (size_t i = 0; i < profile->count; i++)
        free(profile->streams[i].symbols);
    free(profile->streams);
    finder_clear(&profile->finder);
    *profile = (struct hot_profile){0};
}

uint64_t hot_heat(const struct hot_profile *profile)
{
    uint64_t heat = 0;
    for (size_t i = 0; i < profile->count; i++)
        heat += heat_of(&profile->streams[i]);
    return heat;
}

/* Overlap ----------------------------------------------------------------------------------------------------- */

static double share_of(const struct hot_stream *s, const struct hot_profile *of)
{
    return (double)heat_of(s) / (double)of->total;
}

int hot_overlap(const struct hot_profile *a, const struct hot_profile *b, double *out)
{
    struct hot_finder finder;
    double overlap = 0;
    int rc = finder_make(&finder, a);
    for (size_t i = 0; i < b->count && rc == 0; i++) {
        const struct hot_stream *in_b = &b->streams[i], *in_a = find_stream(&finder, a, in_b);
        double in_both = in_a ? share_of(in_a, a) : 0, other = share_of(in_b, b);
        overlap += in_both < other ? in_both : other;
    }
    if (rc == 0)
        *out = overlap;
    finder_clear(&finder);
    return rc;
}
