/* part.c - see part.h. */
#include "image/lines/part.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "image/lines/sections.h"

#define INDEX_MOST   (UINT64_C(256) << 20) /* bytes of a package's index: some ten million units */
#define SLICE_MOST   (UINT64_C(1) << 30)   /* bytes of a part's section */
#define COLUMNS_MOST 16u
#define UNITS_MOST   (1u << 20) /* units in one section */

#define SPLIT_COMPILE 5 /* DW_UT_split_compile */

struct part_file {
    struct sections *sections;
    /* A package's index, little-endian. */
    uint8_t *index;
    size_t index_size;
    uint32_t version, columns, units, slots;
};

enum kind { INFO, ABBREV, STR_OFFSETS, RNGLISTS, STR, KINDS };

static const char *const names[KINDS] = {[INFO] = ".debug_info.dwo",
                                         [ABBREV] = ".debug_abbrev.dwo",
                                         [STR_OFFSETS] = ".debug_str_offsets.dwo",
                                         [RNGLISTS] = ".debug_rnglists.dwo",
                                         [STR] = ".debug_str.dwo"};

/* The kind of a column by its number in the index; KINDS: not wanted. */
static enum kind column_kind(uint32_t version, uint32_t number)
{
    switch (number) {
    case 1:
        return INFO;
    case 3:
        return ABBREV;
    case 6:
        return STR_OFFSETS;
    case 8: /* in version 2, this number is for macros */
        return version == 5 ? RNGLISTS : KINDS;
    default:
        return KINDS;
    }
}

struct slice {
    uint8_t *bytes; /* malloc'd */
    uint64_t size;
};

static uint32_t word_at(const uint8_t *at)
{
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static uint64_t long_at(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

/* Reads bytes of a section. false: they are not there. */
static bool read_slice(const struct part_file *file, struct section *s, uint64_t from, uint64_t size,
                       struct slice *out)
{
    *out = (struct slice){sections_copy(file->sections, s, from, size, SLICE_MOST), size};
    return out->bytes != NULL;
}

static bool read_index(struct part_file *file)
{
    struct section *s = sections_find(file->sections, ".debug_cu_index");
    struct slice index;
    if (!s || s->size < 16 || s->size > INDEX_MOST || !read_slice(file, s, 0, s->size, &index))
        return false;
    file->index = index.bytes;
    file->index_size = index.size;
    file->version = word_at(index.bytes) & 0xffff; /* the rest is padding in version 5, and 0 in version 2 */
    file->columns = word_at(index.bytes + 4);
    file->units = word_at(index.bytes + 8);
    file->slots = word_at(index.bytes + 12);
    uint64_t size =
        16 + (uint64_t)file->slots * 12 + 4 * (uint64_t)file->columns * (1 + 2 * (uint64_t)file->units);
    return (file->version == 2 || file->version == 5) && file->columns <= COLUMNS_MOST &&
           (file->slots & (file->slots - 1)) == 0 && file->slots && size <= file->index_size;
}

struct part_file *part_file_open(const char *path)
{
    struct part_file *file = calloc(1, sizeof *file);
    if (file && (file->sections = sections_open(path)) && (!part_file_is_package(file) || read_index(file)))
        return file;
    part_file_close(file);
    return NULL;
}

void part_file_close(struct part_file *file)
{
    if (!file)
        return;
    sections_close(file->sections);
    free(file->index);
    free(file);
}

bool part_file_is_package(const struct part_file *file)
{
    return sections_find(file->sections, ".debug_cu_index") != NULL;
}

bool part_file_has_any(const struct part_file *file)
{
    const struct section *s = sections_find(file->sections, names[INFO]);
    return s && s->size;
}

/* The row of a unit in a package's index, from 1; 0: none. */
static uint32_t find_row(const struct part_file *file, uint64_t id)
{
    const uint8_t *ids = file->index + 16, *rows = ids + 8 * (uint64_t)file->slots;
    uint32_t mask = file->slots - 1, at = (uint32_t)id & mask, step = ((uint32_t)(id >> 32) & mask) | 1;
    for (uint32_t i = 0; i < file->slots; i++, at = (at + step) & mask) {
        uint32_t row = word_at(rows + 4 * (uint64_t)at);
        if (row == 0 || row > file->units)
            return 0;
        if (long_at(ids + 8 * (uint64_t)at) == id)
            return row;
    }
    return 0;
}

/* Reads a unit's header at offset `at` of a section. Returns the unit's whole size; 0: it has none. */
static uint64_t unit_size(const uint8_t *bytes, uint64_t size, uint64_t at, uint16_t *version, uint8_t *type,
                          uint64_t *id)
{
    uint8_t header[32] = {0};
    uint64_t left = size - at, skip = 4, length;
    memcpy(header, bytes + at, left < sizeof header ? left : sizeof header);
    length = word_at(header);
    if (length == UINT32_MAX) { /* 64-bit DWARF */
        length = long_at(header + 4);
        skip = 12;
    }
    if (left < skip || length > left - skip || length < 8)
        return 0;
    memcpy(version, header + skip, sizeof *version);
    *type = header[skip + 2];
    *id = long_at(header + skip + (skip == 4 ? 8 : 12)); /* behind the offset of abbreviations */
    return skip + length;
}

/* Whether a section has the part; for DWARF 4, whether it has any. */
static bool section_has(const struct slice *info, uint64_t id)
{
    uint64_t at = 0, found, size;
    uint16_t version;
    uint8_t type;
    for (unsigned i = 0; at < info->size && i < UNITS_MOST; i++, at += size) {
        size = unit_size(info->bytes, info->size, at, &version, &type, &found);
        if (size == 0)
            return false;
        if (version < 5 || (type == SPLIT_COMPILE && found == id))
            return true;
    }
    return false;
}

/* In a file that is no package, the section with this part: sections of types have the same name. */
static bool find_info(const struct part_file *file, uint64_t id, struct slice *out)
{
    for (size_t i = 0; i < file->sections->count; i++) {
        struct section *s = &file->sections->items[i];
        if (strcmp(s->name, names[INFO]) != 0 || !read_slice(file, s, 0, s->size, out))
            continue;
        if (section_has(out, id))
            return true;
        free(out->bytes);
        *out = (struct slice){0};
    }
    return false;
}

bool part_file_has(const struct part_file *file, uint64_t id)
{
    struct slice info = {0};
    if (file->index)
        return find_row(file, id);
    bool has = find_info(file, id, &info);
    free(info.bytes);
    return has;
}

struct text {
    uint8_t *bytes;
    size_t used, capacity;
};

/* Appends the string at an offset of a section; an empty one if it is not there. false: out of memory, or too
 * large. */
static bool append_string(const struct part_file *file, struct section *s, uint64_t from, struct text *text)
{
    for (bool ended = false; !ended;) {
        uint8_t piece[256];
        const size_t got = sections_read(file->sections, s, from, piece, sizeof piece),
                     length = strnlen((const char *)piece, got);
        ended = got == 0 || length < got;
        if (text->used + length + 1 > SLICE_MOST ||
            !vec_reserve(text->bytes, text->used, text->capacity, length + 1))
            return false;
        memcpy(text->bytes + text->used, piece, length);
        text->used += length;
        from += length;
    }
    text->bytes[text->used++] = 0;
    return true;
}

/* A package has the strings of all units in one section: copies those of one unit, and adapts its offsets. */
static bool take_strings(const struct part_file *file, struct slice *offsets, struct slice *out)
{
    struct section *s = sections_find(file->sections, names[STR]);
    uint64_t at = file->version == 5 ? 8 : 0, width = 4;
    struct text text = {0};
    if (!s)
        return true;
    if (at && offsets->size > 16 && word_at(offsets->bytes) == UINT32_MAX) { /* 64-bit DWARF */
        at = 16;
        width = 8;
    }
    for (; at + width <= offsets->size; at += width) {
        uint64_t from = width == 8 ? long_at(offsets->bytes + at) : word_at(offsets->bytes + at),
                 to = text.used;
        if (!append_string(file, s, from, &text)) {
            free(text.bytes);
            return false;
        }
        memcpy(offsets->bytes + at, &to, width);
    }
    *out = (struct slice){text.bytes, text.used};
    return true;
}

/* Extracts a unit's part from a package. */
static bool take_row(const struct part_file *file, uint64_t id, struct slice out[KINDS])
{
    uint32_t row = find_row(file, id);
    const uint8_t *numbers = file->index + 16 + 12 * (uint64_t)file->slots;
    const uint8_t *offsets = numbers + 4 * (uint64_t)file->columns * row;
    const uint8_t *sizes = offsets + 4 * (uint64_t)file->columns * file->units;
    if (row == 0)
        return false;
    for (uint32_t i = 0; i < file->columns; i++) {
        enum kind kind = column_kind(file->version, word_at(numbers + 4 * i));
        struct section *s = kind < KINDS ? sections_find(file->sections, names[kind]) : NULL;
        if (s && !out[kind].bytes &&
            !read_slice(file, s, word_at(offsets + 4 * i), word_at(sizes + 4 * i), &out[kind]))
            return false;
    }
    return take_strings(file, &out[STR_OFFSETS], &out[STR]);
}

static bool take_file(const struct part_file *file, uint64_t id, struct slice out[KINDS])
{
    if (!find_info(file, id, &out[INFO]))
        return false;
    for (int kind = ABBREV; kind < KINDS; kind++) {
        struct section *s = sections_find(file->sections, names[kind]);
        if (s && !read_slice(file, s, 0, s->size, &out[kind]))
            return false;
    }
    return true;
}

struct sections *part_file_extract(const struct part_file *file, uint64_t id)
{
    struct slice parts[KINDS] = {0};
    const bool has = file->index ? take_row(file, id, parts) : take_file(file, id, parts);
    struct sections *out = has ? sections_new() : NULL;
    bool good = out;
    for (int kind = 0; kind < KINDS; kind++) {
        if (!good)
            free(parts[kind].bytes);
        else if (parts[kind].bytes)
            good = sections_add(out, names[kind], parts[kind].bytes, parts[kind].size);
    }
    if (good)
        return out;
    sections_close(out);
    return NULL;
}
