/* Separate debug files: found by build-id and by link, refused when they are of another build. */
#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

#include "image/cache.h"
#include "tests/image/build.h"

static const char source[] = "static __attribute__((noinline)) int hidden(int x) { return x * 3; }\n"
                             "int seen(int x) { return hidden(x) + 1; }\n";

static bool knows_hidden(const struct image *image)
{
    for (uint32_t i = 0; i < image_function_count(image); i++) {
        const char *name = image_function(image, i)->name;
        if (name && strcmp(name, "hidden") == 0)
            return true;
    }
    return false;
}

static void split(const char *build_id)
{
    build_source("lib.c", source);
    build_run("$CC -O2 -g -fPIC -shared -Wl,--build-id=%s -o lib.so lib.c &&"
              "objcopy --only-keep-debug lib.so lib.so.debug && strip lib.so",
              build_id);
}

Test(debug_file, by_build_id, .fini = build_clean)
{
    split("0xabcdef01");
    build_run("mkdir -p .build-id/ab && mv lib.so.debug .build-id/ab/cdef01.debug");
    struct image *image = build_open("lib.so"); /* the directory is the root of debug files */
    cr_expect(knows_hidden(image));
    image_close(image);
    struct image_options none = {.no_debug_files = true};
    cr_assert_eq(image_open(build_path("lib.so"), &none, &image, NULL), 0);
    cr_expect_not(knows_hidden(image));
    image_close(image);
}

Test(debug_file, by_link_beside_the_file_and_below, .fini = build_clean)
{
    split("none"); /* the checksum decides */
    build_run("objcopy --add-gnu-debuglink=lib.so.debug lib.so");
    struct image *image = build_open("lib.so");
    cr_expect(knows_hidden(image));
    image_close(image);
    build_run("mkdir .debug && mv lib.so.debug .debug");
    image = build_open("lib.so");
    cr_expect(knows_hidden(image));
    image_close(image);
    build_run("mkdir -p .$PWD && mv .debug/lib.so.debug .$PWD");
    image = build_open("lib.so");
    cr_expect(knows_hidden(image));
    image_close(image);
}

static void count(void *context, enum log_level level, const char *text)
{
    int *warnings = context;
    *warnings += level == LOG_WARNING && strstr(text, "another build");
}

Test(debug_file, of_another_build_is_left_out, .fini = build_clean)
{
    split("none");
    build_run("objcopy --add-gnu-debuglink=lib.so.debug lib.so && printf x >>lib.so.debug");
    int warnings = 0;
    struct log log = {count, &warnings};
    struct image_options options = {.debug_directory = "/nonexistent", .log = &log};
    struct image *image;
    cr_assert_eq(image_open(build_path("lib.so"), &options, &image, NULL), 0);
    cr_expect_not(knows_hidden(image));
    cr_expect_eq(warnings, 1);
    image_close(image);
}

/* Opens lib.so from a cache that was told of another file of its build. */
static bool knows_with_twin(const char *twin, const struct build_id *id)
{
    const struct image_options options = {.debug_directory = "/nonexistent"};
    struct image_cache *cache = image_cache_new(&options);
    struct image *image;
    cr_assert(image_cache_also(cache, build_path("lib.so"), id));
    cr_assert(image_cache_also(cache, build_path(twin), id));
    cr_assert_eq(image_cache_get(cache, build_path("lib.so"), id, &image, NULL), 0);
    cr_expect_str_eq(image_name(image), "lib.so");
    bool knows = knows_hidden(image);
    image_cache_free(cache);
    return knows;
}

/* Whether a file that is told of after lib.so was opened has names for it. */
static bool is_late(const char *twin, const struct build_id *id)
{
    const struct image_options options = {.debug_directory = "/nonexistent"};
    struct image_cache *cache = image_cache_new(&options);
    struct image *image;
    cr_assert_eq(image_cache_get(cache, build_path("lib.so"), id, &image, NULL), 0);
    cr_assert(image_cache_also(cache, build_path(twin), id));
    bool late = image_cache_is_late(cache);
    image_cache_free(cache);
    return late;
}

Test(debug_file, of_an_unstripped_twin, .fini = build_clean)
{
    const struct build_id id = {4, {1, 2, 3, 4}};
    setenv("HOME", build_path("home"), 1);
    setenv("XDG_CACHE_HOME", build_path("cache"), 1);
    build_source("lib.c", source);
    build_run(
        "$CC -O2 -fPIC -shared -Wl,--build-id=0x01020304 -o whole.so lib.c && strip -o lib.so whole.so &&"
        "$CC -O2 -fPIC -shared -Wl,--build-id=0x01020305 -o other.so lib.c");
    cr_expect(knows_with_twin("whole.so", &id));
    cr_expect_not(knows_with_twin("lib.so", &id));
    cr_expect_not(knows_with_twin("other.so", &id), "another build");
    cr_expect_not(knows_with_twin("missing.so", &id));
    build_run("cp lib.so copy.so");
    cr_expect(is_late("whole.so", &id));
    cr_expect_not(is_late("copy.so", &id), "which has no more names");
    cr_expect_not(is_late("other.so", &id));
    cr_expect_not(is_late("missing.so", &id));
}

/* What Fedora's find-debuginfo makes: the functions' symbols alone, compressed, in the file itself. */
Test(debug_file, symbols_within_the_file, .fini = build_clean)
{
    build_source("lib.c", source);
    build_run(
        "$CC -O2 -fPIC -shared -o lib.so lib.c && nm -D lib.so --format=posix --defined-only | awk '{ print "
        "$1 }' |"
        "sort >dynamic && nm lib.so --format=posix --defined-only | awk '$2 ~ /[TtDd]/ { print $1 }' | sort |"
        "comm -13 dynamic - >keep && objcopy --only-keep-debug lib.so mini &&"
        "objcopy -S --remove-section .comment --keep-symbols=keep mini && xz mini && strip lib.so");
    struct image *image = build_open("lib.so");
    cr_expect_not(knows_hidden(image));
    image_close(image);
    build_run("cp lib.so bare.so && objcopy --add-section .gnu_debugdata=mini.xz lib.so");
    image = build_open("lib.so");
    cr_expect(knows_hidden(image));
    image_close(image);
    build_run("printf '\\377\\377\\377' | dd of=mini.xz bs=1 seek=100 conv=notrunc status=none &&"
              "objcopy --add-section .gnu_debugdata=mini.xz bare.so");
    image = build_open("bare.so");
    cr_expect_not(knows_hidden(image), "what is damaged is left out");
    image_close(image);
}
