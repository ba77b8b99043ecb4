/* Resized files: they behave as before, and what is wrong with one is found. */
#include <criterion/criterion.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rewrite/patch/patch.h"
#include "tests/image/build.h"

static const char program[] =
    "#include <stdio.h>\n"
    "#include <string.h>\n"
    "#ifdef __clang__\n"
    "#define KNOWN __attribute__((noinline))\n"
    "#else\n"
    "#define KNOWN __attribute__((noipa))\n"
    "#endif\n"
    "KNOWN long inner(const char *text, long a, long b, long c, long d, long e, "
    "long f)\n"
    "{\n"
    "    char copy[16];\n"
    "    snprintf(copy, sizeof copy, \"%s %ld\", text, f);\n"
    "    return (long)strlen(copy) + a + b + c + d + e + f;\n"
    "}\n"
    "KNOWN long outer(long n)\n"
    "{\n"
    "    char text[24];\n"
    "    snprintf(text, sizeof text, \"%ld\", n);\n"
    "    return n ? inner(text, n, 2, 3, 4, 5, 6) + outer(n - 1) : inner(text, 1, 2, 3, 4, 5, 6);\n"
    "}\n"
    "int main(void) { printf(\"%ld\\n\", outer(20)); return 0; }\n";

struct fixture {
    struct image *image, *after;
    struct growth *frames;
    struct pad pads[2];
    void *elf;
    size_t size;
    struct build_id id;
    struct fathom_error err;
};

static void open_program(struct fixture *f, const char *options)
{
    memset(f, 0, sizeof *f);
    build_source("program.c", program);
    build_run("$CC -O2 %s -o program program.c && ./program >want", options);
    f->image = build_open("program");
    cr_assert_eq(growth_new(f->image, &f->frames, &f->err), 0, "%s", f->err.text);
    f->pads[0] = (struct pad){build_function(f->image, "outer"), 32, 0};
    f->pads[1] = (struct pad){build_function(f->image, "inner"), 16, 0};
}

static int resize(struct fixture *f)
{
    free(f->elf);
    f->elf = NULL;
    return patch_resize(f->image, f->frames, f->pads, 2, &f->elf, &f->size, &f->id, &f->err);
}

/* Opens what was made, as a file of its own. */
static int check(struct fixture *f)
{
    FILE *out = fopen(build_path("resized"), "wb");
    cr_assert_not_null(out);
    cr_assert_eq(fwrite(f->elf, 1, f->size, out), f->size);
    cr_assert_eq(fclose(out), 0);
    image_close(f->after);
    f->after = build_open("resized");
    return patch_check(f->image, f->after, f->pads, 2, &f->err);
}

static void close_program(struct fixture *f)
{
    free(f->elf);
    growth_free(f->frames);
    image_close(f->image);
    image_close(f->after);
}

static void resizes(const char *options)
{
    struct fixture f;
    open_program(&f, options);
    cr_assert_eq(resize(&f), 0, "%s", f.err.text);
    cr_expect_eq(check(&f), 0, "%s", f.err.text);
    build_run("chmod +x resized && ./resized >got && cmp want got");
    cr_expect_not(build_id_equal(&f.id, image_build_id(f.image)));
    cr_expect(build_id_equal(&f.id, image_build_id(f.after)));
    /* what was resized can be resized again, as far as there is room */
    struct growth *again;
    cr_assert_eq(growth_new(f.after, &again, &f.err), 0);
    for (unsigned i = 0; i < 2; i++) {
        uint32_t most = growth_most(f.frames, image_function_entry(f.image, f.pads[i].address));
        uint32_t left = growth_most(again, image_function_entry(f.after, f.pads[i].address));
        cr_expect(left == most - f.pads[i].bytes || most == GROWTH_MOST, "%u of %u", left, most);
    }
    growth_free(again);
    close_program(&f);
}

Test(patch, resizes_frames_addressed_by_sp, .fini = build_clean)
{
    resizes("-fomit-frame-pointer");
}

Test(patch, resizes_frames_addressed_by_bp, .fini = build_clean)
{
    resizes("-fno-omit-frame-pointer");
}

Test(patch, resizes_programs_at_fixed_addresses, .fini = build_clean)
{
    resizes("-fno-pie -no-pie");
}

Test(patch, the_same_pads_make_the_same_file, .fini = build_clean)
{
    struct fixture f;
    open_program(&f, "");
    cr_assert_eq(resize(&f), 0);
    void *first = f.elf;
    struct build_id id = f.id;
    f.elf = NULL;
    cr_assert_eq(resize(&f), 0);
    cr_expect_eq(memcmp(first, f.elf, f.size), 0);
    f.pads[0].bytes = 16;
    cr_assert_eq(resize(&f), 0);
    cr_expect_not(build_id_equal(&id, &f.id));
    free(first);
    close_program(&f);
}

Test(patch, no_build_id_stays_none, .fini = build_clean)
{
    struct fixture f;
    open_program(&f, "-Wl,--build-id=none");
    cr_assert_eq(resize(&f), 0);
    cr_expect_eq(f.id.size, 0);
    cr_expect_eq(check(&f), 0, "%s", f.err.text);
    close_program(&f);
}

Test(patch, refuses_pads_that_do_not_fit, .fini = build_clean)
{
    struct fixture f;
    open_program(&f, "");
    const struct pad pad = f.pads[0];
    f.pads[0].bytes = growth_most(f.frames, image_function_entry(f.image, pad.address)) + 16;
    cr_expect_eq(resize(&f), -EINVAL);
    f.pads[0].bytes = 8;
    cr_expect_eq(resize(&f), -EINVAL);
    f.pads[0] = (struct pad){pad.address + 1, 16, 0};
    cr_expect_eq(resize(&f), -EINVAL);
    f.pads[0] = f.pads[1];
    cr_expect_eq(resize(&f), -EINVAL);
    f.pads[0] = (struct pad){pad.address, 0, 0};
    cr_expect_eq(resize(&f), 0);
    cr_expect_eq(check(&f), 0, "%s", f.err.text);
    cr_expect_null(strstr(f.err.text, "%"), "no format is left");
    close_program(&f);
}

/* Each byte of a function's code and CFI that is wrong, and one far away, is found. */
Test(patch, finds_what_is_wrong, .fini = build_clean)
{
    struct fixture f;
    open_program(&f, "");
    cr_assert_eq(resize(&f), 0);
    uint64_t offset;
    cr_assert(image_offset(f.image, f.pads[0].address, &offset));
    uint8_t *bytes = f.elf;
    for (unsigned i = 0; i < 24; i++) {
        bytes[offset + i] ^= 4;
        cr_expect_eq(check(&f), -EBADMSG, "byte %u of the code", i);
        bytes[offset + i] ^= 4;
    }
    bytes[f.size - 1] ^= 1;
    cr_expect_eq(check(&f), -EBADMSG, "the last byte");
    bytes[f.size - 1] ^= 1;
    cr_expect_eq(check(&f), 0, "%s", f.err.text);
    f.pads[0].bytes += 16;
    cr_expect_eq(check(&f), -EBADMSG, "a pad that was not applied");
    f.pads[0].bytes = 0;
    cr_expect_eq(check(&f), -EBADMSG, "a pad that was not asked for");
    close_program(&f);
}

/* CFI rows are those of the code: any other byte in the FDEs of a resized function is noticed. */
Test(patch, finds_cfi_that_was_left, .fini = build_clean)
{
    struct fixture f;
    open_program(&f, "-fomit-frame-pointer");
    cr_assert_eq(resize(&f), 0);
    FILE *original = fopen(build_path("program"), "rb");
    uint8_t *before = malloc(f.size), *after = f.elf;
    cr_assert(original && before && fread(before, 1, f.size, original) == f.size);
    fclose(original);
    uint64_t code;
    cr_assert(image_offset(f.image, f.pads[0].address, &code));
    unsigned found = 0;
    for (size_t i = (code | 4095) + 1; i < f.size && found < 4;
         i++) { /* .eh_frame is in the pages after .text */
        if (before[i] == after[i])
            continue;
        uint8_t kept = after[i];
        after[i] = before[i];
        cr_expect_eq(check(&f), -EBADMSG, "offset %zu", i);
        after[i] = kept;
        found++;
    }
    cr_expect_geq(found, 2);
    free(before);
    close_program(&f);
}

Test(patch, a_file_that_changed_is_refused, .fini = build_clean)
{
    struct fixture f;
    open_program(&f, "");
    build_run("cp program other && printf x | dd of=other bs=1 seek=4200 conv=notrunc 2>/dev/null && mv "
              "other program");
    cr_expect_eq(resize(&f), -ESTALE);
    close_program(&f);
}
