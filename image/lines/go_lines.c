/*
 * go_lines.c - see go_lines.h. Formats: inlinedCall and moduledata in Go's src/runtime/symtab.go, symtabinl.go.
 *
 * A call in the tree has the inlined function's name, and the offset of an instruction in the function, whose
 * file, line and inlined call are those of the call site. Trees of Go 1.18 and later are relative to
 * moduledata.gofunc.
 */
#include "image/lines/go_lines.h"

#include <string.h>

#define DEPTH_MOST 32u /* nested inlined calls: as many as reports show */
#define STEPS_MOST                                                                                           \
    (1u << 20)  /* ranges read per address: tens of times those of the largest functions; 5 ms */
#define WORD 8u /* bytes of a pointer: amd64 */

enum { /* words of moduledata */
       MODULE_NAMES = 1,
       MODULE_TEXT = 22,
       MODULE_GOFUNC_1_18 = 38,
       MODULE_GOFUNC_1_20 = 40, /* behind two more words */
       MODULE_GOFUNC_LAST = 44, /* in future formats that add as few words */
};

struct inlined_call {
    const char *name;
    uint32_t place; /* of the call, bytes from the function's start */
    int32_t parent; /* the call that contains the place; -1: none. Go 1.20 and later do not write it: -2 */
};

static uint64_t word_at(const uint8_t *data, size_t size, size_t i)
{
    struct bytes b = bytes_of(data, size);
    bytes_take(&b, i * WORD);
    return bytes_u64(&b);
}

/* moduledata.gofunc, which Go 1.26 stores before the end of the function table. 0: unknown. */
static uint64_t gofunc_of(const struct go_table *t, const uint8_t *module, size_t size)
{
    if (t->magic != GO_MAGIC_1_20)
        return word_at(module, size, MODULE_GOFUNC_1_18);
    for (size_t i = MODULE_GOFUNC_1_20; i <= MODULE_GOFUNC_LAST; i++)
        if (word_at(module, size, i + 1) == t->address + t->size)
            return word_at(module, size, i);
    return word_at(module, size, MODULE_GOFUNC_1_20);
}

/* Searches a section for moduledata, which begins with pointers to the table and to the names in it. */
static uint64_t find_gofunc(const struct elf_file *file, const char *section, const struct go_table *t)
{
    size_t size, left;
    const uint8_t *data = elf_section_bytes(file, elf_file_section(file, section), &size);
    for (; data && size > WORD; data += WORD, size -= WORD) {
        if (word_at(data, size, 0) != t->address ||
            word_at(data, size, MODULE_NAMES) != t->address + t->names ||
            word_at(data, size, MODULE_TEXT) != t->text)
            continue;
        const uint64_t gofunc = gofunc_of(t, data, size);
        return gofunc && elf_file_bytes(file, gofunc, 1, &left) ? gofunc : 0;
    }
    return 0;
}

bool go_lines_open(const struct elf_file *file, struct go_lines *out)
{
    static const char *const sections[] = {".go.module", ".noptrdata", ".data"};
    *out = (struct go_lines){.file = NULL};
    if (!go_table_open(file, &out->table) || out->table.units == 0)
        return false;
    for (size_t i = 0; i < sizeof sections / sizeof *sections && out->table.relative && !out->trees; i++)
        out->trees = find_gofunc(file, sections[i], &out->table);
    if (out->table.relative && !out->trees)
        return false;
    out->file = file;
    return true;
}

/* Reads a call of the function's tree. false: it is damaged. */
static bool read_call(const struct go_lines *g, const struct go_function *f, uint32_t index,
                      struct inlined_call *out)
{
    const bool parents =
        g->table.magic != GO_MAGIC_1_20; /* 20 bytes a call; before, 16 without the parent's number */
    size_t size;
    const uint8_t *data = f->tree == GO_NO_TREE ? NULL
                                                : elf_file_bytes(g->file, g->trees + f->tree,
                                                                 (index + 1ULL) * (parents ? 20 : 16), &size);
    if (!data)
        return false;
    struct bytes b = bytes_of(data, size);
    bytes_take(&b, (uint64_t)index * (parents ? 20 : 16));
    out->parent = parents ? (int16_t)bytes_u16(&b) : -2;
    bytes_u8(&b); /* kind of function */
    const uint32_t padding = parents ? bytes_u8(&b) : (uint32_t)bytes_u8(&b) | bytes_u16(&b);
    if (parents)
        bytes_take(&b, 8); /* file and line of the place */
    const uint32_t name = bytes_u32(&b);
    out->place = bytes_u32(&b);
    out->name = b.failed ? NULL : go_table_name(&g->table, name);
    return out->name && *out->name && padding == 0 && out->place < f->size;
}

static struct line_frame frame_at(const struct go_lines *g, const struct go_function *f, uint64_t address,
                                  uint32_t *steps)
{
    const int32_t line = go_value_at(&g->table, f, f->lines, address, steps);
    const int32_t file = go_value_at(&g->table, f, f->files, address, steps);
    return (struct line_frame){.file = file < 0 ? NULL : go_table_file(&g->table, f, (uint32_t)file),
                               .line = line < 0 ? 0 : (uint32_t)line};
}

size_t go_lines_at(const struct go_lines *g, uint64_t address, struct line_frame *out, size_t max)
{
    struct line_frame frames[DEPTH_MOST + 1];
    struct go_function f;
    struct inlined_call call = {.parent = -2};
    uint32_t steps = STEPS_MOST;
    int32_t inner = INT32_MAX; /* indexes of callers are lower than those of callees, so there is no loop */
    size_t count = 0;
    if (!go_table_find(&g->table, address, &f))
        return 0;
    for (;; address = f.address + call.place) {
        const int32_t index = go_value_at(&g->table, &f, f.calls, address, &steps);
        frames[count] = frame_at(g, &f, address, &steps);
        if (steps == 0 || index >= inner || (call.parent != -2 && call.parent != index))
            return 0;
        if (index < 0)
            break;
        if (count == DEPTH_MOST || !read_call(g, &f, (uint32_t)index, &call))
            return 0;
        inner = index;
        frames[count++].function = call.name;
    }
    frames[count++].function = f.name;
    count = count < max ? count : max;
    memcpy(out, frames, count * sizeof *out);
    return count;
}
