/* The frame table: equal frames are one item, texts are kept and harmless. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

#include "profile/frames.h"

/* As those of a map of another build have them. */
Test(frames, symbols_are_shown_demangled)
{
    struct frames *frames = frames_new();
    const struct frame *f = frames_at(frames, frames_symbol(frames, "/usr/bin/prog", "_ZN3Box3addEi", 0x10));
    cr_expect_str_eq(f->name, "Box::add");
    cr_expect_str_eq(f->image, "prog");
    f = frames_at(frames, frames_symbol(frames, "/lib/libz.so.1.2.3", NULL, 0x10));
    cr_expect_str_eq(f->name, "libz.so.1+0x10", "a function without a symbol is known by its address");
    cr_expect_str_eq(f->image, "libz.so.1.2.3");
    frames_free(frames);
}

Test(frames, equal_frames_are_one_item)
{
    struct frames *frames = frames_new();
    uint32_t a = frames_named(frames, "memcpy", "libc.so.6", 0x100);
    cr_expect_eq(frames_named(frames, "memcpy", "libc.so.6", 0x100), a);
    uint32_t others[] = {
        frames_named(frames, "memcpy", "libc.so.6", 0x200),
        frames_named(frames, "memcpy", "libd.so.6", 0x100),
        frames_named(frames, "memmove", "libc.so.6", 0x100),
        frames_label(frames, FRAME_LABEL, "memcpy"),
        frames_label(frames, FRAME_UNKNOWN_CONTEXT, "memcpy"),
        frames_add(frames, &(struct frame){FRAME_INLINED, "memcpy", "libc.so.6", 0x100, "string.c:12", 0}),
        frames_add(frames, &(struct frame){FRAME_INLINED, "memcpy", "libc.so.6", 0x100, "string.c:13", 0}),
    };
    enum { OTHERS = sizeof others / sizeof *others };
    for (uint32_t i = 0; i < OTHERS; i++)
        cr_expect_eq(others[i], a + 1 + i);
    cr_expect_eq(frames_count(frames), OTHERS + 1u);
    const struct frame *inlined = frames_at(frames, others[5]);
    cr_expect_eq(inlined->kind, FRAME_INLINED);
    cr_expect_str_eq(inlined->source, "string.c:12");
    cr_expect_eq(inlined->address, 0x100u);
    cr_expect_str_eq(frames_at(frames, others[3])->image, "");
    cr_expect_null(frames_at(frames, others[3])->source);
    cr_expect_null(frames_at(frames, OTHERS + 1));
    frames_free(frames);
}

Test(frames, entries_stay_where_they_are)
{
    struct frames *frames = frames_new();
    const struct frame *first = frames_at(frames, frames_named(frames, "f", "prog", 0));
    char name[32];
    for (unsigned i = 0; i < 100000; i++) {
        snprintf(name, sizeof name, "f%u", i % 5000);
        cr_assert_eq(frames_named(frames, name, "prog", i / 5000), i + 1);
    }
    cr_expect_eq(frames_at(frames, 0), first);
    cr_expect_str_eq(frames_at(frames, 4999 + 1)->name, "f4999");
    frames_free(frames);
}

Test(frames, control_characters_do_not_get_through)
{
    struct frames *frames = frames_new();
    uint32_t item = frames_named(frames, "a\nb\x1b[31m\x7f", "\tlib", 0);
    cr_expect_str_eq(frames_at(frames, item)->name, "a?b?[31m?");
    cr_expect_str_eq(frames_at(frames, item)->image, "?lib");
    frames_free(frames);
}

#define TEN(x) x x x x x x x x x x

/* A function with a name of 600 characters, which no fixed buffer expects. */
int long_name(int x) __asm__(TEN(TEN("sixchr")));
__attribute__((noinline)) int long_name(int x)
{
    return x * 3 + 1;
}

Test(frames, functions_are_named_by_their_image)
{
    struct fathom_error err = {0};
    struct image *image;
    cr_assert_eq(image_open("/proc/self/exe", NULL, &image, &err), 0, "%s", err.text);
    struct frames *frames = frames_new();
    uint32_t long_found = 0;
    for (uint32_t i = 0; i < image_function_count(image); i++) {
        char name[2048];
        uint32_t owner = image_function(image, i)->owner, item = frames_function(frames, image, i);
        image_function_format(image, owner, name, sizeof name);
        const struct frame *frame = frames_at(frames, item);
        cr_assert_str_eq(frame->name, name);
        cr_assert_str_eq(frame->image, image_name(image));
        cr_assert_eq(frame->address, image_function(image, owner)->address);
        cr_assert_eq(frames_function(frames, image, i), item);
        cr_assert_eq(frames_function(frames, image, owner), item);
        long_found += strlen(name) == 600 && memcmp(name, "sixchrsixchr", 12) == 0;
    }
    cr_expect_gt(frames_count(frames), 10u);
    cr_expect_eq(long_found, 1u);
    frames_free(frames);
    image_close(image);
}

Test(frames, an_address_in_a_file_is_no_name)
{
    static const struct {
        const char *name, *image;
        bool has;
    } cases[] = {{"inflate", "libz.so.1.2.13", true},      {"libz.so.1+0x1234", "libz.so.1.2.13", false},
                 {"prog+0x1234", "prog", false},           {"operator+", "prog", true},
                 {"other+0x1234", "libz.so.1.2.13", true}, {"c++filt+0x12", "c++filt", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_eq(frame_has_name(&(struct frame){.name = cases[i].name, .image = cases[i].image}),
                     cases[i].has, "%s", cases[i].name);
}
