#include "api/streams/lines.h"

#include <errno.h>

#include "base/hash.h"

struct touched {
    struct table *lines, *words; /* addresses combined with the process */
    struct table *pieces;        /* lines of each object; a shared line counts for both objects */
    struct table *objects;       /* object -> its bytes that count */
    uint64_t bytes;              /* sum of these */
};

static uint64_t divide_up(uint64_t bytes)
{
    return (bytes + STREAMS_LINE - 1) / STREAMS_LINE;
}

/* Counts another touched line of an object. Of a larger object, only the touched lines would have to be moved. */
static bool touch_piece(struct touched *t, uint32_t object, uint64_t size)
{
    uint64_t *counted = table_put(t->objects, object, NULL);
    if (!counted)
        return false;
    uint64_t more = size - *counted < STREAMS_LINE ? size - *counted : STREAMS_LINE;
    *counted += more;
    t->bytes += more;
    return true;
}

static bool touch_words(const struct found *f, uint32_t symbol, struct touched *t)
{
    const struct found_symbol *s = &f->symbols[symbol];
    if (s->object == FOUND_NONE)
        return true;
    const struct found_object *o = &f->objects[s->object];
    uint64_t from = o->start + s->offset, size = s->site->size ? s->site->size : 1,
             process = hash_u64(o->process);
    bool ok = true;
    for (uint64_t at = from / FOUND_WORD; ok && at <= (from + size - 1) / FOUND_WORD; at++) {
        uint64_t line = at * FOUND_WORD / STREAMS_LINE, piece = line - o->start / STREAMS_LINE;
        bool added = false;
        ok = table_put(t->words, process ^ at, NULL) && table_put(t->lines, process ^ line, NULL) &&
             table_put(t->pieces, (uint64_t)s->object << 32 ^ piece, &added) &&
             (!added || touch_piece(t, s->object, o->size));
    }
    return ok;
}

int stream_lines(const struct found *f, const struct stream_kinds *kinds, uint32_t which,
                 struct shown_lines *lines, size_t *objects)
{
    struct touched t = {table_new(), table_new(), table_new(), table_new(), 0};
    bool ok = t.lines && t.words && t.pieces && t.objects;
    for (uint32_t i = kinds ? 0 : which; ok && i < (kinds ? f->hot.count : which + 1); i++) {
        const struct hot_stream *s = &f->hot.streams[i];
        for (uint32_t k = 0; ok && (!kinds || kinds->of[i] == which) && k < s->length; k++)
            ok = touch_words(f, s->symbols[k], &t);
    }
    if (ok) {
        uint64_t touched = table_count(t.lines), together = divide_up(t.bytes);
        *lines = (struct shown_lines){.touched = touched,
                                      .together = together < touched ? together : touched,
                                      .used = divide_up(table_count(t.words) * FOUND_WORD)};
        *objects = table_count(t.objects);
    }
    table_free(t.lines);
    table_free(t.words);
    table_free(t.pieces);
    table_free(t.objects);
    return ok ? 0 : -ENOMEM;
}
