/* walks.c - see walks.h. */
#include "streams/walks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/sort.h"
#include "base/vec.h"

#define WALK_FUNCTIONS 8u /* functions of a stream that are searched for in a path */

struct walker { /* state of a stream */
    const struct hot_stream *stream;
    uint32_t at;         /* number of its symbols that were seen in a row */
    bool waits;          /* a path came since the last walk that counted */
    uint32_t path, down; /* a path, and its part down to a function; FOUND_NONE: no function is on it */
    size_t which;        /* index of that function in `names` */
    char *names[WALK_FUNCTIONS]; /* the functions of its symbols, in order */
    size_t name_count;
    struct found_walks others; /* walks down to functions other than the first */
};

static bool note_walk(struct found_walks *walks, uint32_t path)
{
    size_t capacity = walks->count;
    for (size_t i = 0; i < walks->count; i++)
        if (walks->list[i].path == path)
            return ++walks->list[i].count;
    return vec_push(walks->list, walks->count, capacity, (struct found_walk){path, 1});
}

static bool has_name(const struct walker *w, const char *name)
{
    for (size_t i = 0; i < w->name_count; i++)
        if (strcmp(w->names[i], name) == 0)
            return true;
    return false;
}

static bool name_functions(const struct found *f, struct walker *w)
{
    const struct image *last_image = NULL;
    uint32_t last = IMAGE_NO_FUNCTION;
    char name[1024];
    w->path = w->down = FOUND_NONE;
    for (uint32_t i = 0; i < w->stream->length && w->name_count < WALK_FUNCTIONS; i++) {
        const struct found_symbol *s = &f->symbols[w->stream->symbols[i]];
        const struct image *image = s->image->original ? s->image->original : s->image->code;
        uint32_t function = image ? image_function_at(image, s->site->address) : IMAGE_NO_FUNCTION;
        if (function == IMAGE_NO_FUNCTION || (function == last && image == last_image))
            continue;
        last = function;
        last_image = image;
        image_function_format(image, function, name, sizeof name);
        if (has_name(w, name))
            continue;
        if (!(w->names[w->name_count] = strdup(name)))
            return false;
        w->name_count++;
    }
    return true;
}

/* Where the innermost function of this name ends in a path; NULL: it is not on the path. */
static const char *find_in_path(const char *path, const char *name)
{
    const char *end = NULL;
    size_t length = strlen(name);
    for (const char *at = path, *next; at && *at && length; at = next) {
        next = strstr(at, FOUND_ARROW);
        if ((next ? (size_t)(next - at) : strlen(at)) == length && strncmp(at, name, length) == 0)
            end = at + length;
        next = next ? next + strlen(FOUND_ARROW) : NULL;
    }
    return end;
}

/* Finds the part of a path down to the first of the walker's functions that is on it. */
static int cut_path(struct found *f, struct walker *w, uint32_t path)
{
    const char *text = path == FOUND_NONE ? "" : names_text(f->paths, path), *end = NULL;
    w->path = path;
    w->down = FOUND_NONE;
    for (size_t i = 0; i < w->name_count && !end; i++) {
        end = find_in_path(text, w->names[i]);
        w->which = i;
    }
    if (!end)
        return 0;
    char *part = strndup(text, (size_t)(end - text));
    w->down = part ? names_intern(f->paths, part) : NAMES_NONE;
    free(part);
    return w->down == NAMES_NONE ? -ENOMEM : 0;
}

static int count_walk(struct found *f, struct walker *w, uint32_t path, struct found_walks *walks)
{
    if (!w->waits)
        return 0;
    w->waits = false;
    if (path != w->path && cut_path(f, w, path) < 0)
        return -ENOMEM;
    return w->down == FOUND_NONE || note_walk(w->which ? &w->others : walks, w->down) ? 0 : -ENOMEM;
}

/* Whether this symbol completes the walker's stream. */
static bool walk_symbol(struct walker *w, uint32_t symbol)
{
    if (w->stream->symbols[w->at] != symbol)
        w->at = w->stream->symbols[0] == symbol;
    else
        w->at++;
    if (w->at < w->stream->length)
        return false;
    w->at = 0;
    return true;
}

static int by_count(const void *a, const void *b)
{
    const struct found_walk *x = a, *y = b;
    return (x->count < y->count) - (x->count > y->count);
}

static int walk_all(struct found *f, enum found_of of, struct walker *walkers, size_t count,
                    struct found_walks *walks, struct fathom_error *err)
{
    struct trace_event e;
    uint32_t path = FOUND_NONE, symbol;
    int rc;
    while ((rc = trace_next(f->trace, &e, err)) > 0) {
        if (e.what != TRACE_REFERENCE) {
            rc = found_path(f, e.process, e.path, &path);
            for (size_t i = 0; i < count; i++) {
                walkers[i].waits = true;
                walkers[i].at = e.what == TRACE_BURST ? 0 : walkers[i].at;
            }
        } else {
            rc = found_is_of(&e, of) ? found_symbol(f, &e, &symbol) : 1;
            for (size_t i = 0; rc == 0 && i < count; i++)
                if (walk_symbol(&walkers[i], symbol))
                    rc = count_walk(f, &walkers[i], path, &walks[i]);
        }
        if (rc < 0)
            return error_memory(err);
    }
    return rc;
}

/* Paths down to other functions are only used if there are none down to the first. */
static void walker_end(struct walker *w, struct found_walks *walks)
{
    for (size_t i = 0; i < w->name_count; i++)
        free(w->names[i]);
    if (walks->count)
        free(w->others.list);
    else
        *walks = w->others;
    sort_with(walks->list, walks->count, by_count);
}

int walks_find(struct found *f, enum found_of of, const uint32_t *streams, size_t count,
               struct found_walks *walks, struct fathom_error *err)
{
    struct walker *walkers = calloc(count + 1, sizeof *walkers);
    if (!walkers)
        return error_memory(err);
    bool named = true;
    for (size_t i = 0; i < count; i++) {
        walkers[i].stream = &f->hot.streams[streams[i]];
        walks[i] = (struct found_walks){0};
        named = named && name_functions(f, &walkers[i]);
    }
    int rc = named ? walk_all(f, of, walkers, count, walks, err) : error_memory(err);
    for (size_t i = 0; i < count; i++)
        walker_end(&walkers[i], &walks[i]);
    free(walkers);
    return rc;
}
