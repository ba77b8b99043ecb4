/* streams.c - writes the hot streams of a trace, and compares those of two traces. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "api/fathom-streams.h"
#include "api/host.h"
#include "api/streams/lines.h"
#include "base/arena.h"
#include "base/hash.h"
#include "image/name.h"
#include "streams/walks.h"

struct reading {
    struct host host;
    struct image_cache *images;
    struct found found;
    enum found_of of;
};

static const struct hot_options compared = {.shortest = 10, .longest = 40, .cover = 0.9, .fewest = 2};

static struct hot_options hot_options_of(const struct fathom_streams_options *o)
{
    return (struct hot_options){.shortest = o->shortest > HOT_LONGEST ? HOT_LONGEST : (uint32_t)o->shortest,
                                .longest = o->longest > HOT_LONGEST ? HOT_LONGEST : (uint32_t)o->longest,
                                .cover = o->cover / 100};
}

static void reading_clear(struct reading *r)
{
    found_clear(&r->found);
    image_cache_free(r->images);
}

/* The caller clears *r even after an error. o: NULL: with the options for a comparison. */
static int read_trace(const char *directory, const struct fathom_streams_options *o,
                      const struct fathom_listener *listener, struct reading *r, struct fathom_error *err)
{
    const struct hot_options options = o ? hot_options_of(o) : compared;
    *r = (struct reading){.of = !o || o->of == FATHOM_STREAMS_DATA ? FOUND_DATA : FOUND_CODE};
    host_init(&r->host, listener);
    r->images = image_cache_new(&(struct image_options){.log = &r->host.log});
    if (!r->images)
        return error_memory(err);
    host_status(&r->host, "finding streams");
    int rc = (o ? found_streams : found_by_place)(directory, r->of, &options, r->images, &r->host.log,
                                                  &r->found, err);
    if (rc == 0 && !r->found.hot.total)
        rc = error_set(err, ENODATA, "%s has no %s: log them with 'fathom trace --log %s'", directory,
                       r->of == FOUND_DATA ? "loads and stores" : "calls and no blocks",
                       r->of == FOUND_DATA ? "loads,stores" : "calls");
    return rc;
}

/* Output ------------------------------------------------------------------------------------------------ */

struct showing {
    struct reading *reading;
    struct stream_kinds kinds;
    struct arena *arena; /* of `shown` */
    struct shown_streams shown;
};

static const char *shown_name(struct showing *w, const struct found_symbol *s)
{
    char name[4096];
    const struct image *image = s->image->original ? s->image->original : s->image->code;
    if (image)
        name_at(image, s->site->address, name, sizeof name);
    else
        name_format(s->image->path, NULL, s->site->address, name, sizeof name);
    return arena_strdup(w->arena, name);
}

static bool show_step(struct showing *w, uint32_t symbol, struct shown_step *out)
{
    const struct found_symbol *s = &w->reading->found.symbols[symbol];
    struct line_frame frames[16];
    struct lines *lines = s->image->original
                              ? image_cache_lines(w->reading->images, s->image->original, IMAGE_LINES_ANY)
                              : NULL;
    size_t count = lines ? lines_at(lines, s->site->address, frames, 16) : 0;
    *out = (struct shown_step){.function = shown_name(w, s),
                               .file = count ? frames[0].file : NULL,
                               .line = count ? frames[0].line : 0,
                               .image = s->image->path,
                               .address = s->site->address,
                               .load = s->site->load,
                               .store = s->site->store,
                               .size = s->site->size,
                               .object = SHOWN_NO_OBJECT,
                               .offset = s->offset};
    return out->function;
}

static bool show_object(struct showing *w, uint32_t object, struct shown_object *out)
{
    static const enum shown_kind kinds[] = {[FOUND_HEAP] = SHOWN_HEAP,
                                            [FOUND_SYMBOL] = SHOWN_SYMBOL,
                                            [FOUND_STACK] = SHOWN_STACK,
                                            [FOUND_OTHER] = SHOWN_OTHER};
    const struct found_object *o = &w->reading->found.objects[object];
    char name[4096];
    *out = (struct shown_object){.kind = kinds[o->kind], .start = o->start, .size = o->size};
    if (o->path != FOUND_NONE)
        out->path = names_text(w->reading->found.paths, o->path);
    if (!o->name)
        return true;
    name_format(o->image, o->name, 0, name, sizeof name);
    out->name = arena_strdup(w->arena, name);
    return out->name;
}

/* Numbers an object within the stream, when it first occurs. false: out of memory. */
static bool number_object(struct showing *w, struct shown_stream *s, struct table *numbers, uint32_t object,
                          uint32_t *out)
{
    bool added;
    uint64_t *number = table_put(numbers, object, &added);
    if (!number)
        return false;
    if (added) {
        *number = s->object_count;
        if (!show_object(w, object, &s->objects[s->object_count++]))
            return false;
    }
    *out = (uint32_t)*number;
    return true;
}

static bool show_steps(struct showing *w, const struct hot_stream *hot, struct shown_stream *s)
{
    struct table *numbers = table_new();
    s->steps = arena_alloc(w->arena, hot->length * sizeof *s->steps);
    s->objects = arena_alloc(w->arena, hot->length * sizeof *s->objects);
    bool ok = numbers && s->steps && s->objects;
    for (uint32_t i = 0; ok && i < hot->length; i++) {
        uint32_t object = w->reading->found.symbols[hot->symbols[i]].object;
        ok = show_step(w, hot->symbols[i], &s->steps[i]) &&
             (object == FOUND_NONE || number_object(w, s, numbers, object, &s->steps[i].object));
        s->step_count++;
    }
    table_free(numbers);
    return ok;
}

static bool show_paths(struct showing *w, const struct found_walks *walks, struct shown_stream *s)
{
    s->paths = arena_alloc(w->arena, walks->count * sizeof *s->paths + 1);
    for (size_t i = 0; s->paths && i < walks->count; i++) {
        uint32_t path = walks->list[i].path;
        s->paths[s->path_count++] = (struct shown_path){
            path == FOUND_NONE ? NULL : names_text(w->reading->found.paths, path), walks->list[i].count};
    }
    return s->paths;
}

static bool show_stream(struct showing *w, uint32_t number, const struct found_walks *walks)
{
    const struct stream_kind *kind = &w->kinds.list[number];
    const struct found *f = &w->reading->found;
    const struct hot_stream *hot = &f->hot.streams[kind->first];
    struct shown_stream *s = &w->shown.list[number];
    size_t objects;
    *s = (struct shown_stream){.length = hot->length,
                               .occurrences = hot->occurrences,
                               .alike = kind->streams,
                               .alike_heat = kind->heat};
    return show_steps(w, hot, s) && show_paths(w, walks, s) &&
           stream_lines(f, NULL, kind->first, &s->lines, &objects) == 0 &&
           stream_lines(f, &w->kinds, number, &s->alike_lines, &s->alike_objects) == 0;
}

static void show_totals(struct showing *w)
{
    const struct found *f = &w->reading->found;
    const struct trace_counts *counts = trace_counts(f->trace);
    w->shown.data = w->reading->of == FOUND_DATA;
    w->shown.references = f->hot.total;
    w->shown.streams = f->hot.count;
    w->shown.kinds = w->kinds.count;
    w->shown.bursts = counts->bursts;
    w->shown.unknown = counts->unknown;
    w->shown.lost = counts->lost;
    w->shown.hot = hot_heat(&f->hot);
}

static int show_streams(struct showing *w, uint64_t rows, struct fathom_error *err)
{
    struct found *f = &w->reading->found;
    if (stream_kinds_find(f, &w->kinds) < 0)
        return error_memory(err);
    show_totals(w); /* walks_find() reads the trace again */
    size_t count = rows && rows < w->kinds.count ? (size_t)rows : w->kinds.count;
    uint32_t *streams = calloc(count + 1, sizeof *streams);
    struct found_walks *walks = calloc(count + 1, sizeof *walks);
    w->arena = arena_new(0);
    w->shown.list = w->arena ? arena_alloc(w->arena, count * sizeof *w->shown.list + 1) : NULL;
    int rc = streams && walks && w->shown.list ? 0 : error_memory(err);
    for (size_t i = 0; rc == 0 && i < count; i++)
        streams[i] = w->kinds.list[i].first;
    if (rc == 0)
        rc = walks_find(f, w->reading->of, streams, count, walks, err);
    for (; rc == 0 && w->shown.count < count; w->shown.count++)
        if (!show_stream(w, (uint32_t)w->shown.count, &walks[w->shown.count]))
            rc = error_memory(err);
    for (size_t i = 0; walks && i < count; i++)
        free(walks[i].list);
    free(walks);
    free(streams);
    return rc;
}

int fathom_streams_write(const struct fathom_streams_options *o, const struct fathom_listener *listener,
                         FILE *out, struct fathom_error *err)
{
    struct reading reading;
    struct showing showing = {.reading = &reading, .shown = {.width = o->width}};
    int rc = read_trace(o->trace, o, listener, &reading, err);
    if (rc == 0)
        rc = show_streams(&showing, o->rows, err);
    if (rc == 0)
        rc = o->format == FATHOM_STREAMS_JSON   ? streams_json_write(&showing.shown, out, err)
             : o->format == FATHOM_STREAMS_HTML ? streams_html_write(&showing.shown, out, err)
                                                : streams_text_write(&showing.shown, out, err);
    stream_kinds_clear(&showing.kinds);
    arena_free(showing.arena);
    reading_clear(&reading);
    return rc;
}

/* Comparison --------------------------------------------------------------------------------------------------- */

static void print_profile(const char *which, const struct hot_profile *p, FILE *out)
{
    fprintf(out, "%s %" PRIu64 " references, %zu hot streams are %.1f%% of them\n", which, p->total, p->count,
            100 * (double)hot_heat(p) / (double)p->total);
}

static int print_overlap(const struct reading *a, const struct reading *b, FILE *out,
                         struct fathom_error *err)
{
    double overlap;
    if (hot_overlap(&a->found.hot, &b->found.hot, &overlap) < 0)
        return error_memory(err);
    print_profile("first:  ", &a->found.hot, out);
    print_profile("second: ", &b->found.hot, out);
    fprintf(out, "overlap: %.1f%%\n", 100 * overlap);
    return fflush(out) == 0 ? 0 : error_system(err, errno, "cannot write the comparison");
}

int fathom_streams_compare(const char *first, const char *second, const struct fathom_listener *listener,
                           FILE *out, struct fathom_error *err)
{
    struct reading a = {0}, b = {0};
    int rc = read_trace(first, NULL, listener, &a, err);
    if (rc == 0)
        rc = read_trace(second, NULL, listener, &b, err);
    if (rc == 0)
        rc = print_overlap(&a, &b, out, err);
    reading_clear(&a);
    reading_clear(&b);
    return rc;
}
