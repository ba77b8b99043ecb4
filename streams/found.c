/* found.c - see found.h. */
#include "streams/found.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "image/name.h"
#include "streams/rules.h"
#include "streams/scan.h"

#define PIECE     20000000u /* symbols for which there is one grammar */
#define PATH_ROOM 16384     /* bytes of a path as text */

static uint64_t mix(uint64_t a, uint64_t b)
{
    return hash_u64(a + 0x9e3779b97f4a7c15u) ^ hash_u64(b * 3 + 1);
}

static uint64_t process_key(const struct trace_process *process)
{
    return (uint64_t)process->pid << 32 | process->number;
}

/* Paths -------------------------------------------------------------------------------------------------------- */

static void name_frame(const struct trace_process *process, uint64_t pc, char *out, size_t size)
{
    struct place place;
    uint64_t address;
    if (!places_at(process->places, pc - 1, &place) || !place.image || !place.image->code) {
        snprintf(out, size, "0x%llx", (unsigned long long)pc);
        return;
    }
    const struct image *image = traced_function(place.image, place.address, &address);
    uint32_t function = image_function_at(image, address);
    if (function != IMAGE_NO_FUNCTION)
        image_function_format(image, function, out, size);
    else
        name_format(image_path(image), NULL, address, out, size);
}

/* From main() on: what is above it is the same for all. */
static uint32_t write_path(struct found *f, const struct trace_process *process,
                           const struct process_path *noted)
{
    char text[PATH_ROOM], name[1024];
    size_t used = noted->cut ? strlen(strcpy(text, "...")) : 0;
    text[used] = 0;
    for (size_t i = noted->depth; i-- > 0;) {
        name_frame(process, noted->pcs[i], name, sizeof name);
        bool starts = strcmp(name, "__libc_start_call_main") == 0, begins = strcmp(name, "main") == 0;
        used = starts || begins ? 0 : used;
        if (starts && i) /* main() has no name in a stripped program */
            continue;
        int n = snprintf(text + used, sizeof text - used, "%s%s", used ? FOUND_ARROW : "", name);
        if (n < 0 || (size_t)n >= sizeof text - used)
            break;
        used += (size_t)n;
    }
    return names_intern(f->paths, text);
}

/* Of a path of the process; *path is FOUND_NONE if it is unknown. */
static int find_path(struct found *f, const struct trace_process *process, uint64_t id, uint32_t *path)
{
    const struct process_path *noted = process->noted ? process_file_path(process->noted, id) : NULL;
    *path = FOUND_NONE;
    if (!noted || !noted->depth)
        return 0;
    uint64_t *known = table_put(f->path_index, mix(process_key(process), id), NULL);
    if (!known)
        return -ENOMEM;
    if (!*known) {
        uint32_t made = write_path(f, process, noted);
        if (made == NAMES_NONE)
            return -ENOMEM;
        *known = 1 + (uint64_t)made;
    }
    *path = (uint32_t)*known - 1;
    return 0;
}

/* Objects ------------------------------------------------------------------------------------------------------ */

/* What is at an address of a process, and by what it is known again. */
static int describe(struct found *f, const struct trace_process *process, uint64_t datum,
                    struct found_object *out, uint64_t *key)
{
    const struct process_object *heap = process->noted ? process_file_find(process->noted, datum) : NULL;
    struct place place = {.region = ""};
    *out = (struct found_object){.pid = process->pid, .path = FOUND_NONE};
    if (heap) {
        out->kind = FOUND_HEAP;
        out->start = heap->start;
        out->size = heap->size;
        *key = mix(mix(process_key(process), FOUND_HEAP), heap->serial);
        return find_path(f, process, heap->path, &out->path);
    }
    places_at(process->places, datum, &place);
    const struct object *object = place.image ? traced_object(place.image, place.address) : NULL;
    out->kind = object ? FOUND_SYMBOL : strncmp(place.region, "[stack", 6) == 0 ? FOUND_STACK : FOUND_OTHER;
    out->start = object ? datum - (place.address - object->address) : datum / FOUND_WORD * FOUND_WORD;
    out->size = object ? object->size : FOUND_WORD;
    out->name = object ? object->name : NULL;
    out->image = place.image ? place.image->path : NULL;
    *key = mix(mix(process_key(process), out->kind), out->start);
    return 0;
}

static int find_object(struct found *f, const struct trace_process *process, uint64_t datum, uint32_t *object)
{
    struct found_object described;
    uint64_t key;
    int rc = describe(f, process, datum, &described, &key);
    if (rc < 0)
        return rc;
    uint64_t *known = table_put(f->object_index, key, NULL);
    if (!known)
        return -ENOMEM;
    if (!*known) {
        if (f->object_count == FOUND_NONE ||
            !vec_push(f->objects, f->object_count, f->object_capacity, described))
            return -ENOMEM;
        *known = f->object_count;
    }
    *object = (uint32_t)*known - 1;
    return 0;
}

/* Symbols ------------------------------------------------------------------------------------------------------ */

/* By what its instruction is known in another trace: that of the file as it was. */
static uint64_t instruction_of(const struct trace_event *e)
{
    uint64_t hash = e->site->address;
    for (const char *c = e->image->path; *c; c++)
        hash = hash_u64(hash) + (uint8_t)*c;
    return mix(hash, (uint64_t)e->site->load << 1 | e->site->store);
}

static int find_symbol(struct found *f, const struct trace_event *e, uint32_t *out)
{
    struct found_symbol symbol = {.image = e->image, .site = e->site, .object = FOUND_NONE};
    int rc = e->datum ? find_object(f, e->process, e->datum, &symbol.object) : 0;
    if (rc < 0)
        return rc;
    if (symbol.object != FOUND_NONE)
        symbol.offset = e->datum - f->objects[symbol.object].start;
    uint64_t key = mix(mix((uintptr_t)symbol.site, symbol.object), symbol.offset);
    uint64_t *known = table_put(f->symbol_index, key, NULL);
    if (!known)
        return -ENOMEM;
    if (!*known) {
        if (f->symbol_count == SEQUITUR_BREAK ||
            !vec_push(f->symbols, f->symbol_count, f->symbol_capacity, symbol))
            return -ENOMEM;
        *known = f->symbol_count;
    }
    *out = (uint32_t)*known - 1;
    return 0;
}

static bool is_of(const struct trace_event *e, enum found_of of)
{
    return (e->site->load || e->site->store) == (of == FOUND_DATA);
}

/* Streams ------------------------------------------------------------------------------------------------------ */

struct finder {
    struct sequitur *grammar; /* NULL: streams are found by place */
    struct hot_scan *scan;
    uint64_t pushed;
};

static int end_piece(struct found *f, struct finder *finder, const struct hot_options *options)
{
    int rc = rules_add(&f->hot, finder->grammar, options);
    sequitur_free(finder->grammar);
    finder->grammar = sequitur_new();
    return rc == 0 && !finder->grammar ? -ENOMEM : rc;
}

/* The name of its instruction, which is hashed once. */
static int find_name(struct found *f, const struct trace_event *e, uint32_t *name)
{
    uint64_t *known = table_put(f->symbol_index, (uintptr_t)e->site, NULL);
    if (!known)
        return -ENOMEM;
    if (!*known)
        *known = 1 + (instruction_of(e) & UINT32_MAX);
    *name = (uint32_t)(*known - 1);
    return 0;
}

static int push_by_place(struct found *f, const struct trace_event *e, struct hot_scan *scan)
{
    uint32_t name;
    if (e->what != TRACE_REFERENCE)
        return scan_break(scan);
    int rc = find_name(f, e, &name);
    return rc == 0 ? scan_push(scan, name, e->site->address) : rc;
}

/* By place, streams begin by the instructions' addresses in the files as they were: at the same ones in each run. */
static int push(struct found *f, enum found_of of, const struct trace_event *e, struct finder *finder)
{
    uint32_t symbol = SEQUITUR_BREAK;
    if (e->what == TRACE_PATH || (e->what == TRACE_REFERENCE && !is_of(e, of)))
        return 0;
    if (!finder->grammar)
        return push_by_place(f, e, finder->scan);
    int rc = e->what == TRACE_REFERENCE ? find_symbol(f, e, &symbol) : 0;
    return rc == 0 ? sequitur_push(finder->grammar, symbol) : rc;
}

static int read_all(struct found *f, enum found_of of, const struct hot_options *options,
                    struct finder *finder, struct fathom_error *err)
{
    struct trace_event event;
    int rc = 1;
    while (rc > 0 && (rc = trace_next(f->trace, &event, err)) > 0) {
        rc = push(f, of, &event, finder);
        if (rc == 0 && finder->grammar && ++finder->pushed % PIECE == 0)
            rc = end_piece(f, finder, options);
        rc = rc < 0 ? rc : 1;
    }
    if (rc == 0)
        rc = finder->grammar ? end_piece(f, finder, options) : scan_break(finder->scan);
    return rc == -ENOMEM ? error_memory(err) : rc;
}

static int find_all(const char *directory, enum found_of of, const struct hot_options *options,
                    struct finder *finder, struct image_cache *cache, const struct log *log,
                    struct found *out, struct fathom_error *err)
{
    if (!out->paths || !out->object_index || !out->symbol_index || !out->path_index ||
        (!finder->grammar && !finder->scan))
        return error_memory(err);
    int rc = trace_open(directory, cache, log, &out->trace, err);
    if (rc == 0)
        rc = read_all(out, of, options, finder, err);
    if (rc == 0)
        hot_cut(&out->hot, options);
    return rc;
}

static struct found found_new(void)
{
    return (struct found){.paths = names_new(),
                          .object_index = table_new(),
                          .symbol_index = table_new(),
                          .path_index = table_new()};
}

int found_streams(const char *directory, enum found_of of, const struct hot_options *options,
                  struct image_cache *cache, const struct log *log, struct found *out,
                  struct fathom_error *err)
{
    struct finder finder = {.grammar = sequitur_new()};
    *out = found_new();
    int rc = find_all(directory, of, options, &finder, cache, log, out, err);
    sequitur_free(finder.grammar);
    return rc;
}

int found_by_place(const char *directory, enum found_of of, const struct hot_options *options,
                   struct image_cache *cache, const struct log *log, struct found *out,
                   struct fathom_error *err)
{
    *out = found_new();
    struct finder finder = {.scan = scan_new(&out->hot, options)};
    int rc = find_all(directory, of, options, &finder, cache, log, out, err);
    scan_free(finder.scan);
    return rc;
}

void found_clear(struct found *f)
{
    hot_clear(&f->hot);
    table_free(f->object_index);
    table_free(f->symbol_index);
    table_free(f->path_index);
    names_free(f->paths);
    free(f->objects);
    free(f->symbols);
    trace_close(f->trace);
    *f = (struct found){0};
}

/* Walks -------------------------------------------------------------------------------------------------------- */

#define WALK_FUNCTIONS 8u /* of a stream that are looked for in a path */

struct walker { /* of a stream */
    const struct hot_stream *stream;
    uint32_t at;         /* symbols of it that were seen in a row */
    bool waits;          /* a path was noted since the last walk that counted */
    uint32_t path, down; /* a path, and its part down to a function; FOUND_NONE: none of them is on it */
    size_t which;        /* of the names, that function's */
    char *names[WALK_FUNCTIONS]; /* of the functions of its symbols, in their order */
    size_t name_count;
    struct found_walks others; /* down to another function than the first one */
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

/* Where the innermost function of this name ends in a path; NULL: it is not on it. */
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

/* The part of a path down to the first of the walker's functions that is on it. */
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

/* Whether the walker reached the end of its stream by this symbol. */
static bool walk(struct walker *w, uint32_t symbol)
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
            rc = find_path(f, e.process, e.path, &path);
            for (size_t i = 0; i < count; i++) {
                walkers[i].waits = true;
                walkers[i].at = e.what == TRACE_BURST ? 0 : walkers[i].at;
            }
        } else {
            rc = is_of(&e, of) ? find_symbol(f, &e, &symbol) : 1;
            for (size_t i = 0; rc == 0 && i < count; i++)
                if (walk(&walkers[i], symbol))
                    rc = count_walk(f, &walkers[i], path, &walks[i]);
        }
        if (rc < 0)
            return error_memory(err);
    }
    return rc;
}

/* Paths down to other functions are told only if there are none down to the first. */
static void walker_end(struct walker *w, struct found_walks *walks)
{
    for (size_t i = 0; i < w->name_count; i++)
        free(w->names[i]);
    if (walks->count)
        free(w->others.list);
    else
        *walks = w->others;
    if (walks->count)
        qsort(walks->list, walks->count, sizeof *walks->list, by_count);
}

int found_paths(struct found *f, enum found_of of, const uint32_t *streams, size_t count,
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
