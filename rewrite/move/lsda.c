/*
 * lsda.c - the exceptions of a moved part: its language-specific data area with a new table of call sites (gcc's
 * unwind-pe.h and unwind-c.c; Itanium C++ ABI: Exception Handling, section 7). See work.h.
 *
 * Actions and exception specifications are copied; types, which are relative to their place, are recomputed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "rewrite/move/work.h"

#define TYPES_MOST 65536
#define CHAIN_MOST 1024 /* actions of one call site, types of one specification: hostile if more */
#define PCREL      0x10
#define ULEB       0x01

struct lsda {
    struct move_work *work;
    const struct move_layout *layout;
    uint32_t part;
    const struct move_piece *piece;
    struct bytes sites;
    uint8_t site_encoding;
    const uint8_t *actions, *end; /* the actions' start; the bytes' end */
    size_t actions_size;          /* as far as call sites refer to them */
    uint8_t type_encoding;
    const uint8_t *types;   /* end of the types, from which they are counted; NULL: none */
    uint64_t types_address; /* its address */
    uint64_t type_count;
    size_t specifications; /* bytes behind the types */
    uint8_t *out;          /* the new call sites */
    size_t out_count, out_capacity;
    int rc;
};

static bool put_value(struct lsda *l, uint64_t value)
{
    if (!vec_reserve(l->out, l->out_count, l->out_capacity, BYTES_ULEB_MAX)) {
        l->rc = -ENOMEM;
        return false;
    }
    l->out_count = (size_t)(bytes_put_uleb(l->out + l->out_count, value) - l->out);
    return true;
}

static bool note_type(struct lsda *l, uint64_t index)
{
    if (!l->types || index == 0 || index > TYPES_MOST)
        return false;
    if (index > l->type_count)
        l->type_count = index;
    return true;
}

/* Notes the list of types of an exception specification, given by a negative filter. */
static bool note_specification(struct lsda *l, int64_t filter)
{
    uint64_t at = (uint64_t) - (filter + 1);
    if (!l->types || at > (uint64_t)(l->end - l->types))
        return false;
    struct bytes b = bytes_of(l->types + at, (size_t)(l->end - l->types) - at);
    unsigned n = 0;
    for (uint64_t type; (type = bytes_uleb(&b)) != 0; n++)
        if (b.failed || n > CHAIN_MOST || !note_type(l, type))
            return false;
    if ((size_t)(b.at - l->types) > l->specifications)
        l->specifications = (size_t)(b.at - l->types);
    return !b.failed;
}

/* Notes the chain of actions of a call site, given as 1 + offset. */
static bool note_actions(struct lsda *l, uint64_t action)
{
    uint64_t at = action - 1;
    for (unsigned n = 0; action; n++) {
        if (n > CHAIN_MOST || at >= (uint64_t)(l->end - l->actions))
            return false;
        struct bytes b = bytes_of(l->actions + at, (size_t)(l->end - l->actions) - at);
        int64_t filter = bytes_sleb(&b);
        uint64_t next = (uint64_t)(b.at - l->actions);
        int64_t distance = bytes_sleb(&b);
        if (b.failed || (filter > 0 && !note_type(l, (uint64_t)filter)) ||
            (filter < 0 && !note_specification(l, filter)))
            return false;
        if ((size_t)(b.at - l->actions) > l->actions_size)
            l->actions_size = (size_t)(b.at - l->actions);
        if (distance == 0)
            break;
        at = next + (uint64_t)distance;
    }
    return true;
}

static bool read_header(struct lsda *l, const uint8_t *data, size_t size, uint64_t address)
{
    struct bytes b = bytes_of(data, size);
    if (bytes_u8(&b) != POINTER_OMIT) /* landing pads are relative to something else */
        return false;
    l->end = b.end;
    l->type_encoding = bytes_u8(&b);
    if (l->type_encoding != POINTER_OMIT) {
        uint64_t distance = bytes_uleb(&b);
        if (b.failed || distance > bytes_left(&b))
            return false;
        l->types = b.at + distance;
        l->types_address = address + (uint64_t)(l->types - data);
    }
    l->site_encoding = bytes_u8(&b);
    uint64_t length = bytes_uleb(&b);
    const uint8_t *table = bytes_take(&b, length);
    if (!table || (l->site_encoding & 0xf0))
        return false;
    l->sites = bytes_of(table, length);
    l->actions = b.at;
    return true;
}

/* Translates call sites one after the other; their landing pads are in the same part. */
static bool translate_sites(struct lsda *l)
{
    const struct move_part *part = &l->layout->unit->parts[l->part];
    const struct pointer_bases bases = {0};
    while (bytes_left(&l->sites)) {
        uint64_t start = pointer_read(&l->sites, l->site_encoding, &bases);
        uint64_t length = pointer_read(&l->sites, l->site_encoding, &bases);
        uint64_t pad = pointer_read(&l->sites, l->site_encoding, &bases);
        uint64_t action = bytes_uleb(&l->sites);
        if (l->sites.failed || start > part->size || length > part->size - start || pad >= part->size ||
            !note_actions(l, action))
            return false;
        uint32_t from = move_layout_boundary(l->layout, l->part, part->address + start, false);
        uint32_t to = move_layout_boundary(l->layout, l->part, part->address + start + length, false);
        uint32_t land = 0;
        if (pad) {
            uint32_t i = function_code_find(&l->layout->unit->code, part->address + pad);
            if (i == FUNCTION_CODE_NONE)
                return false;
            land = l->layout->insns[i].entry;
        }
        if (from == UINT32_MAX || to == UINT32_MAX || !put_value(l, from) || !put_value(l, to - from) ||
            !put_value(l, land) || !put_value(l, action))
            return false;
    }
    return true;
}

/* Whether types can be moved: distances of 4 bytes, or 4-byte addresses in programs at fixed addresses. */
static bool types_movable(const struct lsda *l)
{
    uint8_t format = l->type_encoding & 0x0f, relative = l->type_encoding & 0x70;
    if (l->type_count * 4 > (uint64_t)(l->types ? l->types - l->actions : 0))
        return false;
    return l->type_count == 0 || ((format == 0x0b || format == 0x03) && (relative == 0 || relative == PCREL));
}

static bool put_types(struct lsda *l)
{
    struct move_buffer *data = &l->work->buffers[BUFFER_DATA];
    for (uint64_t k = l->type_count; k > 0; k--) {
        int32_t value;
        memcpy(&value, l->types - 4 * k, sizeof value);
        size_t at = move_append(data, &value, sizeof value);
        struct move_fix fix = {.at = {BUFFER_DATA, (uint32_t)at}, .kind = FIX_FAR};
        fix.target = l->types_address - 4 * k + (uint64_t)(int64_t)value;
        bool relative = (l->type_encoding & 0x70) == PCREL && value != 0;
        if (at == SIZE_MAX || (relative && !move_fix(l->work, &fix)))
            return false;
    }
    return move_append(data, l->types, l->specifications) != SIZE_MAX;
}

/* Writes header, call sites, actions, types at a multiple of 4, specifications. */
static bool write_lsda(struct lsda *l)
{
    struct move_buffer *data = &l->work->buffers[BUFFER_DATA];
    uint8_t head[32];
    size_t n = 0, site_length = bytes_uleb_size(l->out_count), padding = 0;
    head[n++] = POINTER_OMIT;
    head[n++] = l->type_encoding;
    if (l->types) {
        size_t rest = 1 + site_length + l->out_count + l->actions_size + 4 * l->type_count;
        size_t width = bytes_uleb_size(rest + 3);
        padding = -(2 + width + rest) & 3;
        bytes_put_uleb_as(head + n, rest + padding, width); /* (for some sums longer than necessary) */
        n += width;
    }
    head[n++] = ULEB;
    bytes_put_uleb_as(head + n, l->out_count, site_length);
    n += site_length;
    return move_append(data, head, n) != SIZE_MAX && move_append(data, l->out, l->out_count) != SIZE_MAX &&
           move_append(data, l->actions, l->actions_size) != SIZE_MAX &&
           move_append(data, NULL, padding) != SIZE_MAX && (!l->types || put_types(l));
}

bool move_lsda(struct move_work *work, const struct move_layout *layout, uint32_t part,
               struct move_piece *piece, int *rc)
{
    struct lsda l = {.work = work, .layout = layout, .part = part, .piece = piece};
    struct move_buffer *data = &work->buffers[BUFFER_DATA];
    size_t size;
    const uint8_t *bytes = elf_file_bytes(work->survey->file, piece->fde->lsda, ELF_REST, &size);
    bool done =
        bytes && read_header(&l, bytes, size, piece->fde->lsda) && translate_sites(&l) && types_movable(&l);
    if (done) {
        if (!move_align(data, 0, 4)) {
            l.rc = -ENOMEM;
        } else {
            piece->lsda = (uint32_t)data->size;
            if (!write_lsda(&l))
                l.rc = -ENOMEM;
        }
    }
    free(l.out);
    *rc = l.rc;
    return done && l.rc == 0;
}
