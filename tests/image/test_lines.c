/* Source lines and inlined functions of a program whose lines are known. */
#include <criterion/criterion.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "image/cache.h"
#include "image/lines/child.h"
#include "image/lines/lines.h"
#include "tests/image/build.h"

/* `volatile` accesses stay where they are written: their lines are looked for. */
static const char source[] = "volatile int cell;\n"                                             /* 1 */
                             "static inline __attribute__((always_inline)) void inner(void)\n"  /* 2 */
                             "{\n"                                                              /* 3 */
                             "    cell = 1111;\n"                                               /* 4 */
                             "}\n"                                                              /* 5 */
                             "static inline __attribute__((always_inline)) void middle(void)\n" /* 6 */
                             "{\n"                                                              /* 7 */
                             "    inner();\n"                                                   /* 8 */
                             "    cell = 2222;\n"                                               /* 9 */
                             "}\n"                                                              /* 10 */
                             "void outer(void)\n"                                               /* 11 */
                             "{\n"                                                              /* 12 */
                             "    cell = 3333;\n"                                               /* 13 */
                             "    middle();\n"                                                  /* 14 */
                             "}\n";                                                             /* 15 */

struct expected {
    uint32_t constant; /* the store of this constant */
    size_t count;
    const char *functions[3];
    uint32_t lines[3];
};

static const struct expected stores[] = {
    {1111, 3, {"inner", "middle", "outer"}, {4, 8, 14}},
    {2222, 2, {"middle", "outer"}, {9, 14}},
    {3333, 1, {"outer"}, {13}},
};

/* Address of the first instruction that has the constant as its last four bytes. */
static uint64_t find_store(const struct image *image, uint32_t constant)
{
    uint64_t function = build_function(image, "outer");
    size_t size;
    const uint8_t *code = image_bytes(image, function, &size);
    const uint8_t *found = memmem(code, size, &constant, sizeof constant);
    cr_assert_not_null(found);
    return function + (uint64_t)(found - code);
}

static void check(const struct image *image)
{
    struct lines *lines = NULL;
    struct fathom_error err = {0};
    struct image_options options = {0};
    cr_assert_eq(lines_open(image, &options, &lines, &err), 0, "%s", err.text);
    for (unsigned i = 0; i < sizeof stores / sizeof *stores; i++) {
        const struct expected *e = &stores[i];
        struct line_frame frames[8];
        uint64_t address = find_store(image, e->constant);
        size_t count = lines_at(lines, address, frames, 8);
        cr_assert_eq(count, e->count, "%zu frames for %u, expected %zu", count, e->constant, e->count);
        for (size_t f = 0; f < count; f++) {
            cr_expect_str_eq(frames[f].function, e->functions[f]);
            cr_expect_eq(frames[f].line, e->lines[f], "line %u of %s, expected %u", frames[f].line,
                         frames[f].function, e->lines[f]);
            cr_assert_not_null(frames[f].file);
            cr_expect_str_eq(strrchr(frames[f].file, '/') + 1, "inlined.c");
        }
        cr_expect_eq(lines_at(lines, address, frames, 1), 1);
        cr_expect_str_eq(frames[0].function, e->functions[0]);
    }
    struct line_frame frame;
    cr_expect_eq(lines_at(lines, 1, &frame, 1), 0);
    cr_expect_eq(lines_at(lines, UINT64_MAX, &frame, 1), 0);
    lines_close(lines);
}

static void check_version(unsigned version)
{
    build_source("inlined.c", source);
    build_run("$CC -O2 -gdwarf-%u -fPIC -shared -o lines.so inlined.c", version);
    struct image *image = build_open("lines.so");
    check(image);
    image_close(image);
}

Test(lines, dwarf_4, .fini = build_clean)
{
    check_version(4);
}

Test(lines, dwarf_5, .fini = build_clean)
{
    check_version(5);
}

Test(lines, of_a_separate_file, .fini = build_clean)
{
    build_source("inlined.c", source);
    build_run("$CC -O2 -g -fPIC -shared -o lines.so inlined.c &&"
              "objcopy --only-keep-debug lines.so lines.debug && strip lines.so &&"
              "objcopy --add-gnu-debuglink=lines.debug lines.so");
    struct image *image = build_open("lines.so");
    check(image);
    image_close(image);
}

static void check_packed(const char *kind)
{
    build_source("inlined.c", source);
    build_run("$CC -O2 -g -fPIC -shared -o lines.so inlined.c");
    char command[128];
    snprintf(command, sizeof command, "cd %s && objcopy --compress-debug-sections=%s lines.so 2>/dev/null",
             build_path("."), kind);
    if (system(command) != 0)
        cr_skip_test("this objcopy does not know the format");
    struct image *image = build_open("lines.so");
    check(image);
    image_close(image);
}

Test(lines, packed_by_zlib, .fini = build_clean)
{
    check_packed("zlib");
}

Test(lines, packed_by_zlib_before_there_was_a_standard, .fini = build_clean)
{
    check_packed("zlib-gnu");
}

Test(lines, packed_by_zstd, .fini = build_clean)
{
    check_packed("zstd");
}

static void note_warning(void *context, enum log_level level, const char *text)
{
    char *last = context;
    if (level == LOG_WARNING)
        snprintf(last, 512, "%s", text);
}

/* Without the file that was split off, there is a warning that names it, and the lines are still known. */
static void check_missing(const char *named)
{
    char said[512] = "";
    const struct log log = {note_warning, said};
    struct image_options options = {.log = &log};
    struct image *image = build_open("lines.so");
    struct lines *lines;
    struct line_frame frame;
    cr_assert_eq(lines_open(image, &options, &lines, NULL), 0);
    cr_expect_not_null(strstr(said, named), "%s", said);
    cr_assert_eq(lines_at(lines, find_store(image, 1111), &frame, 1), 1);
    cr_expect_str_eq(frame.function, "outer");
    cr_expect_eq(frame.line, 4);
    lines_close(lines);
    image_close(image);
}

/* Two units, of which each has a number of its own. */
static void build_split(unsigned version)
{
    build_source("inlined.c", source);
    build_source("other.c", "extern volatile int cell;\n"
                            "static inline __attribute__((always_inline)) void set(void) { cell = 1; }\n"
                            "void another(void) { set(); if (cell) set(); }\n");
    build_run("$CC -O2 -gdwarf-%u -gsplit-dwarf -fPIC -c other.c inlined.c &&"
              "$CC -shared -o lines.so other.o inlined.o",
              version);
    struct image *image = build_open("lines.so");
    check(image);
    image_close(image);
}

/* A call that is inlined in several pieces, whose ranges are a list: a branch that is seldom taken lies apart. */
static void check_pieces(unsigned version)
{
    build_source("pieces.c",
                 "volatile int cell; void rare(void);\n"
                 "static inline __attribute__((always_inline)) void piece(void)\n"
                 "{\n"
                 "    cell = 1111; if (__builtin_expect(cell, 0)) { rare(); cell = 2222; rare(); }\n"
                 "}\n"
                 "void before(void) { cell = 1; }\n"
                 "void outer(void) { cell = 4444; piece(); cell = 3333; }\n");
    build_run("$CC -O2 -gdwarf-%u -gsplit-dwarf -fPIC -shared -o lines.so pieces.c", version);
    struct image *image = build_open("lines.so");
    struct lines *lines;
    struct line_frame frames[4];
    cr_assert_eq(lines_open(image, NULL, &lines, NULL), 0);
    cr_assert_eq(lines_at(lines, find_store(image, 1111), frames, 4), 2);
    cr_expect_str_eq(frames[0].function, "piece");
    cr_expect_eq(frames[0].line, 4);
    cr_expect_eq(frames[1].line, 7);
    lines_close(lines);
    image_close(image);
}

static void check_split(unsigned version)
{
    check_pieces(version);
    build_split(version);
    build_run("mkdir far && mv inlined.dwo far");
    check_missing("inlined.dwo is missing");
}

Test(lines, split_off_dwarf_4, .fini = build_clean)
{
    check_split(4);
}

Test(lines, split_off_dwarf_5, .fini = build_clean)
{
    check_split(5);
}

/* (The llvm-dwp of LLVM 14 does not end for some files that GCC makes.) */
Test(lines, split_off_and_packaged, .fini = build_clean)
{
    char command[512];
    build_source("inlined.c", source);
    snprintf(command, sizeof command,
             "cd %s && clang -O2 -gdwarf-5 -gsplit-dwarf -fPIC -c inlined.c 2>/dev/null &&"
             "clang -shared -o lines.so inlined.o && timeout 5 llvm-dwp -e lines.so -o lines.so.dwp",
             build_path("."));
    if (system(command) != 0)
        cr_skip_test("clang and llvm-dwp are not installed, or make no package");
    build_run("rm *.dwo");
    struct image *image = build_open("lines.so");
    check(image);
    image_close(image);
    build_run("rm lines.so.dwp");
    check_missing("inlined.dwo is missing");
}

Test(lines, split_off_and_packaged_dwarf_4, .fini = build_clean)
{
    build_split(4);
    if (system("dwp --help >/dev/null 2>&1") != 0)
        cr_skip_test("dwp is not installed");
    build_run("dwp -e lines.so -o lines.so.dwp && rm *.dwo");
    struct image *image = build_open("lines.so");
    check(image);
    image_close(image);
    if (system("objcopy --help | grep -q zstd") == 0) {
        build_run("objcopy --compress-debug-sections=zstd lines.so.dwp");
        image = build_open("lines.so");
        check(image);
        image_close(image);
    }
    build_run("objcopy --compress-debug-sections=zlib lines.so.dwp");
    image = build_open("lines.so");
    check(image);
    image_close(image);
    build_run("rm lines.so.dwp");
    check_missing("other.dwo and others are missing");
}

/* What tells units apart: strings, ranges and addresses of the second one are not those of the first. */
static void check_second(const char *flags)
{
    char command[512];
    build_source("second.h",
                 "extern volatile int cell; void rare(void);\n"
                 "static inline __attribute__((always_inline)) void piece(int n)\n"
                 "{\n"
                 "    cell = 4321; if (__builtin_expect(cell == n, 0)) { rare(); cell = n; rare(); }\n"
                 "}\n");
    build_source("one.c", "#include \"second.h\"\n"
                          "void one(int n) { cell = 1; piece(n); cell = 3333; }\n");
    build_source("two.c", "#include \"second.h\"\n"
                          "int before(int n) { return n * cell; }\n"
                          "void outer(int n) { cell = 2; piece(n); cell = 1234; }\n");
    snprintf(command, sizeof command,
             "cd %s && %s -O2 -g -fPIC -c one.c two.c 2>/dev/null && cc -shared -o lines.so one.o two.o",
             build_path("."), flags);
    if (system(command) != 0)
        cr_skip_test("this compiler does not know the format");
    struct image *image = build_open("lines.so");
    struct lines *lines;
    struct line_frame frames[4];
    cr_assert_eq(lines_open(image, NULL, &lines, NULL), 0);
    for (uint64_t at = find_store(image, 1234) - 1; at; at--) { /* back to the store of piece() */
        if (lines_at(lines, at, frames, 4) != 2)
            continue;
        cr_expect_str_eq(frames[0].function, "piece", "%s", flags);
        cr_expect_str_eq(frames[1].function, "outer", "%s", flags);
        cr_expect_eq(frames[0].line, 4);
        cr_expect_eq(frames[1].line, 3);
        break;
    }
    lines_close(lines);
    image_close(image);
}

Test(lines, of_the_second_unit, .fini = build_clean)
{
    static const char *const flags[] = {"cc -gdwarf-4 -gsplit-dwarf",
                                        "cc -gdwarf-5 -gsplit-dwarf",
                                        "cc -gdwarf-5 -gsplit-dwarf -fdebug-types-section",
                                        "clang -gdwarf-4 -gsplit-dwarf",
                                        "clang -gdwarf-5 -gsplit-dwarf",
                                        "clang -gdwarf-5 -gsplit-dwarf -fsplit-dwarf-inlining",
                                        "clang -gdwarf-5 -gsplit-dwarf=single",
                                        "clang -gdwarf-4 -gsplit-dwarf=single"};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (strncmp(flags[i], "clang", 5) != 0 || system("clang --version >/dev/null 2>&1") == 0)
            check_second(flags[i]);
}

/* Files that a later compilation has overwritten, or that are damaged. */
Test(lines, split_off_by_another_compilation, .fini = build_clean)
{
    for (unsigned version = 4; version <= 5; version++) {
        build_split(version);
        build_run("echo 'int more;' >>inlined.c && $CC -O2 -gdwarf-%u -gsplit-dwarf -fPIC -c inlined.c",
                  version);
        check_missing("inlined.dwo is of another compilation");
        build_run("head -c 200 inlined.dwo >half && mv half inlined.dwo");
        check_missing("inlined.dwo cannot be read");
    }
}

/* GCC's link-time optimization leaves the names in debug information to which no file refers. */
Test(lines, split_off_without_names, .fini = build_clean)
{
    char said[512] = "", command[512];
    const struct log log = {note_warning, said};
    struct image_options options = {.log = &log};
    struct lines *lines;
    build_source("inlined.c", source);
    snprintf(command, sizeof command,
             "cd %s && gcc -O2 -g -gsplit-dwarf -flto -fPIC -shared -o lines.so inlined.c 2>/dev/null && ls "
             "*.ltrans.dwo >/dev/null",
             build_path("."));
    if (system(command) != 0)
        cr_skip_test("this compiler has no link-time optimization");
    struct image *image = build_open("lines.so");
    cr_assert_eq(lines_open(image, &options, &lines, NULL), 0);
    struct line_frame frames[4];
    size_t count = lines_at(lines, find_store(image, 1111), frames, 4);
    cr_expect(strstr(said, "has no names of functions") || (count == 3 && frames[0].function), "%s", said);
    lines_close(lines);
    image_close(image);
}

Test(lines, none_to_be_had, .fini = build_clean)
{
    build_source("inlined.c", source);
    build_run("$CC -O2 -g0 -fPIC -shared -o lines.so inlined.c");
    struct image *image = build_open("lines.so");
    struct lines *lines = NULL;
    struct fathom_error err = {0};
    struct image_options options = {.no_debug_files = true};
    cr_expect_eq(lines_open(image, &options, &lines, &err), -ENODATA);
    cr_expect_not_null(strstr(err.text, "no debug information"));
    cr_expect_null(lines);
    lines_close(NULL);
    image_close(image);
}

Test(lines, of_a_file_that_became_a_pipe, .fini = build_clean, .timeout = 60)
{
    build_source("inlined.c", source);
    build_run("$CC -O2 -g -fPIC -shared -o lines.so inlined.c");
    struct image *image = build_open("lines.so");
    build_run("rm lines.so && mkfifo lines.so");
    struct lines *lines = NULL;
    struct image_options options = {.no_debug_files = true};
    cr_expect_eq(lines_open(image, &options, &lines, NULL), -EBADMSG);
    lines_close(lines);
    image_close(image);
}

/* A method that is inlined out of a class, in two places of one function, and a cold part. */
Test(lines, names_of_cxx_are_whole, .fini = build_clean)
{
    build_source("name.cc", "volatile int cell;\n"
                            "namespace space { struct box { int v;\n"
                            "    __attribute__((always_inline)) void put() { cell = 4444; }\n"
                            "    void call(); };\n"
                            "void box::call() { put(); } }\n");
    build_run("$CXX -O2 -g -fPIC -shared -o name.so name.cc");
    struct image *image = build_open("name.so");
    struct lines *lines;
    cr_assert_eq(lines_open(image, NULL, &lines, NULL), 0);
    uint64_t call = build_function(image, "_ZN5space3box4callEv");
    uint32_t constant = 4444;
    size_t size;
    const uint8_t *code = image_bytes(image, call, &size);
    const uint8_t *found = memmem(code, size, &constant, sizeof constant);
    cr_assert_not_null(found);
    struct line_frame frames[4];
    cr_assert_eq(lines_at(lines, call + (uint64_t)(found - code), frames, 4), 2);
    cr_expect_str_eq(frames[0].function, "space::box::put");
    cr_expect_eq(frames[0].line, 3);
    cr_expect_str_eq(frames[1].function, "space::box::call");
    cr_expect_eq(frames[1].line, 5);
    lines_close(lines);
    image_close(image);
}

/* What is read without being asked for is bounded by the unpacked size of all. */
Test(lines, within_a_bound, .fini = build_clean)
{
    static const char *const packed[] = {"none", "zlib", "zlib-gnu"};
    uint64_t sizes[3];
    build_source("inlined.c", source);
    build_run("$CC -O2 -g -fPIC -shared -o lines.so inlined.c && cp lines.so other.so");
    for (unsigned i = 0; i < 3; i++) {
        build_run("objcopy --compress-debug-sections=%s lines.so", packed[i]);
        struct image *image;
        struct image_cache *cache = image_cache_new(NULL);
        cr_assert_eq(image_cache_get(cache, build_path("lines.so"), NULL, &image, NULL), 0);
        cr_expect_null(image_cache_unread(cache, 0, &sizes[i]));
        cr_expect_null(image_cache_lines(cache, image, 0));
        cr_expect_eq(image_cache_unread(cache, 0, &sizes[i]), image);
        cr_expect_null(image_cache_unread(cache, 1, &sizes[i]));
        cr_expect_not_null(image_cache_lines(cache, image, IMAGE_LINES_ANY));
        image_cache_free(cache);
        cr_expect_eq(sizes[i], sizes[0], "%s", packed[i]);
    }
    cr_assert_gt(sizes[0], 512);
    uint64_t most = (sizes[0] + 1023) / 1024; /* KiB: there is room for one of two */
    struct image *first, *second;
    struct image_cache *cache = image_cache_new(NULL);
    cr_assert_eq(image_cache_get(cache, build_path("lines.so"), NULL, &first, NULL), 0);
    cr_assert_eq(image_cache_get(cache, build_path("other.so"), NULL, &second, NULL), 0);
    struct lines *lines = image_cache_lines(cache, first, most);
    cr_expect_not_null(lines);
    cr_expect_null(image_cache_lines(cache, second, most));
    cr_expect_eq(image_cache_lines(cache, first, most), lines);
    cr_expect_eq(image_cache_unread(cache, 0, &sizes[0]), second);
    image_cache_free(cache);
}

/* GNU C: the debug information of a function in a function is below that of the outer one. */
Test(lines, a_function_in_a_function, .fini = build_clean)
{
    build_source("nested.c",
                 "volatile int cell;\n"
                 "static inline __attribute__((always_inline)) void inner(void) { cell = 5555; }\n"
                 "int outer(int n)\n"
                 "{\n"
                 "    __attribute__((noinline)) int deep(int x) {\n"
                 "        inner();\n"
                 "        return x + n; }\n"
                 "    return deep(cell) + 1;\n"
                 "}\n");
    build_run("gcc -O1 -g -fPIC -shared -o nested.so nested.c");
    struct image *image = build_open("nested.so");
    struct lines *lines;
    struct line_frame frames[4];
    cr_assert_eq(lines_open(image, NULL, &lines, NULL), 0);
    uint64_t outer = build_function(image, "outer"), first = image_function(image, 0)->address;
    uint32_t constant = 5555;
    size_t size;
    const uint8_t *code = image_bytes(image, first, &size);
    const uint8_t *found = memmem(code, size, &constant, sizeof constant);
    cr_assert_not_null(found);
    cr_assert_eq(lines_at(lines, outer, frames, 4), 1);
    cr_expect_str_eq(frames[0].function, "outer");
    cr_assert_eq(lines_at(lines, first + (uint64_t)(found - code), frames, 4), 2);
    cr_expect_str_eq(frames[0].function, "inner");
    cr_expect_str_eq(frames[1].function, "deep");
    cr_expect_eq(frames[1].line, 6);
    cr_assert_eq(lines_at(lines, outer, frames, 4), 1);
    lines_close(lines);
    image_close(image);
}

/* A file's section: where it lies, by readelf. */
static void find_section(const char *file, const char *section, unsigned long *offset, unsigned long *size)
{
    char command[512];
    snprintf(command, sizeof command,
             "readelf -SW %s | sed 's/^ *\\[ *[0-9]*\\] *//' | awk '$1 == \"%s\" { print $4, $5 }'",
             build_path(file), section);
    FILE *out = popen(command, "r");
    cr_assert(out && fscanf(out, "%lx %lx", offset, size) == 2);
    pclose(out);
}

static void put_byte(const char *file, unsigned long at, int byte)
{
    FILE *f = fopen(build_path(file), "r+");
    cr_assert(f && fseek(f, (long)at, SEEK_SET) == 0 && fputc(byte, f) != EOF && fclose(f) == 0);
}

/* Whatever its debug information says, it is read to an end, and what it says is a string or nothing. */
static void ask_damaged(const char *name)
{
    struct image *image = build_open(name);
    struct lines *lines;
    struct fathom_error err = {0};
    struct image_options options = {.no_debug_files = true};
    if (lines_open(image, &options, &lines, &err) == 0) {
        for (unsigned i = 0; i < sizeof stores / sizeof *stores; i++) {
            struct line_frame frames[8];
            size_t count = lines_at(lines, find_store(image, stores[i].constant), frames, 8);
            cr_assert_leq(count, 8);
            for (size_t f = 0; f < count; f++)
                cr_assert(!frames[f].function || strlen(frames[f].function) < 5000);
        }
        lines_close(lines);
    } else {
        cr_assert_gt(strlen(err.text), 0);
    }
    image_close(image);
}

Test(lines, damaged_debug_information, .fini = build_clean)
{
    static const char *const sections[] = {".debug_info", ".debug_abbrev", ".debug_line", ".debug_str"};
    uint32_t state = 12345;
    build_source("inlined.c", source);
    build_run("gcc -g -gdwarf-5 -O2 -fPIC -shared -o whole.so inlined.c");
    for (int round = 0; round < 40; round++) {
        unsigned long offset, size;
        build_run("cp whole.so damaged.so");
        find_section("damaged.so", sections[round % 4], &offset, &size);
        for (int i = 0; i < 60; i++) {
            state = state * 1664525 + 1013904223;
            put_byte("damaged.so", offset + (state >> 8) % size, (int)(state >> 24));
        }
        ask_damaged("damaged.so");
    }
}

/* A section that is there and cannot be read is said, instead of a report without lines. */
Test(lines, damaged_sections_are_said, .fini = build_clean)
{
    static const char *const sections[] = {".debug_info", ".debug_line", ".debug_str"};
    static const struct {
        unsigned long at;
        int byte;
    } damages[] = {{0, 9}, {15, 0x80}, {40, 0x55}, {8, 3}}; /* its kind, a size of 2^63, its data, its size */
    build_source("inlined.c", source);
    build_run("gcc -g3 -O2 -fPIC -shared -Wl,--compress-debug-sections=zlib -o whole.so inlined.c");
    for (unsigned i = 0; i < 12; i++) {
        unsigned long offset, size;
        char said[512] = "";
        struct image_options options = {.log = &(struct log){note_warning, said}, .no_debug_files = true};
        struct lines *lines = NULL;
        struct line_frame frames[4];
        struct fathom_error err = {0};
        build_run("cp whole.so damaged.so");
        find_section("damaged.so", sections[i % 3], &offset, &size);
        cr_assert_gt(size, damages[i / 3].at);
        put_byte("damaged.so", offset + damages[i / 3].at, damages[i / 3].byte);
        struct image *image = build_open("damaged.so");
        if (lines_open(image, &options, &lines, &err) == 0)
            lines_at(lines, find_store(image, stores[0].constant), frames, 4);
        cr_expect(strstr(err.text, "is damaged") || strstr(said, "is damaged"), "%s of %s: %s",
                  sections[i % 3], image_path(image), said);
        lines_close(lines);
        image_close(image);
    }
}

/* Many inlined calls that have one list of ranges: a short file may ask for any amount of work. */
static void build_shared_ranges(const char *name, unsigned calls, unsigned ranges)
{
    build_source(
        "shared.s",
        "        .globl outer\n"
        "        .type outer, @function\n"
        "outer:  ret\n"
        ".Lend:  .size outer, . - outer\n"
        "        .section .debug_abbrev\n"
        "        .byte 1, 0x11, 1, 0x11, 1, 0x12, 1, 0x13, 5, 0, 0\n" /* a unit: low, high, language */
        "        .byte 2, 0x2e, 1, 3, 8, 0x11, 1, 0x12, 1, 0, 0\n"    /* a function: name, low, high */
        "        .byte 3, 0x1d, 0, 3, 8, 0x55, 0x17, 0, 0, 0\n"       /* a call: name, ranges */
        "        .section .debug_info\n"
        "        .long .Linfo_end - .Linfo\n"
        ".Linfo: .short 5\n"
        "        .byte 1, 8\n"
        "        .long 0\n"
        "        .byte 1\n"
        "        .quad outer, .Lend\n"
        "        .short 12\n"
        "        .byte 2\n"
        "        .asciz \"outer\"\n"
        "        .quad outer, .Lend\n"
        "        .rept CALLS\n"
        "        .byte 3\n"
        "        .asciz \"inner\"\n"
        "        .long 12\n"
        "        .endr\n"
        "        .byte 0, 0\n"
        ".Linfo_end:\n"
        "        .section .debug_rnglists\n"
        "        .long .Llists_end - .Llists\n"
        ".Llists: .short 5\n"
        "        .byte 8, 0\n"
        "        .long 0\n"
        "        .rept RANGES\n"
        "        .byte 7\n" /* an address and a length */
        "        .quad outer\n"
        "        .uleb128 .Lend - outer\n"
        "        .endr\n"
        "        .byte 0\n"
        ".Llists_end:\n");
    build_run("gcc -nostdlib -shared -Wa,--defsym,CALLS=%u,--defsym,RANGES=%u -Wl,-z,notext -o %s shared.s",
              calls, ranges, name);
}

Test(lines, no_more_work_than_its_size_explains, .fini = build_clean)
{
    struct image_options options = {.no_debug_files = true};
    for (unsigned calls = 20; calls <= 2000; calls += 1980) {
        build_shared_ranges("shared.so", calls, 1000);
        struct image *image = build_open("shared.so");
        uint64_t address = build_function(image, "outer");
        struct lines_child child = {0};
        struct fathom_error err = {0};
        uint8_t *answer = NULL;
        size_t size;
        cr_assert_eq(lines_child_start(&child, image, &options, &err), 0, "%s", err.text);
        int rc = lines_child_ask(&child, address, &answer, &size);
        if (calls == 20) {
            cr_assert_eq(rc, 0, "%s", strerror(-rc));
            cr_expect_not_null(memmem(answer, size, "inner", 5));
            cr_expect_not_null(memmem(answer, size, "outer", 5));
            free(answer);
        } else {
            cr_expect_eq(rc, -EOVERFLOW, "%s", strerror(-rc));
            cr_expect_eq(child.pid, 0);
        }
        lines_child_end(&child);
        image_close(image);
    }
}

Test(lines, a_child_that_dies_takes_nothing_with_it, .fini = build_clean)
{
    struct lines_child child = {0};
    struct fathom_error err = {0};
    uint8_t *answer = NULL;
    size_t size;
    build_source("inlined.c", source);
    build_run("gcc -g -O2 -fPIC -shared -o whole.so inlined.c");
    struct image *image = build_open("whole.so");
    uint64_t address = find_store(image, 1111);
    cr_assert_eq(lines_child_start(&child, image, NULL, &err), 0, "%s", err.text);
    cr_assert_eq(lines_child_ask(&child, address, &answer, &size), 0);
    cr_expect_not_null(memmem(answer, size, "inner", 5));
    free(answer);
    kill(child.pid, SIGSEGV);
    cr_expect_eq(lines_child_ask(&child, address, &answer, &size), -EIO);
    cr_expect_eq(child.pid, 0);
    lines_child_end(&child);
    image_close(image);
}

static void *start_in_thread(void *context)
{
    const struct image *image = ((void **)context)[0];
    return (void *)(intptr_t)lines_child_start(((void **)context)[1], image, NULL, NULL);
}

Test(lines, a_child_outlives_the_thread_that_made_it, .fini = build_clean)
{
    struct lines_child child = {0};
    uint8_t *answer = NULL;
    size_t size;
    build_source("inlined.c", source);
    build_run("gcc -g -O2 -fPIC -shared -o whole.so inlined.c");
    struct image *image = build_open("whole.so");
    void *context[] = {image, &child}, *rc;
    pthread_t thread;
    cr_assert_eq(pthread_create(&thread, NULL, start_in_thread, context), 0);
    cr_assert_eq(pthread_join(thread, &rc), 0);
    cr_assert_eq((intptr_t)rc, 0);
    cr_assert_eq(lines_child_ask(&child, find_store(image, 1111), &answer, &size), 0);
    free(answer);
    lines_child_end(&child);
    image_close(image);
}

/* Whether /proc/PID/limits has a number at this line. */
static bool is_limited(pid_t pid, const char *what)
{
    char path[64], line[256];
    unsigned long long number;
    bool is = false;
    snprintf(path, sizeof path, "/proc/%d/limits", (int)pid);
    FILE *in = fopen(path, "r");
    cr_assert_not_null(in);
    while (fgets(line, sizeof line, in))
        if (strncmp(line, what, strlen(what)) == 0)
            is = sscanf(line + strlen(what), "%llu", &number) == 1;
    fclose(in);
    return is;
}

Test(lines, a_child_has_limits_and_none_of_our_files, .fini = build_clean)
{
    struct lines_child child = {0};
    char path[64], text[512];
    build_source("inlined.c", source);
    build_run("gcc -g -O2 -fPIC -shared -o whole.so inlined.c");
    build_run("echo ours > ours");
    struct image *image = build_open("whole.so");
    int ours = open(build_path("ours"), O_RDONLY);
    cr_assert_geq(ours, 0);
    cr_assert_eq(lines_child_start(&child, image, NULL, NULL), 0);
    cr_expect(is_limited(child.pid, "Max address space"));
    cr_expect(is_limited(child.pid, "Max cpu time"));
    for (int fd = 0; fd < 256; fd++) {
        snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)child.pid, fd);
        ssize_t n = readlink(path, text, sizeof text - 1);
        text[n < 0 ? 0 : n] = 0;
        cr_expect_not(strstr(text, "/ours"), "%s -> %s", path, text);
        cr_expect(fd >= 3 || strcmp(text, "/dev/null") == 0, "%s -> %s", path, text);
    }
    lines_child_end(&child);
    close(ours);
    image_close(image);
}

/* In a process of its own: its child's number into the pipe. The socket stays open in `holder`, so that the child
 * learns of the death by the other pipe alone. */
static _Noreturn void start_and_die(const struct image *image, int out)
{
    struct lines_child child = {0};
    if (lines_child_start(&child, image, NULL, NULL) < 0)
        _exit(1);
    pid_t pids[] = {child.pid, fork()};
    if (pids[1] == 0) {
        close(child.alive);
        pause();
        _exit(0);
    }
    _exit(write(out, pids, sizeof pids) != sizeof pids);
}

Test(lines, a_child_dies_with_its_parent, .fini = build_clean, .timeout = 30)
{
    int ends[2], status;
    pid_t pids[2];
    build_source("inlined.c", source);
    build_run("gcc -g -O2 -fPIC -shared -o whole.so inlined.c");
    struct image *image = build_open("whole.so");
    cr_assert(pipe2(ends, O_CLOEXEC) == 0 && prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
    pid_t middle = fork();
    if (middle == 0)
        start_and_die(image, ends[1]);
    cr_assert(waitpid(middle, &status, 0) == middle && status == 0);
    cr_assert_eq(read(ends[0], pids, sizeof pids), (ssize_t)sizeof pids);
    cr_expect_eq(waitpid(pids[0], &status, 0), pids[0]);
    cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGIO, "%x", (unsigned)status);
    kill(pids[1], SIGKILL);
    waitpid(pids[1], &status, 0);
    image_close(image);
}

/* dwz moves what two libraries have in common to a third file. */
static const char common[] =
    "typedef struct thing_with_a_long_name { int alpha; struct thing_with_a_long_name *next_of_them; } "
    "thing_t;\n"
    "extern volatile int cell;\n"
    "#define F static inline __attribute__((always_inline)) void\n"
    "F inner_of_both(thing_t *parameter_of_inner) { cell = 1111; cell = parameter_of_inner->alpha; }\n"
    "F middle_of_both(thing_t *parameter_of_middle) { inner_of_both(parameter_of_middle); cell = 2222; }\n";

Test(lines, names_in_the_file_of_dwz, .fini = build_clean)
{
    if (system("command -v dwz >/dev/null") != 0)
        cr_skip_test("dwz is not installed");
    build_source("common.h", common);
    for (char c = 'a'; c < 'c'; c++) {
        char name[] = "x.c";
        name[0] = c;
        build_source(name, "#include \"common.h\"\nvolatile int cell;\nthing_t thing;\n"
                           "void outer(void) { cell = 3333; middle_of_both(&thing); }\n");
        build_run("gcc -g -O2 -fPIC -shared -Wl,--build-id -o %c.so %c.c", c, c);
    }
    build_run("dwz -m common.debug a.so b.so && readelf -SW a.so | grep -q gnu_debugaltlink");
    struct image *image = build_open("a.so");
    struct lines *lines = NULL;
    struct fathom_error err = {0};
    struct line_frame frames[8];
    cr_assert_eq(lines_open(image, NULL, &lines, &err), 0, "%s", err.text);
    cr_assert_eq(lines_at(lines, find_store(image, 1111), frames, 8), 3);
    cr_expect_str_eq(frames[0].function, "inner_of_both");
    cr_expect_str_eq(frames[1].function, "middle_of_both");
    cr_expect_str_eq(frames[2].function, "outer");
    lines_close(lines);
    /* without that file its names are missing, not wrong */
    build_run("rm common.debug");
    cr_assert_eq(lines_open(image, NULL, &lines, &err), 0, "%s", err.text);
    size_t count = lines_at(lines, find_store(image, 1111), frames, 8);
    for (size_t i = 0; i + 1 < count; i++)
        cr_expect_null(frames[i].function, "%s", frames[i].function);
    lines_close(lines);
    image_close(image);
}
