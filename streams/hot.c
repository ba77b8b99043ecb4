/* hot.c - see hot.h. */
#include "streams/hot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"

/* Profiles ---------------------------------------------------------------------------------------------------- */

static uint64_t heat_of(const struct hot_stream *s)
{
    return s->length * s->occurrences;
}

static int by_heat(const void *a, const void *b)
{
    const struct hot_stream *x = a, *y = b;
    if (heat_of(x) != heat_of(y))
        return heat_of(x) < heat_of(y) ? 1 : -1;
    if (x->length != y->length)
        return x->length < y->length ? 1 : -1;
    return memcmp(x->symbols, y->symbols, x->length * sizeof *x->symbols);
}

static uint64_t hash_of(const struct hot_stream *s, const uint32_t *names)
{
    uint64_t hash = s->length;
    for (uint32_t i = 0; i < s->length; i++)
        hash = hash_u64(hash ^ (names ? names[s->symbols[i]] : s->symbols[i])) + i;
    return hash;
}

static bool same(const struct hot_stream *a, const uint32_t *names_a, const struct hot_stream *b,
                 const uint32_t *names_b)
{
    if (a->length != b->length)
        return false;
    for (uint32_t i = 0; i < a->length; i++)
        if ((names_a ? names_a[a->symbols[i]] : a->symbols[i]) !=
            (names_b ? names_b[b->symbols[i]] : b->symbols[i]))
            return false;
    return true;
}

/* In `firsts` stands 1 + the index of the first stream of a hash, in `next` those that have the same one. */
static struct hot_stream *find(const struct hot_finder *f, const struct hot_profile *profile,
                               const uint32_t *names, const struct hot_stream *wanted,
                               const uint32_t *wanted_names)
{
    const uint64_t *first = table_find(f->firsts, hash_of(wanted, wanted_names));
    for (uint64_t i = first ? *first : 0; i; i = f->next[i - 1])
        if (same(&profile->streams[i - 1], names, wanted, wanted_names))
            return &profile->streams[i - 1];
    return NULL;
}

static bool note(struct hot_finder *f, const struct hot_profile *profile, const uint32_t *names, size_t index)
{
    uint64_t *first = table_put(f->firsts, hash_of(&profile->streams[index], names), NULL);
    if (!first || !vec_reserve(f->next, index, f->capacity, 1))
        return false;
    f->next[index] = (uint32_t)*first;
    *first = index + 1;
    return true;
}

static int finder_make(struct hot_finder *f, const struct hot_profile *profile, const uint32_t *names)
{
    *f = (struct hot_finder){.firsts = table_new()};
    bool ok = f->firsts;
    for (size_t i = 0; ok && i < profile->count; i++)
        ok = note(f, profile, names, i);
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
    return note(&profile->finder, profile, NULL, profile->count - 1) ? 0 : -ENOMEM;
}

int hot_count(struct hot_profile *profile, const uint32_t *symbols, uint32_t length, uint64_t occurrences)
{
    const struct hot_stream stream = {(uint32_t *)symbols, length, occurrences};
    if (!profile->finder.firsts && finder_make(&profile->finder, profile, NULL) < 0)
        return -ENOMEM;
    struct hot_stream *known = find(&profile->finder, profile, NULL, &stream, NULL);
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
    if (profile->count)
        qsort(profile->streams, profile->count, sizeof *profile->streams, by_heat);
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

/* Overlap ----------------------------------------------------------------------------------------------------- */

/* Heat by what streams are named: for each stream, at the first one that is named the same. */
static void sum_heat(const struct hot_profile *profile, const uint32_t *names,
                     const struct hot_finder *finder, const struct hot_profile *of, const uint32_t *of_names,
                     double *heat)
{
    for (size_t i = 0; i < of->count; i++) {
        const struct hot_stream *s = find(finder, profile, names, &of->streams[i], of_names);
        if (s)
            heat[s - profile->streams] += (double)heat_of(&of->streams[i]) / (double)of->total;
    }
}

int hot_overlap(const struct hot_profile *a, const uint32_t *names_a, const struct hot_profile *b,
                const uint32_t *names_b, double *out)
{
    struct hot_finder finder;
    double *heat_a = calloc(a->count + 1, sizeof *heat_a), *heat_b = calloc(a->count + 1, sizeof *heat_b);
    int rc = finder_make(&finder, a, names_a);
    *out = 0;
    if (!heat_a || !heat_b)
        rc = -ENOMEM;
    if (rc == 0) {
        sum_heat(a, names_a, &finder, a, names_a, heat_a);
        sum_heat(a, names_a, &finder, b, names_b, heat_b);
    }
    for (size_t i = 0; i < a->count && rc == 0; i++)
        *out += heat_a[i] < heat_b[i] ? heat_a[i] : heat_b[i];
    finder_clear(&finder);
    free(heat_a);
    free(heat_b);
    return rc;
}
