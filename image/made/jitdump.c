/* jitdump.c - see jitdump.h. */
#include "image/made/jitdump.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/sort.h"
#include "base/vec.h"
#include "image/cfi/table.h"

#define MAGIC          0x4a695444u /* "JiTD", in the byte order of the machine */
#define HEADER_SIZE    40u
#define RECORD_SIZE    16u /* id, size of all of it, time */
#define ARCH_TIMESTAMP 1u  /* header flag */

enum { CODE_LOAD = 0, CODE_MOVE = 1, CODE_DEBUG_INFO = 2, CODE_CLOSE = 3, CODE_UNWINDING_INFO = 4 };

/* V8 (src/diagnostics/perf-jit.cc) writes this where the header has nothing, and adds to the lines' addresses the
 * size of the ELF header that perf inject puts before the code. For baseline and interpreted code it writes
 * offsets in bytecode, which are useless here. Node 20's writes file names that it has already freed. */
#define V8_RESERVED 0xdeadbeefu
#define V8_ADDED    0x40u

#define SAME_FILE '\xff' /* the file of the entry before */

struct jit_parts {
    struct code_part *parts; /* malloc'ed, the caller's; file names point into the bytes that were read */
    size_t count, capacity;
};

/* How a runtime's jitdumps differ from others. */
struct jit_dialect {
    uint64_t added; /* excess in the lines' addresses, bytes */
    /* The code's own file, of whose name the first JIT_FREED bytes may have been overwritten in the lines, as the
     * runtime had freed it. NULL: this runtime does not. */
    const char *file;
    size_t file_length;
};
#define JIT_FREED 16u

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

/* Reads the parts of code. debug: the body of a JIT_CODE_DEBUG_INFO; unwinding: of a JIT_CODE_UNWINDING_INFO; size 0:
 * none. Each is read up to the first damage; then both are merged into parts that end where either changes. 0 or
 * -ENOMEM. */
static int read_parts(struct jit_parts *out, uint64_t address, uint64_t size, struct bytes debug,
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

struct reading {
    struct code_namer *namer;
    const struct jitdump_clock *clock; /* NULL: times are unknown */
    bool v8;
    struct bytes debug, unwinding; /* for the next load */
};

static uint64_t time_of(const struct jitdump_clock *c, uint64_t time)
{
    const uint64_t between = c ? c->monotonic[1] - c->monotonic[0] : 0;
    if (!c)
        return 0;
    const double rate = between ? (double)(c->recording[1] - c->recording[0]) / (double)between : 1;
    const double at = (double)c->recording[0] + (double)(int64_t)(time - c->monotonic[0]) * rate;
    return at < 1 ? 1 : at >= 0x1p63 ? INT64_MAX : (uint64_t)at;
}

static bool has_bytecode_lines(const struct reading *r, const struct code_made *made)
{
    return r->v8 && made->length > 4 && memcmp(made->name, "JS:", 3) == 0 &&
           (made->name[3] == '^' || made->name[3] == '~');
}

/* The file in the name of V8 code: "JS:*work /tmp/x.js:3:14". */
static void find_file(const struct code_made *made, struct jit_dialect *out)
{
    const char *space = memchr(made->name, ' ', made->length), *end = made->name + made->length;
    for (int colons = 0; space && end > space && colons < 2;)
        colons += *--end == ':';
    if (!space || end == space)
        return;
    out->file = space + 1;
    out->file_length = (size_t)(end - out->file);
}

/* Reads a LOAD: pid, tid, vma, address, size, index, name, code. */
static int read_load(struct reading *r, struct bytes b, uint64_t time)
{
    struct jit_parts parts = {.parts = NULL};
    struct code_made made = {.time = time_of(r->clock, time)};
    bytes_take(&b, 16);
    made.address = bytes_u64(&b);
    made.size = bytes_u64(&b);
    bytes_take(&b, 8);
    made.name = (const char *)b.at;
    if (!bytes_string(&b))
        return 0;
    made.length = (size_t)((const char *)b.at - 1 - made.name);
    if (has_bytecode_lines(r, &made))
        r->debug = bytes_of(NULL, 0);
    struct jit_dialect dialect = {.added = r->v8 ? V8_ADDED : 0};
    if (r->v8)
        find_file(&made, &dialect);
    int rc = read_parts(&parts, made.address, made.size, r->debug, &dialect, r->unwinding);
    made.parts = parts.parts;
    made.part_count = parts.count;
    if (rc == 0)
        rc = code_namer_make(r->namer, &made);
    free(parts.parts);
    r->debug = r->unwinding = bytes_of(NULL, 0);
    return rc;
}

/* Reads a MOVE: pid, tid, vma, from, to, size, index. */
static int read_move(const struct reading *r, struct bytes b, uint64_t time)
{
    bytes_take(&b, 16);
    const uint64_t from = bytes_u64(&b), to = bytes_u64(&b), size = bytes_u64(&b);
    return b.failed ? 0 : code_namer_move(r->namer, from, to, size, time_of(r->clock, time));
}

static int read_record(struct reading *r, uint32_t id, struct bytes body, uint64_t time)
{
    switch (id) {
    case CODE_LOAD:
        return read_load(r, body, time);
    case CODE_MOVE:
        return read_move(r, body, time);
    case CODE_DEBUG_INFO:
        r->debug = body;
        return 0;
    case CODE_UNWINDING_INFO:
        r->unwinding = body;
        return 0;
    default:
        return 0;
    }
}

int jitdump_read(struct code_namer *namer, const uint8_t *data, size_t size,
                 const struct jitdump_clock *clock)
{
    struct bytes b = bytes_of(data, size);
    const uint32_t magic = bytes_u32(&b), version = bytes_u32(&b), header = bytes_u32(&b),
                   machine = bytes_u32(&b), reserved = bytes_u32(&b);
    int rc = 0;
    bytes_take(&b, 12); /* PID, time */
    const uint64_t flags = bytes_u64(&b);
    if (b.failed || magic != MAGIC || !version || header < HEADER_SIZE || machine != EM_X86_64)
        return 0;
    struct reading r = {
        .namer = namer, .clock = flags & ARCH_TIMESTAMP ? NULL : clock, .v8 = reserved == V8_RESERVED};
    bytes_take(&b, header - HEADER_SIZE);
    while (rc == 0 && bytes_left(&b) >= RECORD_SIZE) {
        const uint32_t id = bytes_u32(&b), bytes = bytes_u32(&b);
        const uint64_t time = bytes_u64(&b);
        const uint8_t *body = bytes_take(&b, bytes < RECORD_SIZE ? UINT64_MAX : bytes - RECORD_SIZE);
        if (b.failed || id == CODE_CLOSE)
            break;
        rc = read_record(&r, id, bytes_of(body, bytes - RECORD_SIZE), time);
    }
    return rc;
}
