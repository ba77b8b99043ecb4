/* .cold parts belong to the functions they were split from, with symbols and without. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image/cache.h"
#include "image/cfi/cfi.h"
#include "tests/image/build.h"

/* Functions whose unlikely parts gcc moves away: reached by a conditional jump with a frame (plain) and
 * without one (leaf), by landing pads (catcher, cleanup), by throwing (risky). */
static const char program[] =
    "#include <cstdio>\n#include <cstdlib>\n#include <string>\n#include <stdexcept>\n"
    "static int n;\n"
    "#define F extern \"C\" __attribute__((noinline)) int\n"
    "#define UNLIKELY(x) __builtin_expect(!!(x), 0)\n"
    "F risky(int x) { if (UNLIKELY(x == 99)) { fprintf(stderr, \"%d\\n\", x); n += x;\n"
    "    throw std::runtime_error(\"x\"); } return x + n; }\n"
    "F catcher(int x) { std::string s(x, 'a'); try { return risky(x) + s.size(); }\n"
    "    catch (std::exception &e) { n += risky(3); fprintf(stderr, \"%s\\n\", e.what()); return -1; } }\n"
    "F cleanup(int x) { std::string s(x, 'a'), t(x + 1, 'b'); return risky(x) + s.size() + t[1]; }\n"
    "F plain(int *p, int k) { char line[40]; int r = 0; for (int i = 0; i < k; i++) { if (UNLIKELY(p[i] < "
    "0)) {\n"
    "    sprintf(line, \"%d %d\\n\", i, k); fputs(line, stderr); n++; abort(); } r += p[i] * k + risky(r); "
    "}\n"
    "    return r; }\n"
    "F leaf(int x) { if (UNLIKELY(x == 7)) abort(); return x * n; }\n"
    "int main(int c, char **) { int a[3] = {1, 2, c};\n"
    "    return catcher(c) + cleanup(c) + plain(a, 3) + leaf(c); }\n";

static bool is_cold(const struct image_function *f)
{
    return f->name && strstr(f->name, ".cold");
}

Test(cold, stripped_and_unstripped_agree, .fini = build_clean)
{
    build_source("cold.cc", program);
    /* g++: clang splits no functions */
    build_run("g++ -O2 -o cold cold.cc && strip -o bare cold");
    struct image *image = build_open("cold"), *bare = build_open("bare");
    const struct cfi_range *ranges;
    size_t count = cfi_ranges(image_cfi(image), &ranges);
    unsigned parts = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t of_image = image_function_at(image, ranges[i].address);
        uint32_t of_bare = image_function_at(bare, ranges[i].address);
        cr_assert_neq(of_image, IMAGE_NO_FUNCTION);
        cr_assert_neq(of_bare, IMAGE_NO_FUNCTION);
        cr_expect_eq(image_function(image, of_image)->address, image_function(bare, of_bare)->address);
    }
    for (uint32_t i = 0; i < image_function_count(image); i++) {
        const struct image_function *f = image_function(image, i);
        cr_expect_eq(f->owner != i, is_cold(f), "%s", f->name);
        if (!is_cold(f))
            continue;
        parts++;
        const char *owner = image_function(image, f->owner)->name;
        cr_expect_eq(strncmp(owner, f->name, strlen(owner)), 0, "%s of %s", f->name, owner);
        cr_expect_eq(f->name[strlen(owner)], '.');
        cr_expect_eq(image_function_entry(bare, f->address), IMAGE_NO_FUNCTION);
    }
    cr_expect_geq(parts, 4);
    image_close(image);
    image_close(bare);
}

/* What is opened while recording, and settled then, is as if it had been opened afterwards. */
Test(cold, settled_parts_have_their_owners, .fini = build_clean)
{
    build_source("cold.cc", program);
    build_run("g++ -O2 -o cold cold.cc && strip -o bare cold");
    const struct image_options recording = {.live = true, .parts_apart = true, .no_debug_files = true};
    struct image_cache *cache = image_cache_new(&recording);
    struct image *bare = build_open("bare"), *settled, *late;
    char late_path[4096];
    cr_assert_eq(image_cache_get(cache, image_path(bare), NULL, &settled, NULL), 0);
    snprintf(late_path, sizeof late_path, "%s.late", image_path(bare));
    cr_assert_neq(image_cache_get(cache, late_path, NULL, &late, NULL), 0);
    build_run("cp bare bare.late");
    cr_assert_neq(image_cache_get(cache, late_path, NULL, &late, NULL), 0);
    unsigned apart = 0, count = image_function_count(bare);
    cr_assert_eq(image_function_count(settled), count);
    for (uint32_t i = 0; i < count; i++)
        apart += image_function(settled, i)->owner != image_function(bare, i)->owner;
    cr_expect_geq(apart, 4);
    cr_assert_eq(image_cache_settle(cache), 0);
    for (uint32_t i = 0; i < count; i++)
        cr_expect_eq(image_function(settled, i)->owner, image_function(bare, i)->owner);
    cr_expect_eq(image_cache_get(cache, late_path, NULL, &late, NULL), 0);
    image_close(bare);
    image_cache_free(cache);
}

/* Two source files with static functions of one name: each part goes to its own. */
Test(cold, same_names_in_two_files, .fini = build_clean)
{
    static const char half[] =
        "#include <stdlib.h>\n"
        "static __attribute__((noipa)) int same(int *p) { if (__builtin_expect(*p < %s, 0)) abort();\n"
        "    return *p * %s; }\n"
        "int %s(int *p) { return same(p) + 1; }\n";
    char text[600];
    snprintf(text, sizeof text, half, "3", "5", "one");
    build_source("one.c", text);
    snprintf(text, sizeof text, half, "7", "9", "two");
    build_source("two.c", text);
    build_run("gcc -O2 -fPIC -shared -o same.so one.c two.c");
    struct image *image = build_open("same.so");
    uint32_t owners[2] = {0}, count = 0;
    for (uint32_t i = 0; i < image_function_count(image); i++)
        if (is_cold(image_function(image, i)) && count < 2)
            owners[count++] = image_function(image, i)->owner;
    cr_assert_eq(count, 2);
    cr_expect_neq(owners[0], owners[1]);
    /* the parts lie in the order of the files, and so do the functions */
    cr_expect_lt(owners[0], owners[1]);
    for (unsigned i = 0; i < 2; i++)
        cr_expect_str_eq(image_function(image, owners[i])->name, "same");
    image_close(image);
}

/* A function that others reach by a conditional jump and by a call, or from two functions, is no part. */
Test(cold, shared_targets_are_functions, .fini = build_clean)
{
    build_source("jump.s", ".text\n"
                           ".byte 0\n"
                           "called: .cfi_startproc\n ret\n .cfi_endproc\n"
                           "shared: .cfi_startproc\n ret\n .cfi_endproc\n"
                           "part: .cfi_startproc\n ud2\n .cfi_endproc\n"
                           "tail: .cfi_startproc\n ret\n .cfi_endproc\n"
                           ".balign 16\n"
                           "f: .cfi_startproc\n call called\n {disp32} jz called\n {disp32} jz shared\n"
                           " {disp32} js part\n {disp32} jmp tail\n .cfi_endproc\n"
                           "g: .cfi_startproc\n {disp32} jz shared\n ret\n .cfi_endproc\n"
                           ".section .note.GNU-stack\n");
    build_run("gcc -shared -nostdlib -o jump.so jump.s && strip jump.so");
    struct image *image = build_open("jump.so");
    const struct cfi_range *ranges;
    cr_assert_eq(cfi_ranges(image_cfi(image), &ranges), 6);
    uint32_t f[6];
    for (unsigned i = 0; i < 6; i++)
        f[i] = image_function_at(image, ranges[i].address);
    cr_expect_eq(image_function(image, f[0])->address, ranges[0].address); /* called */
    cr_expect_eq(image_function(image, f[1])->address, ranges[1].address); /* shared */
    cr_expect_eq(f[2], f[4]);                                              /* part of f */
    cr_expect_eq(image_function(image, f[3])->address, ranges[3].address); /* tail */
    image_close(image);
}

/* What jumps into a function is a part of it, unless it is called in its middle more often, as an interpreter is. */
Test(cold, what_is_called_in_its_middle_is_no_part, .fini = build_clean)
{
    for (unsigned calls = 0; calls < 3; calls++) {
        build_source("middle.s", ".text\n"
                                 "f: .cfi_startproc\n nop\n1: nop\n ret\n .cfi_endproc\n"
                                 "part: .cfi_startproc\n .cfi_def_cfa_offset 80\n nop\n2: nop\n"
                                 " {disp32} jmp 1b\n .cfi_endproc\n"
                                 "g: .cfi_startproc\n .rept CALLS\n call 2b\n .endr\n ret\n .cfi_endproc\n"
                                 ".section .note.GNU-stack\n");
        build_run("gcc -shared -nostdlib -Wa,--defsym,CALLS=%u -o middle.so middle.s && strip middle.so",
                  calls);
        struct image *image = build_open("middle.so");
        const struct cfi_range *ranges;
        cr_assert_eq(cfi_ranges(image_cfi(image), &ranges), 3);
        const uint32_t part = image_function_at(image, ranges[1].address);
        cr_expect_eq(image_function(image, part)->address, ranges[calls > 1].address, "%u calls", calls);
        image_close(image);
    }
}
