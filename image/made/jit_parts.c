/* jit_parts.c - see jit_parts.h. Lines and rows are read separately, then merged into parts that end where either
 * changes. */
#include "image/made/jit_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/vec.h"
#include "image/cfi/table.h"

#define SAME_FILE '\xff' /* the file of the entry before */

static bool is_control(char c)
{
    return (unsigned char)c < 0x20;
}

/* The range of the code whose lines are read, as the lines' addresses have it. */
struct code_range {
    uint64_t from, size;
};

/* Whether another entry follows, rather than the record's padding to 8 bytes. */
static bool is_entry(struct bytes b, const struct code_range *code)
{
    return bytes_left(&b) < 8 || (bytes_left(&b) > 16 && bytes_u64(&b) - code->from < code->size);
}

/* Whether a name is that of the code's own file, except for the overwritten bytes: these held pointers, and so
 * NULs. If the name was short nothing of it is left, and the bytes behind its length decide. */
static bool is_overwritten(const struct bytes *b, const struct jit_dialect *d, const struct code_range *code)
{
    const char *at = (const char *)b->at;
    bool control = false;
    if (!d->file || bytes_left(b) <= d->file_length)
        return false;
    for (size_t i = 0; i < JIT_FREED && i < d->file_length; i++)
        control |= is_control(at[i]);
    if (!control)
        return false;
    if (d->file_length >= JIT_FREED)
        return !at[d->file_length] &&
               memcmp(at + JIT_FREED, d->file + JIT_FREED, d->file_length - JIT_FREED) == 0;
    struct bytes behind = *b;
    bytes_take(&behind, d->file_length + 1);
    return is_entry(behind, code);
}

/* Reads a file's name. NULL: the record is damaged. */
static const char *read_file(struct bytes *b, const struct jit_dialect *d, const struct code_range *code,
                             size_t *length)
{
    if (is_overwritten(b, d, code)) {
        *length = d->file_length;
        bytes_take(b, d->file_length + 1);
        return d->file;
    }
    const char *name = bytes_string(b);
    *length = name ? strlen(name) : 0;
    for (size_t i = 0; i < *length; i++)
        if (is_control(name[i]))
            return NULL;
    return name;
}

/* Reads a DEBUG_INFO: address, number of entries; for each: address, line, discriminator, file. */
static int read_lines(struct jit_parts *lines, uint64_t address, uint64_t size, struct bytes b,
                      const struct jit_dialect *dialect)
{
    const char *file = NULL;
    size_t length = 0;
    const struct code_range code = {address + dialect->added, size};
    bytes_take(&b, 8);
    for (uint64_t left = bytes_u64(&b); left && bytes_left(&b); left--) {
        struct code_part part = {.from = bytes_u64(&b) - dialect->added - address};
        part.line = bytes_u32(&b);
        bytes_take(&b, 4);
        size_t name_length;
        const char *name = read_file(&b, dialect, &code, &name_length);
        if (!name)
            break;
        if (name_length != 1 || *name != SAME_FILE) {
            file = name;
            length = name_length;
        }
        part.file = file;
        part.file_length = length < CODE_NAME_MOST ? (uint32_t)length : CODE_NAME_MOST;
        if (part.from < size && !vec_push(lines->parts, lines->count, lines->capacity, part))
            return -ENOMEM;
    }
    sort_by(lines->parts, lines->count, from);
    return 0;
}

struct seeing {
    struct jit_parts *rows;
    uint64_t address;
    bool failed;
};

static void see_row(void *seeing, uint64_t start, struct cfi_row row)
{
    struct seeing *s = seeing;
    s->failed |= !vec_push(s->rows->parts, s->rows->count, s->rows->capacity,
                           (struct code_part){.from = start - s->address, .row = row});
}

/* Reads an UNWINDING_INFO: sizes of all, of .eh_frame_hdr, and of what is mapped; .eh_frame, .eh_frame_hdr.
 * Addresses are as if .eh_frame followed the code, at a multiple of 8 bytes (tools/perf/util/genelf.c). */
static int read_rows(struct jit_parts *rows, uint64_t address, uint64_t size, struct bytes b)
{
    const uint64_t all = bytes_u64(&b), header = bytes_u64(&b);
    bytes_take(&b, 8);
    const uint8_t *frames = bytes_take(&b, header < all ? all - header : UINT64_MAX);
    if (!frames || !size || size > UINT32_MAX || address > UINT64_MAX / 2)
        return 0;
    struct elf_segment code = {.address = address, .memory_size = size, .executable = true};
    struct elf_section section = {.name = ".eh_frame",
                                  .address = (address + size + 7) & ~UINT64_C(7),
                                  .size = all - header,
                                  .file_size = all - header};
    const struct elf_file file = {.data = frames,
                                  .size = all - header,
                                  .segments = &code,
                                  .segment_count = 1,
                                  .sections = &section,
                                  .section_count = 1,
                                  .code_low = address,
                                  .code_high = address + size};
    struct seeing seeing = {rows, address, false};
    struct cfi *cfi;
    if (cfi_table_build(&file, &cfi, NULL) < 0)
        return -ENOMEM;
    cfi_each_row(cfi, address, address + size, see_row, &seeing);
    cfi_table_free(cfi);
    return seeing.failed ? -ENOMEM : 0;
}

/* Cuts the parts where either list has a part. */
static int merge_parts(struct jit_parts *out, const struct jit_parts *lines, const struct jit_parts *rows)
{
    struct code_part now = {.from = 0};
    for (size_t i = 0, j = 0; i < lines->count || j < rows->count;) {
        const bool line =
            j == rows->count || (i < lines->count && lines->parts[i].from < rows->parts[j].from);
        const struct code_part *next = line ? &lines->parts[i++] : &rows->parts[j++];
        now.from = next->from;
        if (line) {
            now.file = next->file;
            now.file_length = next->file_length;
            now.line = next->line;
        } else {
            now.row = next->row;
        }
        if (out->count && out->parts[out->count - 1].from == now.from)
            out->parts[out->count - 1] = now;
        else if (!vec_push(out->parts, out->count, out->capacity, now))
            return -ENOMEM;
    }
    return 0;
}

int jit_parts_read(struct jit_parts *out, uint64_t address, uint64_t size, struct bytes debug,
                   const struct jit_dialect *dialect, struct bytes unwinding)
{
    struct jit_parts lines = {.parts = NULL}, rows = {.parts = NULL};
    int rc = read_lines(&lines, address, size, debug, dialect);
    if (rc == 0)
        rc = read_rows(&rows, address, size, unwinding);
    if (rc == 0)
        rc = merge_parts(out, &lines, &rows);
    free(lines.parts);
    free(rows.parts);
    return rc;
}
