/* hot.c - see hot.h. */
#include "streams/hot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"

/* Grammars ---------------------------------------------------------------------------------------------------- */

struct ranking {
    const struct sequitur *grammar;
    uint64_t *lengths; /* of what each rule stands for; above `longest` it does not matter by how much */
    uint64_t *cold;    /* how often it stands in the whole sequence, other than as a part of a hot stream */
    uint32_t *order;   /* each rule before those that it uses */
    uint32_t count;    /* of them */
};

static void ranking_clear(struct ranking *r)
{
    free(r->lengths);
    free(r->cold);
    free(r->order);
}

/* Depth first, without recursion: grammars of loops are deep. */
static bool put_in_order(struct ranking *r)
{
    uint32_t rules = sequitur_rules(r->grammar), depth = 0, symbol, done = rules;
    uint32_t *stack = calloc(rules, sizeof *stack), *at = calloc(rules, sizeof *at);
    bool *seen = calloc(rules, sizeof *seen);
    if (!stack || !at || !seen) {
        free(stack);
        free(at);
        free(seen);
        return false;
    }
    stack[depth++] = 0;
    seen[0] = true;
    while (depth) {
        uint32_t rule = stack[depth - 1];
        if (!sequitur_next(r->grammar, rule, &at[rule], &symbol)) {
            r->order[--done] = rule;
            depth--;
            continue;
        }
        uint32_t child = symbol & ~SEQUITUR_RULE;
        if (symbol & SEQUITUR_RULE && !seen[child]) {
            seen[child] = true;
            stack[depth++] = child;
        }
    }
    r->count = rules - done;
    memmove(r->order, r->order + done, r->count * sizeof *r->order);
    free(stack);
    free(at);
    free(seen);
    return true;
}

static void find_lengths(struct ranking *r)
{
    for (uint32_t i = r->count; i-- > 0;) {
        uint32_t at = 0, symbol;
        uint64_t length = 0;
        while (sequitur_next(r->grammar, r->order[i], &at, &symbol))
            length += symbol & SEQUITUR_RULE ? r->lengths[symbol & ~SEQUITUR_RULE] : symbol != SEQUITUR_BREAK;
        r->lengths[r->order[i]] = length;
    }
}

static int rank(struct ranking *r, const struct sequitur *grammar)
{
    uint32_t rules = sequitur_rules(grammar);
    *r = (struct ranking){.grammar = grammar,
                          .lengths = calloc(rules, sizeof *r->lengths),
                          .cold = calloc(rules, sizeof *r->cold),
                          .order = calloc(rules, sizeof *r->order)};
    if (!r->lengths || !r->cold || !r->order || !put_in_order(r)) {
        ranking_clear(r);
        return -ENOMEM;
    }
    find_lengths(r);
    return 0;
}

static bool is_hot(const struct ranking *r, uint32_t rule, uint64_t heat, const struct hot_options *options)
{
    uint32_t longest = options->longest < HOT_LONGEST ? options->longest : HOT_LONGEST;
    return rule && r->lengths[rule] >= options->shortest && r->lengths[rule] <= longest &&
           r->lengths[rule] * r->cold[rule] >= heat;
}

/* How many symbols are part of streams of at least this heat. */
static uint64_t cover(struct ranking *r, uint64_t heat, const struct hot_options *options)
{
    uint64_t covered = 0;
    memset(r->cold, 0, sequitur_rules(r->grammar) * sizeof *r->cold);
    r->cold[0] = 1;
    for (uint32_t i = 0; i < r->count; i++) {
        uint32_t rule = r->order[i], at = 0, symbol;
        bool hot = is_hot(r, rule, heat, options);
        covered += hot ? r->lengths[rule] * r->cold[rule] : 0;
        while (sequitur_next(r->grammar, rule, &at, &symbol))
            if (symbol & SEQUITUR_RULE)
                r->cold[symbol & ~SEQUITUR_RULE] += hot ? 0 : r->cold[rule];
    }
    return covered;
}

/* The largest heat by which streams cover what is asked for; else 2: all that occur twice. */
static uint64_t choose_heat(struct ranking *r, const struct hot_options *options)
{
    uint64_t low = 2, high = r->lengths[0] + 1;
    double wanted = options->cover * (double)r->lengths[0];
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if ((double)cover(r, middle, options) >= wanted)
            low = middle;
        else
            high = middle;
    }
    return low;
}

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

/* Streams by what they are: 1 + the first one's index in the profile, and in `next` those that have the same hash. */
struct finder {
    struct table *firsts;
    uint32_t *next;
    size_t capacity;
};

static struct hot_stream *find(const struct finder *f, const struct hot_profile *profile,
                               const uint32_t *names, const struct hot_stream *wanted,
                               const uint32_t *wanted_names)
{
    const uint64_t *first = table_find(f->firsts, hash_of(wanted, wanted_names));
    for (uint64_t i = first ? *first : 0; i; i = f->next[i - 1])
        if (same(&profile->streams[i - 1], names, wanted, wanted_names))
            return &profile->streams[i - 1];
    return NULL;
}

static bool note(struct finder *f, const struct hot_profile *profile, const uint32_t *names, size_t index)
{
    uint64_t *first = table_put(f->firsts, hash_of(&profile->streams[index], names), NULL);
    if (!first || !vec_reserve(f->next, index, f->capacity, 1))
        return false;
    f->next[index] = (uint32_t)*first;
    *first = index + 1;
    return true;
}

static int finder_make(struct finder *f, const struct hot_profile *profile, const uint32_t *names)
{
    *f = (struct finder){.firsts = table_new()};
    bool ok = f->firsts;
    for (size_t i = 0; ok && i < profile->count; i++)
        ok = note(f, profile, names, i);
    return ok ? 0 : -ENOMEM;
}

static void finder_clear(struct finder *f)
{
    table_free(f->firsts);
    free(f->next);
}

/* What a rule stands for, which has `length` symbols. */
static void write_out(const struct sequitur *grammar, uint32_t rule, uint32_t *out, uint32_t *written)
{
    uint32_t at = 0, symbol;
    while (sequitur_next(grammar, rule, &at, &symbol))
        if (symbol & SEQUITUR_RULE)
            write_out(grammar, symbol & ~SEQUITUR_RULE, out, written); /* no deeper than a stream is long */
        else
            out[(*written)++] = symbol;
}

static int add_stream(struct hot_profile *profile, struct finder *finder, const struct ranking *r,
                      uint32_t rule)
{
    struct hot_stream stream = {.length = (uint32_t)r->lengths[rule], .occurrences = r->cold[rule]};
    uint32_t written = 0;
    stream.symbols = malloc(stream.length * sizeof *stream.symbols);
    if (!stream.symbols)
        return -ENOMEM;
    write_out(r->grammar, rule, stream.symbols, &written);
    struct hot_stream *known = find(finder, profile, NULL, &stream, NULL);
    if (known) {
        known->occurrences += stream.occurrences;
        free(stream.symbols);
        return 0;
    }
    if (!vec_push(profile->streams, profile->count, profile->capacity, stream)) {
        free(stream.symbols);
        return -ENOMEM;
    }
    return note(finder, profile, NULL, profile->count - 1) ? 0 : -ENOMEM;
}

int hot_add(struct hot_profile *profile, const struct sequitur *grammar, const struct hot_options *options)
{
    struct ranking r;
    struct finder finder = {0};
    int rc = rank(&r, grammar);
    if (rc < 0)
        return rc;
    rc = finder_make(&finder, profile, NULL);
    uint64_t heat = choose_heat(&r, options);
    cover(&r, heat, options);
    for (uint32_t i = 0; i < r.count && rc == 0; i++)
        if (r.cold[r.order[i]] && is_hot(&r, r.order[i], heat, options))
            rc = add_stream(profile, &finder, &r, r.order[i]);
    profile->total += r.lengths[0];
    if (profile->count)
        qsort(profile->streams, profile->count, sizeof *profile->streams, by_heat);
    finder_clear(&finder);
    ranking_clear(&r);
    return rc;
}

void hot_cut(struct hot_profile *profile, const struct hot_options *options)
{
    size_t kept = 0;
    for (double covered = 0; kept < profile->count && covered < options->cover * (double)profile->total;
         kept++)
        covered += (double)heat_of(&profile->streams[kept]);
    for (size_t i = kept; i < profile->count; i++)
        free(profile->streams[i].symbols);
    profile->count = kept;
}

void hot_clear(struct hot_profile *profile)
{
    for (size_t i = 0; i < profile->count; i++)
        free(profile->streams[i].symbols);
    free(profile->streams);
    *profile = (struct hot_profile){0};
}

/* Overlap ----------------------------------------------------------------------------------------------------- */

/* Heat by what streams are named: for each stream, at the first one that is named the same. */
static void sum_heat(const struct hot_profile *profile, const uint32_t *names, const struct finder *finder,
                     const struct hot_profile *of, const uint32_t *of_names, double *heat)
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
    struct finder finder;
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
