/* Go's tables of functions, in each format that is read; not written by Go, but as its sources say. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

#include "image/cfi/cfi.h"
#include "image/derive.h"
#include "image/go_table.h"
#include "image/image_private.h"
#include "tests/image/build.h"

/* Code of two functions: one that calls, with 24 bytes of its own from the 4th byte to the 20th; and the outermost one. */
static const char code[] =
    ".text\n.globl first\n.type first, @function\nfirst: sub $24,%rsp\n .rept 12\n nop\n .endr\n add "
    "$24,%rsp\n ret\n .balign 16, 0xcc\n"
    "second: nop\n ret\n .balign 16, 0xcc\nend:\n"
    ".section .gopclntab,\"a\",@progbits\ntable:\n";
/* Zig-zag values and lengths: -1 + 1, 4 bytes; + 24, 16 bytes; - 24, 12 bytes; the end. */
static const char rest[] = "names: .byte 0\n.Lone: .asciz \"main.first\"\n.Ltwo: .asciz \"runtime.goexit\"\n"
                           "pcs: .byte 0\n.Ldeltas: .byte 2, 4, 48, 16, 47, 12, 0\n.Lnone: .byte 2, 16, 0\n";

/* The description of a function. */
static void describe(char *out, size_t size, const char *entry, const char *label, const char *name,
                     const char *deltas, bool units, bool line, const char *names, const char *pcs)
{
    snprintf(out, size, "%s: %s\n .long %s-%s, 0, 0, %s-%s, 0, 0, 0%s%s\n .byte 0, 0, 0, 0\n", label, entry,
             name, names, deltas, pcs, units ? ", 0" : "", line ? ", 0" : "");
}

static void build(const char *format)
{
    char text[4096], one[512], two[512];
    if (strcmp(format, "1.2") == 0) {
        describe(one, sizeof one, ".quad first", ".Ld1", ".Lone", ".Ldeltas", false, false, "table", "table");
        describe(two, sizeof two, ".quad second", ".Ld2", ".Ltwo", ".Lnone", false, false, "table", "table");
        snprintf(text, sizeof text,
                 "%s .long 0xfffffffb\n .byte 0, 0, 1, 8\n .quad 2\n .quad first, .Ld1-table, second, "
                 ".Ld2-table, end\n%s%s%s",
                 code, one, two, rest);
    } else if (strcmp(format, "1.16") == 0) {
        describe(one, sizeof one, ".quad first", ".Ld1", ".Lone", ".Ldeltas", true, false, "names", "pcs");
        describe(two, sizeof two, ".quad second", ".Ld2", ".Ltwo", ".Lnone", true, false, "names", "pcs");
        snprintf(text, sizeof text,
                 "%s .long 0xfffffffa\n .byte 0, 0, 1, 8\n .quad 2, 0, names-table, 0, 0, pcs-table, "
                 "functions-table\n"
                 "functions: .quad first, .Ld1-functions, second, .Ld2-functions, end\n%s%s%s",
                 code, one, two, rest);
    } else {
        const bool line = strcmp(format, "1.20") == 0;
        const char *entry = strcmp(format, "damaged") == 0 ? "0x7000" : "second-first"; /* of the second */
        describe(one, sizeof one, ".long 0", ".Ld1", ".Lone", ".Ldeltas", true, line, "names", "pcs");
        describe(two, sizeof two, ".long second-first", ".Ld2", ".Ltwo", ".Lnone", true, line, "names",
                 "pcs");
        snprintf(text, sizeof text,
                 "%s .long %s\n .byte 0, 0, 1, 8\n .quad 2, 0, first, names-table, 0, 0, pcs-table, "
                 "functions-table\n"
                 "functions: .long 0, .Ld1-functions, %s, .Ld2-functions, end-first\n%s%s%s",
                 code, line ? "0xfffffff1" : "0xfffffff0", entry, one, two, rest);
    }
    build_source("table.s", text);
    build_run("$CC -c -o table.o table.s && ld -o whole -e first table.o && strip -o table whole");
}

static int32_t depth_at(const struct image *image, uint64_t address)
{
    const struct cfi_row row = cfi_lookup(image_cfi(image), address);
    return row.cfa == CFI_SP ? row.cfa_offset : -1;
}

Test(go_table, formats, .fini = build_clean)
{
    static const char *const formats[] = {"1.2", "1.16", "1.18", "1.20"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        build(formats[i]);
        struct image *whole = build_open("whole"), *image = build_open("table");
        const uint64_t first = build_function(whole, "first");
        cr_assert_eq(image_derive_rows(image, UINT64_MAX), 0);
        const uint32_t f = image_function_at(image, first), g = image_function_at(image, first + 33);
        cr_assert_neq(f, IMAGE_NO_FUNCTION, "%s", formats[i]);
        cr_assert_neq(g, IMAGE_NO_FUNCTION, "%s", formats[i]);
        cr_expect_str_eq(image_function(image, f)->name, "main.first");
        cr_expect_str_eq(image_function(image, g)->name, "runtime.goexit");
        cr_expect_eq(depth_at(image, first), 8, "%s", formats[i]);
        cr_expect_eq(depth_at(image, first + 4), 32, "%s", formats[i]);
        cr_expect_eq(depth_at(image, first + 19), 32, "%s", formats[i]);
        cr_expect_eq(depth_at(image, first + 20), 8, "%s", formats[i]);
        cr_expect(cfi_lookup(image_cfi(image), first + 32).root, "%s", formats[i]);
        cr_expect_not(cfi_lookup(image_cfi(image), first).root, "%s", formats[i]);
        image_close(image);
        image_close(whole);
    }
}

/* The one before it does not go on to there, over all others. */
Test(go_table, a_function_at_a_damaged_address_is_refused, .fini = build_clean)
{
    struct go_table table;
    struct go_function f;
    build("damaged");
    struct image *image = build_open("table");
    cr_assert(go_table_open(&image->file, &table));
    cr_assert(go_table_function(&table, 0, &f));
    cr_expect_eq(f.size, 48u, "to the end of the code");
    cr_expect_not(go_table_function(&table, 1, &f));
    image_close(image);
}

Test(go_table, other_formats_and_cut_tables_are_refused, .fini = build_clean)
{
    struct go_table table;
    struct go_function f;
    build("1.18");
    build_run("objcopy -O binary --only-section=.gopclntab table bytes && size=$(stat -c %%s bytes) && "
              "for n in 0 3 7 8 20 63 70 90; do head -c $n bytes >cut && objcopy --update-section "
              ".gopclntab=cut table cut.$n; done");
    struct image *image = build_open("table");
    cr_assert(go_table_open(&image->file, &table));
    cr_expect_eq(table.count, 2u);
    cr_expect_not(go_table_function(&table, 2, &f));
    image_close(image);
    static const char *const cuts[] = {"cut.0",  "cut.3",  "cut.7",  "cut.8",
                                       "cut.20", "cut.63", "cut.70", "cut.90"};
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        image = build_open(cuts[i]);
        if (go_table_open(&image->file, &table))
            for (uint32_t k = 0; k < table.count; k++)
                go_table_function(&table, k, &f);
        cr_expect_eq(image_derive_rows(image, UINT64_MAX), 0);
        image_close(image);
    }
    build_run("printf '\\362\\377\\377\\377' >magic && tail -c +5 bytes >>magic && objcopy --update-section "
              ".gopclntab=magic table later");
    image = build_open("later");
    cr_expect_not(go_table_open(&image->file, &table));
    cr_expect_eq(table.magic, 0xfffffff2u);
    image_close(image);
}

/* Each looks like a table whose text the loader places, and there are as many words that it places: read for all of the headers, they
 * would take minutes. */
Test(go_table, many_that_look_like_one_take_no_time, .fini = build_clean)
{
    struct go_table table;
    build_source("many.s", ".text\n.globl f\nf: ret\n"
                           ".section .note.go.buildid,\"a\",@note\n.long 4, 4, 4\n.asciz \"Go\"\n.long 0\n"
                           ".section .data.rel.ro,\"aw\",@progbits\n"
                           ".rept 200000\n.long 0xfffffff1\n.byte 0, 0, 1, 8\n.quad f\n.endr\n");
    build_run("$CC -shared -nostdlib -o many.so many.s");
    struct image *image = build_open("many.so");
    cr_expect_not(go_table_open(&image->file, &table));
    image_close(image);
}
