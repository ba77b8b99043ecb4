/* scripts.c - see scripts.h. */
#include "perfdata/scripts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/checksum.h"
#include "base/hash.h"
#include "base/vec.h"
#include "perfdata/script_lines.h"

/* A code object of a process. */
struct process_code {
    const struct script_code *code;
    const struct script_row *rows;
    size_t row_count;
};

/* A chain with a number. */
struct chain {
    const struct script_frame *callers; /* NULL: none */
    struct process_code innermost;
    uint32_t entries; /* script_reading.entered */
    bool entered, cut;
};

struct scripts {
    struct arena *arena;
    struct arena *reading_arena; /* owns readings and their copies of frames */
    struct names *names;
    struct table *codes;     /* hash of a process and an address -> struct process_code */
    struct table *contents;  /* hash of a script_code's contents -> the script_code */
    struct table *frames;    /* hash of a script_frame's contents -> the script_frame */
    struct table *chains;    /* number -> struct chain */
    struct table *threads;   /* TID -> struct script_frame; 0: nothing */
    struct table *readings;  /* TID -> the last struct script_reading; 0: none */
    struct script_row *rows; /* scratch: of the table being read */
    size_t row_capacity;
    uint64_t damaged, reading_count;
};

static const struct script_code not_known = {.name = "", .file = ""};
const struct script_frame script_not_read = {.code = &not_known};

struct scripts *scripts_new(void)
{
    struct scripts *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    *s = (struct scripts){.arena = arena_new(0),
                          .reading_arena = arena_new(0),
                          .names = names_new(),
                          .codes = table_new(),
                          .contents = table_new(),
                          .frames = table_new(),
                          .chains = table_new(),
                          .threads = table_new(),
                          .readings = table_new()};
    if (s->arena && s->reading_arena && s->names && s->codes && s->contents && s->frames && s->chains &&
        s->threads && s->readings)
        return s;
    scripts_free(s);
    return NULL;
}

void scripts_free(struct scripts *s)
{
    if (!s)
        return;
    arena_free(s->arena);
    arena_free(s->reading_arena);
    names_free(s->names);
    table_free(s->codes);
    table_free(s->contents);
    table_free(s->frames);
    table_free(s->chains);
    table_free(s->threads);
    table_free(s->readings);
    free(s->rows);
    free(s);
}

static void *from_value(uint64_t value)
{
    return (void *)(uintptr_t)value; // NOLINT(performance-no-int-to-ptr): the tables' values are pointers
}

static void forget_all(struct table *table)
{
    uint64_t key, value;
    for (size_t at = 0; table_next(table, &at, &key, &value);)
        *table_find(table, key) = 0;
}

void scripts_restart(struct scripts *s)
{
    forget_all(s->threads);
    forget_all(s->readings);
    s->damaged = s->reading_count = 0;
}

void scripts_forget(struct scripts *s, uint32_t tid)
{
    uint64_t *frame = table_find(s->threads, tid);
    uint64_t *reading = table_find(s->readings, tid);
    if (frame)
        *frame = 0;
    if (reading)
        *reading = 0;
}

const struct script_frame *scripts_of(const struct scripts *s, uint32_t tid)
{
    const uint64_t *frame = table_find(s->threads, tid);
    return frame ? from_value(*frame) : NULL;
}

uint64_t scripts_readings(const struct scripts *s)
{
    return s->reading_count;
}

int scripts_forget_readings(struct scripts *s)
{
    uint64_t tid, frame;
    struct arena *fresh = arena_new(0);
    if (!fresh)
        return -ENOMEM;
    for (size_t at = 0; table_next(s->threads, &at, &tid, &frame);) {
        const struct script_frame *f = from_value(frame);
        if (f && f->reading)
            *table_find(s->threads, tid) = (uintptr_t)f->reading->innermost;
    }
    forget_all(s->readings);
    arena_free(s->reading_arena);
    s->reading_arena = fresh;
    return 0;
}

uint64_t scripts_damaged(const struct scripts *s)
{
    return s->damaged;
}

/* Texts ------------------------------------------------------------------------------------------------------- */

static size_t put_utf8(uint32_t c, char *out)
{
    if (c < 0x80) {
        out[0] = (char)(c ? c : '?');
        return 1;
    }
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        c = 0xfffd;
    const size_t bytes = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = bytes; --i > 0; c >>= 6)
        out[i] = (char)(0x80 | (c & 63));
    out[0] = (char)((0xf00u >> bytes & 0xf0) | c);
    return bytes;
}

/* Converts to UTF-8 of at most SCRIPT_FILE_MAX characters, or copies plain bytes; with "..." where the text was cut: at its
 * end, or at its beginning if the record has its end. NULL: out of memory. */
static const char *intern_text(struct scripts *s, uint8_t language, const struct script_text *text,
                               const uint8_t *bytes, uint32_t most, bool end_told)
{
    static const char dots[] = "...";
    char utf8[4 * SCRIPT_FILE_MAX + sizeof dots];
    const uint32_t size = text->bytes < most ? text->bytes : most;
    size_t used = 0;
    if (text->cut && end_told)
        used = (size_t)(stpcpy(utf8, dots) - utf8);
    for (uint32_t at = 0; text->width && at + text->width <= size; at += text->width) {
        uint32_t c = 0; /* little-endian */
        memcpy(&c, bytes + at, text->width);
        if (language == SCRIPT_PYTHON || language == SCRIPT_JAVASCRIPT)
            used += put_utf8(c, utf8 + used);
        else
            utf8[used++] = (char)(c ? c : '?');
    }
    strcpy(utf8 + used, text->cut && !end_told ? dots : "");
    const uint32_t number = names_intern(s->names, utf8);
    return number == NAMES_NONE ? NULL : names_text(s->names, number);
}

/* Returns the struct in a table that has these bytes (no struct has padding), added if new. NULL: out of memory. */
static const void *intern_struct(struct scripts *s, struct table *table, const void *bytes, size_t size)
{
    uint64_t *value = table_put(table, checksum_of(bytes, size), NULL);
    const void *old = value ? from_value(*value) : NULL;
    if (old && memcmp(old, bytes, size) == 0)
        return old;
    void *made = value ? arena_alloc(s->arena, size) : NULL;
    if (!made)
        return NULL;
    *value = (uintptr_t)made;
    return memcpy(made, bytes, size);
}
_Static_assert(sizeof(struct script_code) == 2 * sizeof(char *) + 8, "no padding");
_Static_assert(sizeof(struct script_frame) == 3 * sizeof(void *) + 8, "no padding");

/* Code -------------------------------------------------------------------------------------------------------- */

static uint64_t code_key(uint32_t pid, uint64_t address)
{
    return hash_u64(hash_u64(pid) + address);
}

/* Reads a code object's table of lines. false: out of memory. */
static bool read_rows(struct scripts *s, const uint8_t *table, size_t size, struct process_code *of)
{
    const uint32_t language = of->code->language;
    if (language != SCRIPT_PYTHON && language != SCRIPT_RUBY)
        return true;
    if (!vec_reserve(s->rows, 0, s->row_capacity, size))
        return false;
    of->row_count = language == SCRIPT_PYTHON ? python_rows(table, size, of->code->line, s->rows)
                                              : ruby_rows(table, size, s->rows, size);
    struct script_row *rows = arena_alloc(s->arena, (of->row_count + 1) * sizeof *rows);
    if (rows)
        memcpy(rows, s->rows, of->row_count * sizeof *rows);
    of->rows = rows;
    return rows;
}

/* 1; -EBADMSG; -ENOMEM. */
static int take_code(struct scripts *s, uint32_t pid, const struct script_record *head, const uint8_t *bytes,
                     size_t size)
{
    struct script_code_told details;
    if (size < sizeof details || head->count > size - sizeof details)
        return -EBADMSG;
    memcpy(&details, bytes, sizeof details);
    if (details.name.width > 4 || details.file.width > 4)
        return -EBADMSG;
    const uint8_t language = head->language;
    struct script_code code = {
        .name = intern_text(s, language, &details.name, details.name_bytes, SCRIPT_NAME_MAX, false),
        .file = intern_text(s, language, &details.file, details.file_bytes, SCRIPT_FILE_MAX, true),
        .line = details.line,
        .language = language};
    if (code.name && !*code.name && language == SCRIPT_PHP && details.name.width)
        code.name = "{main}"; /* as in PHP's own traces */
    if (code.name && !*code.name && language == SCRIPT_JAVASCRIPT)
        code.name = "(anonymous)"; /* as in V8's own traces */
    if (code.file && language == SCRIPT_JAVASCRIPT && strncmp(code.file, "file://", 7) == 0)
        code.file += 7; /* a module has a URL in place of a path */
    struct process_code *of = arena_alloc(s->arena, sizeof *of);
    uint64_t *place = table_put(s->codes, code_key(pid, head->number), NULL);
    if (!code.name || !code.file || !of || !place)
        return -ENOMEM;
    of->code = intern_struct(s, s->contents, &code, sizeof code);
    if (!of->code || !read_rows(s, bytes + sizeof details, head->count, of))
        return -ENOMEM;
    *place = (uintptr_t)of;
    return 1;
}

static struct process_code find_code(const struct scripts *s, uint32_t pid, uint64_t address)
{
    const uint64_t *value = table_find(s->codes, code_key(pid, address));
    return value ? *(const struct process_code *)from_value(*value)
                 : (struct process_code){.code = &not_known};
}

/* The line of an instruction; for PHP, the record has the line itself. */
static uint32_t line_at(const struct process_code *of, uint32_t at)
{
    return of->code->language == SCRIPT_PHP ? at : script_line(of->rows, of->row_count, at);
}

/* Frames ------------------------------------------------------------------------------------------------------ */

/* cut: the chain has functions further out that it does not contain. NULL: out of memory. */
static const struct script_frame *intern_frame(struct scripts *s, const struct script_frame *outer,
                                               const struct process_code *of, uint32_t at, bool entered,
                                               bool cut)
{
    const struct script_frame frame = {
        .outer = outer, .code = of->code, .line = line_at(of, at), .entered = entered, .cut = cut && !outer};
    return intern_struct(s, s->frames, &frame, sizeof frame);
}

/* Sets what the thread runs. 1 or -ENOMEM. */
static int set_innermost(struct scripts *s, uint32_t tid, const struct script_frame *frame)
{
    return table_set(s->threads, tid, (uintptr_t)frame) ? 1 : -ENOMEM;
}

/* Adds what was read of the thread at another moment than a sample's. 1 or -ENOMEM. */
static int set_reading(struct scripts *s, uint32_t tid, const struct script_frame *frame, uint32_t entries)
{
    struct script_frame *copy = arena_alloc(s->reading_arena, sizeof *copy);
    struct script_reading *reading = arena_alloc(s->reading_arena, sizeof *reading);
    uint64_t *last = copy && reading ? table_put(s->readings, tid, NULL) : NULL;
    if (!last)
        return -ENOMEM;
    struct script_reading *before = from_value(*last);
    *reading = (struct script_reading){.innermost = frame, .before = before, .entered = entries};
    if (before)
        before->after = reading;
    *copy = *frame;
    copy->reading = reading;
    s->reading_count++;
    *last = (uintptr_t)reading;
    return set_innermost(s, tid, copy);
}

/* Sets what the thread runs: the chain, with its innermost function at this instruction. 1 or -ENOMEM. */
static int set_thread(struct scripts *s, uint32_t tid, const struct chain *chain,
                      const struct script_record *head)
{
    const struct script_frame *frame =
        intern_frame(s, chain->callers, &chain->innermost, head->at, chain->entered, chain->cut);
    if (!frame)
        return -ENOMEM;
    return head->flags & SCRIPT_POLLED ? set_reading(s, tid, frame, chain->entries)
                                       : set_innermost(s, tid, frame);
}

static int take_chain(struct scripts *s, const struct sample *sample, const struct script_record *head,
                      const uint8_t *bytes, size_t size)
{
    struct script_called called;
    if (head->count == 0 || head->count > SCRIPT_CALLED_MAX || size < head->count * sizeof called ||
        !head->number)
        return -EBADMSG;
    struct chain *chain = arena_alloc(s->arena, sizeof *chain);
    uint64_t *place = chain ? table_put(s->chains, head->number, NULL) : NULL;
    if (!place)
        return -ENOMEM;
    const bool cut = head->flags & SCRIPT_CUT;
    chain->entries = 1; /* the outermost function begins the loop, even if its own entry is cut off */
    for (uint32_t i = head->count; --i > 0;) {
        memcpy(&called, bytes + i * sizeof called, sizeof called);
        const struct process_code of = find_code(s, sample->pid, called.code);
        chain->callers = intern_frame(s, chain->callers, &of, called.at, called.marks & SCRIPT_ENTERED, cut);
        if (!chain->callers)
            return -ENOMEM;
        chain->entries += chain->callers->outer && chain->callers->entered;
    }
    memcpy(&called, bytes, sizeof called);
    chain->innermost = find_code(s, sample->pid, called.code);
    chain->entered = called.marks & SCRIPT_ENTERED;
    chain->entries += chain->callers && chain->entered;
    chain->cut = cut;
    *place = (uintptr_t)chain;
    return set_thread(s, sample->tid, chain, head);
}

static int take_same(struct scripts *s, const struct sample *sample, const struct script_record *head)
{
    const uint64_t *chain = table_find(s->chains, head->number);
    return chain && *chain ? set_thread(s, sample->tid, from_value(*chain), head) : -EBADMSG;
}

static int take_script_record(struct scripts *s, const struct sample *sample,
                              const struct script_record *head)
{
    const uint8_t *bytes = sample->raw + sizeof *head;
    const size_t size = sample->raw_size - sizeof *head;
    if (head->version != SCRIPT_RECORD_VERSION)
        return -EBADMSG;
    switch (head->kind) {
    case SCRIPT_CHAIN:
        return take_chain(s, sample, head, bytes, size);
    case SCRIPT_SAME:
        return take_same(s, sample, head);
    case SCRIPT_CODE:
        return take_code(s, sample->pid, head, bytes, size);
    case SCRIPT_NONE:
        scripts_forget(s, sample->tid);
        return 1;
    case SCRIPT_UNREAD:
        return set_innermost(s, sample->tid, &script_not_read);
    default:
        return -EBADMSG;
    }
}

int scripts_take(struct scripts *s, const struct sample *sample, struct fathom_error *err)
{
    struct script_record head;
    if (!sample->raw || sample->raw_size < sizeof head)
        return 0;
    memcpy(&head, sample->raw, sizeof head);
    if (head.magic != SCRIPT_RECORD_MAGIC)
        return 0;
    int rc = take_script_record(s, sample, &head);
    if (rc == -EBADMSG) {
        s->damaged++;
        rc = set_innermost(s, sample->tid, &script_not_read);
    }
    return rc < 0 ? error_memory(err) : 1;
}
