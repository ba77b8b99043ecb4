/* Whether an image has CPython, and what it tells of it. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "image/script.h"
#include "tests/image/build.h"

/* A library with such symbols; offsets: words of its _Py_DebugOffsets behind the cookie. */
static struct image *build(const char *cookie, unsigned version, const char *offsets)
{
    char source[4096];
    snprintf(source, sizeof source,
             "#include <stdint.h>\n"
             "const unsigned long Py_Version = 0x%x;\n"
             "struct { char cookie[8]; uint64_t words[80]; } _PyRuntime = {\"%s\", {%s}};\n"
             "void run(void) {}\n",
             version, cookie, offsets);
    build_source("python.c", source);
    build_run("$CC -shared -fPIC -o python.so python.c");
    return build_open("python.so");
}

/* Those of 3.13.0, up to asciiobject_size. */
#define FIRST  "0x30d00f0, 0, 1, 2, 632, 1, 2, 7264, 7344, 1, 2, 3, 4, 5, 6, 7, 8, 9, "
#define THREAD "304, 0, 8, 16, 72, 152, 160, 1, 2, "
#define FRAME  "88, 8, 0, 56, 72, 70, "
#define CODE   "208, 112, 120, 128, 136, 68, 52, 96, 104, 200, "
#define OTHERS "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 40, 16, 32, "
#define TEXT   "56, 32, 16, 40"

Test(python, tells_its_offsets_from_3_13_on, .fini = build_clean)
{
    struct image *image = build("xdebugpy", 0x30d00f0, FIRST THREAD FRAME CODE OTHERS TEXT);
    const struct script_runtime *python = image_script(image);
    cr_assert(python && python->has_layout);
    cr_expect_eq(python->major, 3u);
    cr_expect_eq(python->minor, 13u);
    cr_expect(image_covers(image, python->state));
    const struct python_layout *at = &python->layout.python;
    cr_expect_eq(at->runtime_current, PYTHON_NONE);
    cr_expect_eq(at->runtime_interpreters, 632u);
    cr_expect_eq(at->interpreter_next, 7264u);
    cr_expect_eq(at->interpreter_threads, 7344u);
    cr_expect_eq(at->thread_next, 8u);
    cr_expect_eq(at->thread_frame, 72u);
    cr_expect_eq(at->thread_id, 152u);
    cr_expect_eq(at->frame_previous, 8u);
    cr_expect_eq(at->frame_code, 0u);
    cr_expect_eq(at->frame_instruction, 56u);
    cr_expect_eq(at->frame_mark, 70u);
    cr_expect_eq(at->frame_shim, 3u);
    cr_expect_eq(at->code_texts, 112u);
    cr_expect_eq(at->code_line, 68u);
    cr_expect_eq(at->code_instructions, 200u);
    cr_expect_eq(at->text_ascii, 40u);
    cr_expect_eq(at->text_compact, 56u);
    image_close(image);
}

Test(python, of_a_table_needs_its_version_alone, .fini = build_clean)
{
    struct image *image = build("", 0x30b02f0, "0");
    const struct script_runtime *python = image_script(image);
    cr_assert(python && python->has_layout);
    cr_expect_eq(python->minor, 11u);
    cr_expect_eq(python->layout.python.thread_frame, 56u);
    image_close(image);
}

static void expect_unknown(const char *why, struct image *image)
{
    const struct script_runtime *python = image_script(image);
    cr_assert(python, "%s", why);
    cr_expect_not(python->has_layout, "%s", why);
    image_close(image);
}

Test(python, that_is_not_known_has_no_layout, .fini = build_clean)
{
    expect_unknown("an older one", build("", 0x30a00f0, "0"));
    expect_unknown("a later one", build("xdebugpy", 0x30e00f0, FIRST THREAD FRAME CODE OTHERS TEXT));
    expect_unknown("no cookie", build("", 0x30d00f0, FIRST THREAD FRAME CODE OTHERS TEXT));
    expect_unknown("another version's offsets",
                   build("xdebugpy", 0x30d01f0, FIRST THREAD FRAME CODE OTHERS TEXT));
    expect_unknown("without the lock",
                   build("xdebugpy", 0x30d00f0,
                         "0x30d00f0, 1, 1, 2, 632, 1, 2, 7264, 7344, 1, 2, 3, 4, 5, 6, 7, 8, "
                         "9, " THREAD FRAME CODE OTHERS TEXT));
    expect_unknown(
        "a frame that is too far from its thread",
        build("xdebugpy", 0x30d00f0, FIRST "304, 0, 8, 16, 256, 152, 160, 1, 2, " FRAME CODE OTHERS TEXT));
    expect_unknown("names apart",
                   build("xdebugpy", 0x30d00f0,
                         FIRST THREAD FRAME "208, 112, 128, 120, 136, 68, 52, 96, 104, 200, " OTHERS TEXT));
}

Test(python, is_not_in_other_images, .fini = build_clean)
{
    build_source("other.c", "int _PyRuntimes; void run(void) {}\n");
    build_run("$CC -shared -fPIC -o other.so other.c");
    struct image *image = build_open("other.so");
    cr_expect_null(image_script(image));
    image_close(image);
}
