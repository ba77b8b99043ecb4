/* Inlined functions and lines of Go's table, in each format that has them; not written by Go, but as its sources say. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

#include "image/image_private.h"
#include "image/lines/go_lines.h"
#include "tests/image/build.h"

/* main.first: 8 bytes of its own, 8 of main.middle, which it calls in its 4th byte, 8 of main.leaf, which that calls, 8 of its own. */
static const char code[] =
    ".text\n.globl first\n.type first, @function\nfirst: .rept 31\n nop\n .endr\n ret\nend:\n";
static const char values[] = "pcs: .byte 0\n.Ldeltas: .byte 2, 32, 0\n.Lfiles: .byte 2, 32, 0\n"
                             ".Llines: .byte 22, 8, 0xb4, 1, 8, 0xc8, 1, 8, 0xfb, 2, 8, 0\n"
                             ".Lcalls: .byte 0, 8, 2, 8, 2, 8, 3, 8, 0\n";

/* What is damaged, with values that are not. */
struct tree {
    const char *leaf, *middle; /* names */
    unsigned leaf_place, middle_place;
    int leaf_parent; /* before 1.20 */
    unsigned padding;
};

static const struct tree whole = {".Lleaf-names", ".Lmiddle-names", 8, 4, 0, 0};

static void call(char *out, size_t size, bool parents, int parent, unsigned padding, const char *name,
                 unsigned place)
{
    if (parents)
        snprintf(out, size, " .short %d\n .byte 0, %u\n .long 0, 0, %s, %u\n", parent, padding, name, place);
    else
        snprintf(out, size, " .byte 0, 0, 0, %u\n .long %s, %u, 0\n", padding, name, place);
}

/* As the file "table", with no symbols. */
static void build(const char *format, const struct tree *tree)
{
    const bool old = strcmp(format, "1.16") == 0, last = strcmp(format, "1.20") == 0;
    char text[8192], middle[256], leaf[256];
    call(middle, sizeof middle, !last, -1, 0, tree->middle, tree->middle_place);
    call(leaf, sizeof leaf, !last, tree->leaf_parent, tree->padding, tree->leaf, tree->leaf_place);
    snprintf(text, sizeof text,
             "%s.section .noptrdata,\"aw\",@progbits\n .quad table, 0\n"
             ".Lmodule: .quad table, names\n .fill 20, 8, 0\n .quad first\n .fill %d, 8, 0\n .quad trees\n"
             " .fill 4, 8, 0\n"
             ".section .rodata\n .quad 0\ntrees: .long 0\ntree:%s%s"
             ".section .gopclntab,\"a\",@progbits\n .balign 8\ntable: .long %s\n .byte 0, 0, 1, 8\n"
             " .quad 1, 1%s, names-table, units-table, files-table, pcs-table, functions-table\n"
             "names: .byte 0\n.Lfirst: .asciz \"main.first\"\n.Lmiddle: .asciz \"main.middle\"\n"
             ".Lleaf: .asciz \"main.leaf\"\nunits: .long 0\nfiles: .asciz \"a.go\"\n%s"
             ".balign 8\nfunctions: %s\n.balign 8\n.Ld: %s\n"
             " .long .Lfirst-names, 0, 0, .Ldeltas-pcs, .Lfiles-pcs, .Llines-pcs, 3, 0%s\n .byte 0, 0, 0, 4\n"
             " .long 0, 0, .Lcalls-pcs\n .balign %d\n %s\n",
             code, last ? 17 : 15, middle, leaf,
             old    ? "0xfffffffa"
             : last ? "0xfffffff1"
                    : "0xfffffff0",
             old ? "" : ", first", values,
             old ? ".quad first, .Ld-functions, end" : ".long 0, .Ld-functions, end-first",
             old ? ".quad first" : ".long 0", last ? ", 7" : "", old ? 8 : 4,
             old ? ".quad 0, 0, 0, tree" : ".long -1, -1, -1, tree-trees");
    build_source("lines.s", text);
    build_run("$CC -c -o lines.o lines.s && ld -o whole -e first lines.o && strip -o table whole");
}

/* "main.leaf:200 main.middle:100 main.first:10" */
static void tell(struct lines *lines, uint64_t address, char *out, size_t size)
{
    struct line_frame frames[8];
    size_t count = lines_at(lines, address, frames, 8), used = 0;
    out[0] = 0;
    for (size_t i = 0; i < count; i++) {
        cr_expect_str_eq(frames[i].file, "a.go");
        used += (size_t)snprintf(out + used, size - used, "%s%s:%u", i ? " " : "", frames[i].function,
                                 frames[i].line);
    }
}

/* What is told at an offset of main.first. */
static void expect_at(const char *file, uint64_t offset, const char *expected)
{
    struct image *image = build_open(file);
    struct lines *lines;
    char told[256];
    cr_assert_eq(lines_open_table(image, NULL, &lines, NULL), 0, "%s", file);
    tell(lines, image_function(image, 0)->address + offset, told, sizeof told);
    cr_expect_str_eq(told, expected);
    lines_close(lines);
    image_close(image);
}

static const char *const formats[] = {"1.16", "1.18", "1.20"};

Test(go_lines, formats, .fini = build_clean)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        build(formats[i], &whole);
        expect_at("table", 0, "main.first:10");
        expect_at("table", 8, "main.middle:100 main.first:10");
        expect_at("table", 23, "main.leaf:200 main.middle:100 main.first:10");
        expect_at("table", 24, "main.first:10");
        expect_at("table", 32, "");
    }
}

Test(go_lines, damaged_trees_tell_nothing, .fini = build_clean)
{
    static const struct tree damaged[] = {
        {"-1", ".Lmiddle-names", 8, 4, 0, 0},             /* no name */
        {"units-names", ".Lmiddle-names", 8, 4, 0, 0},    /* behind them */
        {".Lleaf-names+2", ".Lmiddle-names", 8, 4, 0, 0}, /* inside of one */
        {"0", ".Lmiddle-names", 8, 4, 0, 0},              /* an empty one */
        {".Lleaf-names", ".Lmiddle-names", 16, 4, 0, 0},  /* called by itself */
        {".Lleaf-names", ".Lmiddle-names", 8, 16, 0, 0},  /* both by each other */
        {".Lleaf-names", ".Lmiddle-names", 8, 32, 0, 0},  /* outside of the function */
        {".Lleaf-names", ".Lmiddle-names", 8, -1u, 0, 0}, /* far outside */
        {".Lleaf-names", ".Lmiddle-names", 8, 4, 0, 1},   /* no such entry */
    };
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        for (size_t k = 0; k < sizeof damaged / sizeof *damaged; k++) {
            build(formats[i], &damaged[k]);
            expect_at("table", 20, "");
            expect_at("table", 0, "main.first:10");
        }
    }
    build("1.18", &(struct tree){".Lleaf-names", ".Lmiddle-names", 8, 4, -1,
                                 0}); /* another parent than the place's */
    expect_at("table", 20, "");
}

Test(go_lines, unknown_trees, .fini = build_clean)
{
    struct go_lines lines;
    build("1.20", &whole);
    build_run(
        "objcopy --remove-section .noptrdata table none && objcopy --dump-section .noptrdata=data table && "
        "for n in 8 16 100 200 335; do head -c $n data >cut && objcopy --update-section .noptrdata=cut table "
        "cut.$n; done");
    static const char *const files[] = {"none", "cut.8", "cut.16", "cut.100", "cut.200", "cut.335"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct image *image = build_open(files[i]);
        cr_expect_not(go_lines_open(&image->file, &lines), "%s", files[i]);
        image_close(image);
    }
}
