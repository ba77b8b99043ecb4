#include "api/streams/kinds.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/sort.h"
#include "base/vec.h"

/* An instruction with the kind of object that it refers to: objects of one symbol, or allocated on one path, are of one kind. */
static uint64_t class_of(const struct found *f, uint32_t symbol)
{
    const struct found_symbol *s = &f->symbols[symbol];
    uint64_t hash = hash_u64((uintptr_t)s->site);
    if (s->object == FOUND_NONE)
        return hash;
    const struct found_object *o = &f->objects[s->object];
    hash = hash_u64(hash + o->kind + 1);
    return hash_u64(hash ^ (o->kind == FOUND_SYMBOL ? (uintptr_t)o->name : (uint64_t)o->path));
}

/* Does not depend on the order of the classes, nor on how often each occurs. classes: buffer for the longest stream. */
static uint64_t kind_of(const struct found *f, const struct hot_stream *s, uint64_t *classes)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < s->length; i++)
        classes[i] = class_of(f, s->symbols[i]);
    sort_numbers(classes, s->length);
    for (uint32_t i = 0; i < s->length; i++)
        if (!i || classes[i] != classes[i - 1])
            hash = hash_u64(hash ^ classes[i]);
    return hash;
}

static bool add_stream(const struct found *f, uint32_t stream, struct table *index, uint64_t *classes,
                       struct stream_kinds *out)
{
    const struct hot_stream *s = &f->hot.streams[stream];
    uint64_t *known = table_put(index, kind_of(f, s, classes), NULL);
    if (!known)
        return false;
    if (!*known) {
        if (!vec_push(out->list, out->count, out->capacity, (struct stream_kind){.first = stream}))
            return false;
        *known = out->count;
    }
    struct stream_kind *kind = &out->list[*known - 1];
    kind->streams++;
    kind->heat += s->length * s->occurrences;
    out->of[stream] = kind->first; /* sort_kinds() makes it the index */
    return true;
}

static int by_heat(const void *a, const void *b)
{
    const struct stream_kind *x = a, *y = b;
    if (x->heat != y->heat)
        return x->heat < y->heat ? 1 : -1;
    return (x->first > y->first) - (x->first < y->first);
}

static int sort_kinds(struct stream_kinds *out, size_t streams)
{
    uint32_t *places = calloc(streams + 1, sizeof *places);
    if (!places)
        return -ENOMEM;
    if (out->count)
        qsort(out->list, out->count, sizeof *out->list, by_heat);
    for (size_t i = 0; i < out->count; i++)
        places[out->list[i].first] = (uint32_t)i;
    for (size_t i = 0; i < streams; i++)
        out->of[i] = places[out->of[i]];
    free(places);
    return 0;
}

int stream_kinds_find(const struct found *f, struct stream_kinds *out)
{
    struct table *index = table_new();
    uint64_t *classes = malloc(HOT_LONGEST * sizeof *classes);
    *out = (struct stream_kinds){.of = calloc(f->hot.count + 1, sizeof *out->of)};
    bool ok = index && classes && out->of;
    for (uint32_t i = 0; ok && i < f->hot.count; i++)
        ok = add_stream(f, i, index, classes, out);
    table_free(index);
    free(classes);
    return ok ? sort_kinds(out, f->hot.count) : -ENOMEM;
}

void stream_kinds_clear(struct stream_kinds *k)
{
    free(k->list);
    free(k->of);
    *k = (struct stream_kinds){0};
}
