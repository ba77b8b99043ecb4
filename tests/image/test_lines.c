/* Source lines and inlined functions of a program whose lines are known. */
#include <criterion/criterion.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "image/lines.h"
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
