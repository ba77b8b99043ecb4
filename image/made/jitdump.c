/* jitdump.c - see jitdump.h. */
#include "image/made/jitdump.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "image/made/jit_parts.h"

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
    int rc = jit_parts_read(&parts, made.address, made.size, r->debug, &dialect, r->unwinding);
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
