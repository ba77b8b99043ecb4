/* Names of code that was made at run time: what the two formats say, and which of it stands. */
#include <criterion/criterion.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "image/cache.h"
#include "image/made/code_names.h"
#include "image/made/jitdump.h"
#include "image/made/perf_map.h"
#include "image/run_time.h"

/* What a map says of one process, as a report reads it. */
static struct code_names *named(struct code_namer *namer)
{
    uint8_t *data;
    size_t size;
    cr_assert_eq(code_namer_write(namer, &data, &size), 0);
    struct code_names *names = code_names_new(data, size);
    free(data);
    code_namer_free(namer);
    cr_assert_not_null(names);
    return names;
}

static struct code_namer *begun(void)
{
    struct code_namer *namer = code_namer_new();
    cr_assert_eq(code_namer_begin(namer), 0);
    return namer;
}

static struct code_names *map_of(const char *text)
{
    struct code_namer *namer = begun();
    cr_assert_eq(perf_map_read(namer, text, strlen(text)), 0);
    cr_assert_eq(code_namer_end(namer, 7, UINT64_MAX), 0);
    return named(namer);
}

/* "": none. */
static const char *name_at(const struct code_names *names, const struct code_set *set, uint64_t pc)
{
    const struct code_function *functions;
    const size_t count = code_names_functions(names, &functions);
    const uint64_t address = set ? code_set_address(set, pc, 0) : 0;
    for (size_t i = 0; address && i < count; i++)
        if (address - functions[i].address < functions[i].size)
            return functions[i].name;
    return "";
}

#define IS(PC, NAME) cr_expect_str_eq(name_at(names, code_names_of(names, 7, 0), PC), NAME)

Test(made, a_map_names_code)
{
    struct code_names *names =
        map_of("1000 20 LazyCompile:*work /tmp/x.js:3\n0x00002000 0x10 java.lang.Object a(b)\n");
    IS(0xfff, "");
    IS(0x1000, "LazyCompile:*work /tmp/x.js:3");
    IS(0x101f, "LazyCompile:*work /tmp/x.js:3");
    IS(0x1020, "");
    IS(0x2000, "java.lang.Object a(b)");
    cr_expect_null(code_names_of(names, 8, 0));
    cr_expect_null(code_names_of(names, 6, 0));
    code_names_free(names);
}

Test(made, odd_lines_are_passed_over)
{
    struct code_names *names =
        map_of("\n\nhello\n1000\n1000 20\n1000 20 \n1000 zz x\n-1 5 x\n11112222333344445 5 x\n"
               "ffffffffffffffff 5 beyond\n5 ffffffffffffffff long\n3000 0 none\n0x 5 x\n"
               "4000 8 a\x1b[2J\r\n5000 8 not ended");
    IS(0x1000, "");
    IS(0x4000, "a?[2J");
    IS(0x5000, "");
    IS(0x5, "");
    const struct code_function *functions;
    cr_expect_eq(code_names_functions(names, &functions), 1);
    code_names_free(names);
}

Test(made, the_later_of_two_stands)
{
    struct code_names *names =
        map_of("1000 100 a\n1040 20 b\n2000 10 c\n2000 10 c\n3000 10 d\n3008 10 e\n3010 4 e\n");
    IS(0x103f, "a");
    IS(0x1040, "b" CODE_NOT_CERTAIN);
    IS(0x105f, "b" CODE_NOT_CERTAIN);
    IS(0x1060, "a");
    IS(0x10ff, "a");
    IS(0x2000, "c");
    IS(0x3007, "d");
    IS(0x3008, "e" CODE_NOT_CERTAIN);
    code_names_free(names);
}

Test(made, a_name_is_one_function)
{
    struct code_names *names = map_of("1000 10 a\n2000 10 a\n");
    const struct code_set *set = code_names_of(names, 7, 0);
    cr_expect_eq(code_set_address(set, 0x1000, 0), code_set_address(set, 0x2000, 0));
    cr_expect_eq(code_set_address(set, 0x1000, 0) % CODE_FUNCTION_SIZE, 1);
    code_names_free(names);
}

Test(made, long_names_are_cut)
{
    char text[3000] = "1000 10 ";
    memset(text + 8, 'x', 2000);
    strcpy(text + 2008, "\n1008 10 y\n");
    struct code_names *names = map_of(text);
    cr_expect_eq(strlen(name_at(names, code_names_of(names, 7, 0), 0x1000)), CODE_NAME_MOST);
    code_names_free(names);
}

Test(made, a_pid_is_used_again)
{
    struct code_namer *namer = begun();
    code_namer_add(namer, 0x1000, 16, "last", 4);
    code_namer_end(namer, 7, UINT64_MAX);
    code_namer_begin(namer);
    code_namer_add(namer, 0x1000, 16, "dropped", 7);
    code_namer_begin(namer);
    code_namer_add(namer, 0x1000, 16, "first", 5);
    code_namer_end(namer, 7, 100);
    struct code_names *names = named(namer);
    cr_expect_str_eq(name_at(names, code_names_of(names, 7, 0), 0x1000), "first");
    cr_expect_str_eq(name_at(names, code_names_of(names, 7, 99), 0x1000), "first");
    cr_expect_str_eq(name_at(names, code_names_of(names, 7, 100), 0x1000), "last",
                     "of a program executed then");
    code_names_free(names);
}

/* A jitdump's bytes. */
struct dump {
    uint8_t data[4096];
    size_t size;
};

static void put(struct dump *d, uint64_t value, size_t bytes)
{
    memcpy(d->data + d->size, &value, bytes);
    d->size += bytes;
}

static void put_header(struct dump *d)
{
    put(d, 0x4a695444, 4);
    put(d, 1, 4);
    put(d, 40, 4);
    put(d, EM_X86_64, 4);
    for (int i = 0; i < 3; i++)
        put(d, 0, 8);
}

static void put_record_at(struct dump *d, uint32_t id, uint32_t size, uint64_t time)
{
    put(d, id, 4);
    put(d, 16 + size, 4);
    put(d, time, 8);
}

static void put_record(struct dump *d, uint32_t id, uint32_t size)
{
    put_record_at(d, id, size, 12345);
}

static void put_load_at(struct dump *d, uint64_t address, const char *name, uint64_t time)
{
    put_record_at(d, 0, 40 + (uint32_t)strlen(name) + 1 + 16, time);
    put(d, 7, 8);
    put(d, address, 8);
    put(d, address, 8);
    put(d, 16, 8);
    put(d, 1, 8);
    strcpy((char *)d->data + d->size, name);
    d->size += strlen(name) + 1 + 16;
}

static void put_load(struct dump *d, uint64_t address, const char *name)
{
    put_load_at(d, address, name, 12345);
}

static void put_line(struct dump *d, uint64_t address, uint32_t line, const char *file)
{
    put(d, address, 8);
    put(d, line, 4);
    put(d, 0, 4);
    strcpy((char *)d->data + d->size, file);
    d->size += strlen(file) + 1;
}

static void put_move(struct dump *d, uint64_t from, uint64_t to)
{
    put_record(d, 1, 48);
    put(d, 7, 8);
    put(d, to, 8);
    put(d, from, 8);
    put(d, to, 8);
    put(d, 16, 8);
    put(d, 1, 8);
}

static struct code_names *dump_of(const struct dump *d, size_t size)
{
    struct code_namer *namer = begun();
    cr_assert_eq(jitdump_read(namer, d->data, size, NULL), 0);
    cr_assert_eq(code_namer_end(namer, 7, UINT64_MAX), 0);
    return named(namer);
}

Test(made, a_jitdump_loads_and_moves)
{
    struct dump d = {.size = 0};
    put_header(&d);
    put_load(&d, 0x1000, "a");
    put_record(&d, 2, 8); /* lines */
    put(&d, 0, 8);
    put_load(&d, 0x2000, "b");
    put_move(&d, 0x1000, 0x3000);
    put_move(&d, 0x9000, 0x4000); /* of nothing */
    put_load(&d, 0x1000, "c");
    const size_t before = d.size;
    put_record(&d, 3, 0);
    put_load(&d, 0x5000, "after its end");
    struct code_names *names = dump_of(&d, d.size);
    IS(0x1000, "c");
    IS(0x200f, "b");
    IS(0x3000, "a");
    IS(0x4000, "");
    IS(0x5000, "");
    code_names_free(names);
    names = dump_of(&d, before - 1); /* being written */
    IS(0x1000, "");
    IS(0x2000, "b");
    code_names_free(names);
    d.data[12] = EM_386;
    names = dump_of(&d, d.size);
    IS(0x2000, "");
    code_names_free(names);
}

/* A move onto other code marks a name once, however often; what was moved has one name more at most. */
Test(made, moves_make_no_longer_names)
{
    struct code_namer *namer = begun();
    uint8_t *data;
    size_t size;
    for (uint64_t i = 0; i < 100; i++) {
        code_namer_add(namer, 0x1000 + 16 * i, 16, "abcdefgh", i < 8 ? i : 8);
        if (i)
            cr_assert_eq(code_namer_move(namer, 0x1000 + 16 * (i - 1), 0x1000 + 16 * i, 16, 0), 0);
    }
    cr_assert_eq(code_namer_end(namer, 7, UINT64_MAX), 0);
    cr_assert_eq(code_namer_write(namer, &data, &size), 0);
    cr_expect_lt(size, 1000);
    free(data);
    struct code_names *names = named(namer);
    IS(0x1000 + 16 * 99, "a [not certain]");
    code_names_free(names);
}

/* What a run-time image says at the PC: "file:line". */
static const char *line_at(const struct code_names *names, uint64_t pc, char text[64])
{
    const struct code_place place =
        code_names_place_at(names, code_set_address(code_names_of(names, 7, 0), pc, 0));
    snprintf(text, 64, "%s:%u", place.file ? place.file : "", place.line);
    return text;
}

Test(made, a_jitdump_has_lines)
{
    struct dump d = {.size = 0};
    char text[64];
    put_header(&d);
    put_record(&d, 2, 16 + 4 * 16 + 4 + 4 + 2 + 2);
    put(&d, 0x1000, 8);
    put(&d, 4, 8);
    put_line(&d, 0x1002, 10, "a.c");
    put_line(&d, 0x100c, 12, "b.c"); /* not in order */
    put_line(&d, 0x1008, 11, "\xff");
    put_line(&d, 0x100e, 13, "\xff");
    put_load(&d, 0x1000, "f");
    put_load(&d, 0x2000, "without");
    struct code_names *names = dump_of(&d, d.size);
    cr_expect_str_eq(line_at(names, 0x1001, text), ":0");
    cr_expect_str_eq(line_at(names, 0x1002, text), "a.c:10");
    cr_expect_str_eq(line_at(names, 0x1007, text), "a.c:10");
    cr_expect_str_eq(line_at(names, 0x100b, text), "b.c:11");
    cr_expect_str_eq(line_at(names, 0x100d, text), "b.c:12");
    cr_expect_str_eq(line_at(names, 0x100f, text), "b.c:13");
    cr_expect_str_eq(line_at(names, 0x2004, text), ":0", "they are of the next load alone");
    IS(0x1001, "f");
    IS(0x100f, "f");
    code_names_free(names);
}

/* V8 adds the size of an ELF header to addresses, and has no lines of baseline code. */
Test(made, lines_of_v8)
{
    for (int baseline = 0; baseline < 2; baseline++) {
        struct dump d = {.size = 0};
        char text[64];
        put_header(&d);
        memcpy(d.data + 16, &(uint32_t){0xdeadbeef}, 4);
        put_record(&d, 2, 16 + 16 + 5);
        put(&d, 0x1000, 8);
        put(&d, 1, 8);
        put_line(&d, 0x1044, 10, "a.js");
        put_load(&d, 0x1000, baseline ? "JS:^f" : "JS:*f");
        struct code_names *names = dump_of(&d, d.size);
        cr_expect_str_eq(line_at(names, 0x1003, text), ":0");
        cr_expect_str_eq(line_at(names, 0x1004, text), baseline ? ":0" : "a.js:10");
        code_names_free(names);
    }
}

/* Node 20 writes names that it has freed: the allocator has put two words of its own there. */
Test(made, names_of_files_that_v8_freed)
{
    struct dump d = {.size = 0};
    char text[64];
    put_header(&d);
    memcpy(d.data + 16, &(uint32_t){0xdeadbeef}, 4);
    put_record(&d, 2, 16 + 2 * (16 + 20));
    put(&d, 0x1000, 8);
    put(&d, 2, 8);
    put_line(&d, 0x1040, 10, "/some/where/file.js");
    memcpy(d.data + d.size - 20, "\0\0\1\2\0\0\0\0\0\1\2\3\4\5\6\7", 16);
    put_line(&d, 0x1048, 11, "/some/where/file.js");
    put_load(&d, 0x1000, "JS:*f /some/where/file.js:10:3");
    struct code_names *names = dump_of(&d, d.size);
    cr_expect_str_eq(line_at(names, 0x1000, text), "/some/where/file.js:10");
    cr_expect_str_eq(line_at(names, 0x1008, text), "/some/where/file.js:11");
    code_names_free(names);
}

/* Of a name of fewer bytes than two words, nothing is left. */
Test(made, short_names_of_files_that_v8_freed)
{
    static const char *const files[] = {"/app/index.js", "/srv/app/run.js", "/a/b.js"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct dump d = {.size = 0};
        char text[64], made[64], wanted[64];
        const size_t length = strlen(files[i]);
        put_header(&d);
        memcpy(d.data + 16, &(uint32_t){0xdeadbeef}, 4);
        put_record(&d, 2, 16 + 3 * (16 + (uint32_t)length + 1));
        put(&d, 0x1000, 8);
        put(&d, 3, 8);
        for (unsigned line = 10; line < 13; line++) {
            put_line(&d, 0x1040 + 4 * (line - 10), line, files[i]);
            if (line != 11)
                memcpy(d.data + d.size - length - 1, "R\xb4\1\xb4L\x7f\0\0l\xcd\x84\xdc\xbc\x8d\xfa\0",
                       length + 1);
        }
        snprintf(made, sizeof made, "JS:*f %s:10:3", files[i]);
        put_load(&d, 0x1000, made);
        struct code_names *names = dump_of(&d, d.size);
        for (unsigned line = 10; line < 13; line++) {
            snprintf(wanted, sizeof wanted, "%s:%u", files[i], line);
            cr_expect_str_eq(line_at(names, 0x1000 + 4 * (line - 10), text), wanted);
        }
        code_names_free(names);
    }
}

/* push %rbp; mov %rsp, %rbp; ... as V8 has it. */
static void put_frames(struct dump *d, uint32_t code_bytes)
{
    static const uint8_t cie[] = {0x14, 0,    0,    0, 0,    0,    0, 0, 1,    'z', 'R', 0,
                                  1,    0x78, 0x10, 1, 0x1b, 0x0c, 7, 8, 0x90, 1,   0,   0};
    static const uint8_t rules[] = {0, 0x41, 0x0e, 0x10, 0x86, 2, 0x43, 0x0d, 6, 0, 0};
    put_record(d, 4, 24 + 24 + 8 + 8 + 12 + 20);
    put(d, 24 + 8 + 8 + 12 + 20, 8);
    put(d, 20, 8);
    put(d, 0, 8);
    memcpy(d->data + d->size, cie, sizeof cie);
    d->size += sizeof cie;
    put(d, 24, 4);
    put(d, 28, 4);
    put(d, (uint32_t) - (int32_t)(code_bytes + 32), 4);
    put(d, code_bytes, 4);
    memcpy(d->data + d->size, rules, sizeof rules);
    d->size += sizeof rules + 1;
    d->size += 20;
}

static struct cfi_row row_at(struct image_cache *cache, uint64_t pc)
{
    struct image *image;
    cr_assert_eq(image_cache_get(cache, RUN_TIME_NAME, NULL, &image, NULL), 0);
    return cfi_lookup(image_cfi(image), code_set_address(image_cache_code_of(cache, 7, 0), pc, 0));
}

Test(made, a_jitdump_says_how_code_is_unwound)
{
    struct dump d = {.size = 0};
    struct code_namer *namer = begun();
    struct image_cache *cache = image_cache_new(NULL);
    uint8_t *data;
    size_t size;
    put_header(&d);
    put_frames(&d, 16);
    put_load(&d, 0x1000, "f");
    put_load(&d, 0x2000, "without");
    cr_assert_eq(jitdump_read(namer, d.data, d.size, NULL), 0);
    cr_assert_eq(code_namer_end(namer, 7, UINT64_MAX), 0);
    cr_assert_eq(code_namer_write(namer, &data, &size), 0);
    cr_assert_eq(image_cache_code_names(cache, data, size), 0);
    struct cfi_row row = row_at(cache, 0x1000);
    cr_expect(row.cfa == CFI_SP && row.cfa_offset == 8 && row.bp == CFI_BP_SAME && row.derived);
    row = row_at(cache, 0x1001);
    cr_expect(row.cfa == CFI_SP && row.cfa_offset == 16 && row.bp == CFI_BP_AT_CFA && row.bp_offset == -16);
    row = row_at(cache, 0x100f);
    cr_expect(row.cfa == CFI_BP && row.cfa_offset == 16 && row.bp == CFI_BP_AT_CFA);
    row = row_at(cache, 0x2000);
    cr_expect(row.cfa == CFI_BP && row.cfa_offset == 16, "as all such code");
    image_cache_free(cache);
    code_namer_free(namer);
    free(data);
}

/* Of code that overlaps, that which was there at the time, by the recording's clock, counts. */
Test(made, a_jitdump_has_times)
{
    const struct jitdump_clock clock = {{1000, 2000}, {50000, 52000}}; /* twice as fast */
    struct dump d = {.size = 0};
    struct code_namer *namer = begun();
    put_header(&d);
    put_load_at(&d, 0x1000, "first", 500);
    put_load_at(&d, 0x1008, "second", 1500);
    put_load_at(&d, 0x1000, "third", 2500);
    cr_assert_eq(jitdump_read(namer, d.data, d.size, &clock), 0);
    cr_assert_eq(code_namer_end(namer, 7, UINT64_MAX), 0);
    struct code_names *names = named(namer);
    const struct code_set *set = code_names_of(names, 7, 0);
    static const struct {
        uint64_t pc, time;
        const char *name;
    } cases[] = {
        {0x1000, 0, "first"},      {0x100f, 50999, "first"},  {0x1000, 51000, "first"},
        {0x1008, 51000, "second"}, {0x1017, 40000, "second"}, {0x1000, 52999, "first"},
        {0x1000, 53000, "third"},  {0x100f, 53000, "third"},  {0x1010, 60000, "second"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_str_eq(
            code_names_place_at(names, code_set_address(set, cases[i].pc, cases[i].time)).function,
            cases[i].name, "case %zu", i);
    cr_expect_eq(code_set_change(set, 0), 51000);
    cr_expect_eq(code_set_change(set, 51000), 53000);
    cr_expect_eq(code_set_change(set, 53000), UINT64_MAX);
    code_names_free(names);
}

/* Code that was replaced very often at one place takes no time to look up. */
Test(made, replaced_without_end, .timeout = 60)
{
    struct code_namer *namer = begun();
    for (uint64_t i = 1; i < CODE_NAMES_PAST; i++) {
        const struct code_made made = {.address = 0x1000,
                                       .size = 16,
                                       .time = i,
                                       .name = i % 2 ? "odd" : "even",
                                       .length = 3 + (i + 1) % 2};
        cr_assert_eq(code_namer_make(namer, &made), 0);
    }
    cr_assert_eq(code_namer_end(namer, 7, UINT64_MAX), 0);
    struct code_names *names = named(namer);
    for (uint64_t i = 0; i < 100000; i++)
        code_set_address(code_names_of(names, 7, 0), 0x1004, i);
    code_names_free(names);
}

/* Hostile names whose hashes all meet are placed in reasonable time. */
Test(made, names_that_meet, .timeout = 60)
{
    const uint32_t count = 500000;
    const struct code_names_head head = {.version = CODE_NAMES_VERSION, .names = count, .text = 2 * count};
    uint8_t *data = malloc(sizeof head + head.text);
    const struct code_function *functions;
    memcpy(data, &head, sizeof head);
    for (uint32_t i = 0; i < count; i++)
        memcpy(data + sizeof head + (size_t)2 * i, "a", 2);
    struct code_names *names = code_names_new(data, sizeof head + head.text);
    cr_assert_eq(code_names_functions(names, &functions), count);
    for (uint32_t i = 1; i < count; i++)
        cr_assert_eq(functions[i].address, functions[i - 1].address + CODE_FUNCTION_SIZE);
    code_names_free(names);
    free(data);
}

/* Any prefix of what a recording has, and any byte changed, is read without a fault. */
Test(made, damaged_names)
{
    struct code_namer *namer = begun();
    uint8_t *data;
    size_t size;
    perf_map_read(namer, "1000 10 a\n2000 10 b\n", 20);
    code_namer_end(namer, 7, 5);
    cr_assert_eq(code_namer_write(namer, &data, &size), 0);
    code_namer_free(namer);
    for (size_t i = 0; i < size; i++) {
        uint8_t *copy = malloc(i + 1); /* so that a read beyond is found */
        memcpy(copy, data, i);
        code_names_free(code_names_new(copy, i));
        free(copy);
        const uint8_t was = data[i];
        data[i] = 0xff;
        struct code_names *names = code_names_new(data, size);
        const struct code_set *set = code_names_of(names, 7, 0);
        if (set)
            code_set_address(set, 0x1004, 0);
        code_names_free(names);
        data[i] = was;
    }
    free(data);
}

Test(made, the_image_has_them)
{
    struct code_namer *namer = begun();
    uint8_t *data;
    size_t size;
    struct image_cache *cache = image_cache_new(NULL);
    struct image *before, *image;
    perf_map_read(namer, "1000 10 a\n2000 10 b\n", 20);
    code_namer_end(namer, 7, 5);
    cr_assert_eq(code_namer_write(namer, &data, &size), 0);
    code_namer_free(namer);
    cr_assert_eq(image_cache_get(cache, RUN_TIME_NAME, NULL, &before, NULL), 0);
    cr_expect_eq(image_function_count(before), 1);
    cr_assert_eq(image_cache_code_names(cache, data, size), 0);
    cr_assert_eq(image_cache_get(cache, RUN_TIME_NAME, NULL, &image, NULL), 0);
    cr_expect_eq(image_function_count(image), 3);
    cr_expect(image_is_run_time(image));
    const uint64_t address = code_set_address(image_cache_code_of(cache, 7, 0), 0x2004, 0);
    const uint32_t function = image_function_at(image, address + RUN_TIME_ADDRESS + 1);
    cr_assert_neq(function, IMAGE_NO_FUNCTION);
    cr_expect_str_eq(image_function(image, function)->name, "b");
    cr_expect_str_eq(image_function(image, image_function_at(image, RUN_TIME_ADDRESS))->name, RUN_TIME_NAME);
    image_cache_free(cache);
    free(data);
}
