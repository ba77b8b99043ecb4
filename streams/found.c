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

#define PIECE     20000000u /* symbols per grammar */
#define PATH_ROOM 16384     /* bytes of a path as text */

static uint64_t mix_hashes(uint64_t a, uint64_t b)
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
    name_at(image, address, out, size);
}

/* Writes a path from main() on: what is above main() is the same for all. */
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

/* Looks up a path of the process; *path is FOUND_NONE if it is unknown. */
int found_path(struct found *f, const struct trace_process *process, uint64_t id, uint32_t *path)
{
    const struct process_path *noted = process->noted ? process_file_path(process->noted, id) : NULL;
    *path = FOUND_NONE;
    if (!noted || !noted->depth)
        return 0;
    uint64_t *known = table_put(f->path_index, mix_hashes(process_key(process), id), NULL);
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

/* Describes what is at an address of a process; *key identifies it. */
static int describe_datum(struct found *f, const struct trace_process *process, uint64_t datum,
                          struct found_object *out, uint64_t *key)
{
    const struct process_object *heap = process->noted ? process_file_find(process->noted, datum) : NULL;
    struct place place = {.region = ""};
    *out = (struct found_object){.process = process_key(process), .path = FOUND_NONE};
    if (heap) {
        out->kind = FOUND_HEAP;
        out->start = heap->start;
        out->size = heap->size;
        *key = mix_hashes(mix_hashes(process_key(process), FOUND_HEAP), heap->serial);
        return found_path(f, process, heap->path, &out->path);
    }
    places_at(process->places, datum, &place);
    const struct object *object = place.image ? traced_object(place.image, place.address) : NULL;
    out->kind = object ? FOUND_SYMBOL : strncmp(place.region, "[stack", 6) == 0 ? FOUND_STACK : FOUND_OTHER;
    out->start = object ? datum - (place.address - object->address) : datum / FOUND_WORD * FOUND_WORD;
    out->size = object ? object->size : FOUND_WORD;
    out->name = object ? object->name : NULL;
    out->image = place.image ? place.image->path : NULL;
    *key = mix_hashes(mix_hashes(process_key(process), out->kind), out->start);
    return 0;
}

static int find_object(struct found *f, const struct trace_process *process, uint64_t datum, uint32_t *object)
{
    struct found_object described;
    uint64_t key;
    int rc = describe_datum(f, process, datum, &described, &key);
    if (rc < 0)
        return rc;
    const size_t place =
        table_index(f->object_index, key, f->objects, f->object_count, f->object_capacity, described);
    *object = (uint32_t)place;
    return place >= FOUND_NONE ? -ENOMEM : 0;
}

/* Symbols ------------------------------------------------------------------------------------------------------ */

/* Identifies the event's instruction in any trace: its address in the original file. */
static uint64_t instruction_of(const struct trace_event *e)
{
    uint64_t hash = e->site->address;
    for (const char *c = e->image->path; *c; c++)
        hash = hash_u64(hash) + (uint8_t)*c;
    return mix_hashes(hash, (uint64_t)e->site->load << 1 | e->site->store);
}

int found_symbol(struct found *f, const struct trace_event *e, uint32_t *out)
{
    struct found_symbol symbol = {.image = e->image, .site = e->site, .object = FOUND_NONE};
    int rc = e->datum ? find_object(f, e->process, e->datum, &symbol.object) : 0;
    if (rc < 0)
        return rc;
    if (symbol.object != FOUND_NONE)
        symbol.offset = e->datum - f->objects[symbol.object].start;
    uint64_t key = mix_hashes(mix_hashes((uintptr_t)symbol.site, symbol.object), symbol.offset);
    const size_t place =
        table_index(f->symbol_index, key, f->symbols, f->symbol_count, f->symbol_capacity, symbol);
    *out = (uint32_t)place;
    return place >= SEQUITUR_BREAK ? -ENOMEM : 0;
}

bool found_is_of(const struct trace_event *e, enum found_of of)
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

/* The name of the event's instruction, which is hashed only once. */
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

/* Adds an event. By place, streams begin by the instructions' addresses in the original files, which are the same
 * in each run. */
static int push_event(struct found *f, enum found_of of, const struct trace_event *e, struct finder *finder)
{
    uint32_t symbol = SEQUITUR_BREAK;
    if (e->what == TRACE_PATH || (e->what == TRACE_REFERENCE && !found_is_of(e, of)))
        return 0;
    if (!finder->grammar)
        return push_by_place(f, e, finder->scan);
    int rc = e->what == TRACE_REFERENCE ? found_symbol(f, e, &symbol) : 0;
    return rc == 0 ? sequitur_push(finder->grammar, symbol) : rc;
}

static int read_all(struct found *f, enum found_of of, const struct hot_options *options,
                    struct finder *finder, struct fathom_error *err)
{
    struct trace_event event;
    int rc = 1;
    while (rc > 0 && (rc = trace_next(f->trace, &event, err)) > 0) {
        rc = push_event(f, of, &event, finder);
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
