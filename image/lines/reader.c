/*
 * reader.c - finds the compilation unit of an address, loads it at its first use and searches it; see
 * reader.h.
 *
 * The index of units is built from their own address ranges: .debug_aranges is optional, and clang omits it.
 */
#include "image/lines/reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/sort.h"
#include "base/vec.h"
#include "image/image_private.h"
#include "image/lines/files.h"
#include "image/lines/open_debug.h"
#include "image/lines/split.h"
#include "image/lines/unit.h"

/* Budget for lines_spend(): real files take 0.07 to 0.09 per byte for all of their lines and inlined functions. */
#define WORK_OF_ANY   (1u << 20) /* in addition to that for its bytes: some 50 ms */
#define SCOPES_A_WORK 256u       /* scopes searched for an address, per unit of work */

struct span {
    uint64_t low, high;
    uint32_t unit;
};

struct lines_reader {
    const struct image *image;
    struct lines_source source;
    struct lines_debug *debug, *shared; /* own those of `source` */
    struct lines_unit *units;
    size_t unit_count, unit_capacity;
    struct span *spans; /* by address */
    size_t span_count, span_capacity;
};

static int add_unit(struct lines_reader *lines, Dwarf_Die die, uint16_t version, const Dwarf_Sig8 *id)
{
    Dwarf_Off offset;
    Dwarf_Addr low;
    struct lines_ranges ranges = {0};
    if (dwarf_dieoffset(die, &offset, NULL) != DW_DLV_OK)
        return 0;
    if (dwarf_lowpc(die, &low, NULL) != DW_DLV_OK)
        low = 0;
    int rc = lines_ranges_read(
        &(struct lines_ranges_source){
            .source = &lines->source, .debug = lines->source.debug, .version = version, .low = low},
        die, &ranges);
    if (rc < 0 || ranges.count == 0)
        goto out;
    rc = -ENOMEM;
    if (!vec_reserve(lines->units, lines->unit_count, lines->unit_capacity, 1) ||
        !vec_reserve(lines->spans, lines->span_count, lines->span_capacity, ranges.count))
        goto out;
    rc = 0;
    for (size_t i = 0; i < ranges.count; i++)
        lines->spans[lines->span_count++] =
            (struct span){ranges.items[i].low, ranges.items[i].high, (uint32_t)lines->unit_count};
    struct lines_unit *unit = &lines->units[lines->unit_count++];
    *unit = (struct lines_unit){.offset = offset, .version = version};
    unit->split = lines_split_id(die, id, &unit->split_id);
    if (unit->split)
        lines_split_check(&lines->source, die, unit->split_id, version);
out:
    free(ranges.items);
    return rc;
}

static int index_units(struct lines_reader *lines)
{
    Dwarf_Unsigned length, type_offset, next;
    Dwarf_Half version, address_size, length_size, extension_size, type;
    Dwarf_Off abbreviations;
    Dwarf_Sig8 signature;
    int rc = 0, found = DW_DLV_NO_ENTRY;
    while (rc == 0 &&
           (found = dwarf_next_cu_header_d(lines->source.debug, 1, &length, &version, &abbreviations,
                                           &address_size, &length_size, &extension_size, &signature,
                                           &type_offset, &next, &type, NULL)) == DW_DLV_OK) {
        Dwarf_Die die;
        if (dwarf_siblingof_b(lines->source.debug, NULL, 1, &die, NULL) != DW_DLV_OK)
            continue;
        rc = add_unit(lines, die, version, &signature);
        dwarf_dealloc_die(die);
    }
    if (rc == 0 && found == DW_DLV_ERROR && !lines->source.lacks[0])
        snprintf(lines->source.lacks, sizeof lines->source.lacks,
                 "a part of its debug information is damaged");
    sort_by(lines->spans, lines->span_count, low);
    return rc || lines->span_count || found != DW_DLV_ERROR ? rc : -EBADMSG;
}

static void open_shared(struct lines_reader *lines, const char *path, const struct image_options *options)
{
    char *shared = image_shared_path(path, options);
    if (shared)
        lines->shared = lines_debug_open(shared, &lines->source.work);
    if (lines->shared) {
        lines->source.shared = lines->shared->dwarf;
        dwarf_set_tied_dbg(lines->source.debug, lines->source.shared, NULL);
    }
    free(shared);
}

void lines_reader_fetch(const struct image *image, const struct image_options *options)
{
    char *found;
    const char *path = image_lines_path(image, options, &found);
    if (path)
        free(image_shared_path(path, options));
    free(found);
}

int lines_reader_open(const struct image *image, const struct image_options *options,
                      struct lines_reader **out, struct fathom_error *err)
{
    char *found;
    const char *path = image_lines_path(image, options, &found);
    struct lines_reader *lines = NULL;
    if (!path) {
        free(found);
        return error_set(err, ENODATA, "%s has no debug information: install its debug symbols", image->path);
    }
    int rc = -ENOMEM;
    lines = calloc(1, sizeof *lines);
    if (!lines || !(lines->source.arena = arena_new(0)) || !(lines->source.names = table_new()))
        goto out;
    lines->image = image;
    lines->source.work = WORK_OF_ANY;
    lines->source.path = arena_strdup(lines->source.arena, path);
    lines->source.program = arena_strdup(lines->source.arena, image->path);
    if (!lines->source.path || !lines->source.program)
        goto out;
    lines->debug = lines_debug_open(path, &lines->source.work);
    if (!lines->debug) {
        rc = error_set(err, EBADMSG, "the debug information of %s cannot be read", path);
        goto out;
    }
    lines->source.debug = lines->debug->dwarf;
    open_shared(lines, path, options);
    rc = index_units(lines);
    rc = rc == 0 && lines_reader_damaged(lines) ? -EBADMSG : rc;
out:
    free(found);
    if (rc < 0) {
        lines_reader_close(lines);
        return rc == -ENOMEM ? error_memory(err) : rc;
    }
    *out = lines;
    return 0;
}

void lines_reader_close(struct lines_reader *lines)
{
    if (!lines)
        return;
    for (size_t i = 0; i < lines->unit_count; i++)
        lines_unit_free(&lines->units[i]);
    lines_split_close(&lines->source);
    lines_debug_close(lines->debug);
    lines_debug_close(lines->shared);
    free(lines->units);
    free(lines->spans);
    table_free(lines->source.names);
    arena_free(lines->source.arena);
    free(lines);
}

static struct lines_unit *find_unit(const struct lines_reader *lines, uint64_t address)
{
    size_t n = lower_bound(i, 0, lines->span_count, lines->spans[i].low <= address);
    return n && address < lines->spans[n - 1].high ? &lines->units[lines->spans[n - 1].unit] : NULL;
}

static const struct lines_row *find_row(const struct lines_unit *unit, uint64_t address)
{
    size_t n = lower_bound(i, 0, unit->row_count, unit->rows[i].address <= address);
    return n && !unit->rows[n - 1].end ? &unit->rows[n - 1] : NULL;
}

static struct lines_scope *find_function(const struct lines_unit *unit, uint64_t address)
{
    const struct lines_scopes *f = &unit->functions;
    size_t n = lower_bound(i, 0, f->count, f->items[i].low <= address);
    return n && address < f->items[n - 1].high ? &f->items[n - 1] : NULL;
}

/* The same with its inlined calls, which are read per function, on demand. */
static const struct lines_scope *load_function(struct lines_reader *lines, struct lines_unit *unit,
                                               uint64_t address)
{
    struct lines_scope *function = find_function(unit, address);
    if (!function && lines_unit_nested(&lines->source, unit) == 0)
        function = find_function(unit, address);
    return function && lines_unit_walk(&lines->source, unit, function) == 0 ? function : NULL;
}

/* The inlined calls of a function that contain the address, by depth: out[1] to out[return value]. */
static uint32_t inlined_at(struct lines_reader *lines, const struct lines_unit *unit,
                           const struct lines_scope *function, uint64_t address,
                           const struct lines_scope *out[LINES_DEPTH_MOST + 2])
{
    if (!lines_spend(&lines->source, (function->last - function->first) / SCOPES_A_WORK))
        return 0;
    for (uint32_t i = function->first; i < function->last; i++) {
        const struct lines_scope *s = &unit->inlined.items[i];
        if (address >= s->low && address < s->high && !out[s->depth])
            out[s->depth] = s;
    }
    uint32_t depth = 0;
    while (out[depth + 1])
        depth++;
    return depth;
}

/* The name from the symbol table, if the debug information has none. */
static const struct lines_name *symbol_name(struct lines_reader *lines, uint64_t address)
{
    char text[1024];
    bool added;
    uint32_t f = image_function_at(lines->image, address);
    if (f == IMAGE_NO_FUNCTION || !image_function(lines->image, f)->name)
        return NULL;
    /* in the same table as the names of DIEs, whose offsets are far below these keys */
    uint64_t *slot = table_put(lines->source.names, UINT64_MAX - f, &added);
    struct lines_name *name = slot && added ? arena_alloc(lines->source.arena, sizeof *name) : NULL;
    if (name) {
        image_function_format(lines->image, f, text, sizeof text);
        *name = (struct lines_name){.shown = arena_strdup(lines->source.arena, text)};
        *slot = (uint64_t)(uintptr_t)name;
    }
    return slot ? (const struct lines_name *)(uintptr_t)*slot : NULL;
}

static void set_name(struct line_frame *frame, const struct lines_name *name)
{
    frame->function = name ? name->shown : NULL;
    frame->linkage = name ? name->linkage : NULL;
    frame->start = name ? name->start : 0;
}

bool lines_reader_spent(const struct lines_reader *lines)
{
    return lines->source.work == 0;
}

bool lines_reader_damaged(const struct lines_reader *lines)
{
    return lines->debug->sections->damaged || (lines->shared && lines->shared->sections->damaged);
}

const char *lines_reader_lacks(const struct lines_reader *lines)
{
    return lines->source.lacks;
}

size_t lines_reader_at(struct lines_reader *lines, uint64_t address, struct line_frame *out, size_t max)
{
    struct lines_unit *unit = find_unit(lines, address);
    if (!unit || max == 0)
        return 0;
    if (!unit->loaded && lines_unit_load(&lines->source, unit) < 0)
        return 0;
    const struct lines_row *row = find_row(unit, address);
    const struct lines_scope *function = load_function(lines, unit, address);
    if (!row && !function)
        return 0;
    struct line_frame frame = {0};
    if (row)
        frame =
            (struct line_frame){.file = row->file, .line = row->line, .discriminator = row->discriminator};
    const struct lines_scope *inlined[LINES_DEPTH_MOST + 2] = {NULL};
    uint32_t depth = function ? inlined_at(lines, unit, function, address, inlined) : 0;
    size_t count = 0;
    for (; depth > 0 && count < max; depth--) {
        const struct lines_scope *s = inlined[depth];
        set_name(&frame, lines_unit_name(&lines->source, unit, s));
        out[count++] = frame;
        frame = (struct line_frame){
            .file = s->call_file, .line = s->call_line, .discriminator = s->call_discriminator};
    }
    if (count < max) {
        const struct lines_name *name = function ? lines_unit_name(&lines->source, unit, function) : NULL;
        set_name(&frame, name ? name : symbol_name(lines, address));
        out[count++] = frame;
    }
    return count;
}
