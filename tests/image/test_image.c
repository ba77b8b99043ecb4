/* Opening images: build-ids, addresses, functions, names, and files that are none. */
#include <criterion/criterion.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "image/cache.h"
#include "image/image_file.h"
#include "image/image_private.h"
#include "image/name.h"
#include "tests/image/build.h"

static const char library[] = "#include <stdlib.h>\n"
                              "#include <string.h>\n"
                              "static __attribute__((noinline)) int hidden(int x) { return x * 3; }\n"
                              "int seen(int x) { return hidden(x) + rand(); }\n"
                              "int __private_alias(int) __attribute__((alias(\"seen\")));\n";

static const char *shown(const struct image *image, uint64_t address)
{
    static char text[200];
    uint32_t f = image_function_at(image, address);
    if (f == IMAGE_NO_FUNCTION)
        return "none";
    image_function_format(image, f, text, sizeof text);
    return text;
}

Test(image, build_id_address_and_bytes, .fini = build_clean)
{
    build_source("lib.c", library);
    build_run("$CC -O2 -fPIC -shared -Wl,--build-id=0x0123456789abcdef -o lib.so lib.c");
    struct image *image = build_open("lib.so");
    char id[2 * BUILD_ID_MAX + 1];
    build_id_format(image_build_id(image), id);
    cr_expect_str_eq(id, "0123456789abcdef");
    cr_expect_str_eq(image_name(image), "lib.so");
    struct build_id alone;
    cr_assert_eq(build_id_read(build_path("lib.so"), &alone, NULL), 0);
    cr_expect(build_id_equal(&alone, image_build_id(image)));
    alone.bytes[7] ^= 1;
    cr_expect_not(build_id_equal(&alone, image_build_id(image)));

    uint64_t address;
    cr_assert(image_address(image, 0, &address));
    size_t size;
    const uint8_t *bytes = image_bytes(image, address, &size);
    cr_assert_not_null(bytes);
    cr_expect_eq(memcmp(bytes, "\177ELF", 4), 0);
    cr_expect_not(image_address(image, (uint64_t)1 << 40, &address));
    cr_expect_null(image_bytes(image, (uint64_t)1 << 40, &size));
    image_close(image);
}

Test(image, functions_with_symbols_and_without_have_the_same_entries, .fini = build_clean)
{
    build_source("lib.c", library);
    build_run("$CC -O2 -fPIC -shared -o lib.so.1.2.3 lib.c && cp lib.so.1.2.3 bare.so.4.5 &&"
              "strip bare.so.4.5");
    struct image *image = build_open("lib.so.1.2.3"), *bare = build_open("bare.so.4.5");
    uint64_t seen = build_function(image, "seen"), hidden = build_function(image, "hidden");
    cr_expect_str_eq(shown(image, seen), "seen"); /* not its alias with underscores */
    cr_expect_str_eq(shown(image, hidden), "hidden");
    cr_expect_str_eq(shown(bare, seen), "seen");
    char nameless[64];
    snprintf(nameless, sizeof nameless, "bare.so.4+0x%llx", (unsigned long long)hidden);
    cr_expect_str_eq(shown(bare, hidden), nameless);
    cr_expect_eq(image_function(image, image_function_at(image, hidden))->size,
                 image_function(bare, image_function_at(bare, hidden))->size);
    for (const struct image *i = image; i; i = i == image ? bare : NULL) {
        cr_expect_eq(image_function(i, image_function_at(i, build_function(i, "_init")))->owner,
                     image_function_entry(i, build_function(i, "_init")));
        cr_expect(build_function(i, "_fini") > 0);
        uint64_t stub = build_function(i, "rand@plt");
        cr_expect_str_eq(shown(i, stub + 4), "rand@plt");
        for (uint32_t f = 1; f < image_function_count(i); f++) {
            const struct image_function *a = image_function(i, f - 1), *b = image_function(i, f);
            cr_expect(a->address + a->size <= b->address);
            cr_expect(a->size > 0);
        }
    }
    cr_expect_eq(image_function_entry(image, seen), image_function_at(image, seen + 1));
    cr_expect_eq(image_function_entry(image, seen + 1), IMAGE_NO_FUNCTION);
    cr_expect_eq(image_function_at(image, 1), IMAGE_NO_FUNCTION);
    image_close(image);
    image_close(bare);
}

Test(image, executable_starts_at_start, .fini = build_clean)
{
    build_source("main.c", "int main(void) { return 0; }\n");
    build_run("$CC -O2 -o main main.c && strip -o bare main");
    struct image *image = build_open("main"), *bare = build_open("bare");
    uint64_t start = build_function(image, "_start");
    cr_expect_str_eq(shown(bare, start), "_start");
    image_close(image);
    image_close(bare);
}

Test(image, demangled_names_of_other_languages)
{
    static const struct {
        const char *symbol, *shown;
    } cases[] = {{"_Dmain", "D main"},
                 {"_D3std5stdio7writelnFZv", "std.stdio.writeln"},
                 {"_D4shop6Basket5totalMFZi", "shop.Basket.total"},
                 {"_RNvCs1234_7mycrate3foo", "mycrate::foo"},
                 {"_Dictionary", "_Dictionary"},
                 {"_D", "_D"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[64];
        name_format("prog", cases[i].symbol, 0, text, sizeof text);
        cr_expect(strncmp(text, cases[i].shown, strlen(cases[i].shown)) == 0, "%s: %s", cases[i].symbol,
                  text);
    }
}

Test(image, demangled_names, .fini = build_clean)
{
    build_source("name.cc", "namespace a { struct b { void c(int); }; void b::c(int) {} }\n"
                            "extern \"C\" void plain() {}\n");
    build_run("$CXX -O2 -fPIC -shared -o name.so name.cc");
    struct image *image = build_open("name.so");
    cr_expect_str_eq(shown(image, build_function(image, "_ZN1a1b1cEi")), "a::b::c");
    cr_expect_str_eq(shown(image, build_function(image, "plain")), "plain");
    char small[4];
    uint32_t f = image_function_at(image, build_function(image, "_ZN1a1b1cEi"));
    cr_expect_eq(image_function_format(image, f, small, sizeof small), 7);
    cr_expect_str_eq(small, "a::");
    image_close(image);
}

Test(image, what_is_no_image_says_so, .fini = build_clean)
{
    struct image *image = NULL;
    struct fathom_error err;
    cr_expect_eq(image_open("/nonexistent/file", NULL, &image, &err), -ENOENT);
    build_source("text", "hello, this is no program\n");
    cr_expect_eq(image_open(build_path("text"), NULL, &image, &err), -ENOEXEC);
    cr_expect_not_null(strstr(err.text, "is not an ELF file"));
    build_source("empty", "");
    cr_expect_eq(image_open(build_path("empty"), NULL, &image, &err), -ENOEXEC);
    build_source("o.c", "int x;\n");
    build_run("$CC -c o.c && $CC -shared -o o.so o.o && head -c 900 o.so > cut.so &&"
              "head -c 20 o.so > header.so");
    cr_expect_eq(image_open(build_path("o.o"), NULL, &image, &err), -ENOEXEC);
    cr_expect_not_null(strstr(err.text, "neither"));
    cr_expect_eq(image_open(build_path("cut.so"), NULL, &image, &err), -EBADMSG);
    cr_expect_eq(image_open(build_path("header.so"), NULL, &image, &err), -EBADMSG);
    cr_expect_eq(image_open("/", NULL, &image, &err), -ENOMSG);
    cr_expect_null(image);
    image_close(NULL);
}

/* The number of its sections is in the first header if it is large: any number, where the file is mostly a hole. */
Test(image, claims_of_many_sections_take_no_memory, .fini = build_clean)
{
    struct image *image = NULL;
    struct fathom_error err;
    const size_t at = (size_t)1 << 20;
    build_source("o.c", "int f(void) { return 1; }\n");
    build_run("$CC -g -shared -fPIC -o o.so o.c");
    for (uint64_t count = 1000; count <= 1000000000; count *= 1000) {
        const Elf64_Shdr first = {.sh_size = count};
        const Elf64_Off offset = at;
        const Elf64_Half none = 0;
        FILE *f = fopen(build_path("o.so"), "r+");
        cr_assert(f && fseek(f, offsetof(Elf64_Ehdr, e_shoff), SEEK_SET) == 0 &&
                  fwrite(&offset, sizeof offset, 1, f) == 1 &&
                  fseek(f, offsetof(Elf64_Ehdr, e_shnum), SEEK_SET) == 0 &&
                  fwrite(&none, sizeof none, 1, f) == 1 && fseek(f, (long)at, SEEK_SET) == 0 &&
                  fwrite(&first, sizeof first, 1, f) == 1 &&
                  ftruncate(fileno(f), (off_t)(at + count * sizeof first)) == 0 && fclose(f) == 0);
        int rc = image_open(build_path("o.so"), NULL, &image, &err);
        cr_expect_eq(rc, count > 1000 ? -EBADMSG : 0);
        cr_expect(rc == 0 || strstr(err.text, "it claims more than 262144 sections"));
        if (rc == 0)
            image_close(image);
    }
}

Test(image, cache_opens_once_and_refuses_another_build, .fini = build_clean)
{
    build_source("lib.c", library);
    build_run("$CC -O2 -fPIC -shared -Wl,--build-id=0x01020304 -o lib.so lib.c");
    struct image_cache *cache = image_cache_new(NULL);
    struct image *first = NULL, *second = NULL;
    struct fathom_error err = {0};
    const char *path = build_path("lib.so");
    struct build_id right = {4, {1, 2, 3, 4}}, wrong = {4, {1, 2, 3, 5}};
    cr_expect_eq(image_cache_get(cache, path, &wrong, &second, &err), -ESTALE);
    cr_expect_not_null(strstr(err.text, "build-id differs"));
    cr_expect_null(image_cache_at(cache, 0));
    cr_assert_eq(image_cache_get(cache, path, NULL, &first, &err), 0);
    cr_assert_eq(image_cache_get(cache, path, &right, &second, &err), 0);
    cr_expect_eq(first, second);
    cr_expect_eq(image_cache_at(cache, 0), first);
    cr_expect_null(image_cache_at(cache, 1));
    err = (struct fathom_error){0};
    cr_expect_eq(image_cache_get(cache, path, &wrong, &second, &err), -ESTALE);
    cr_expect_eq(err.code, ESTALE);
    image_cache_free(cache);
    image_cache_free(NULL);
}

Test(image, mappings_without_a_file)
{
    static const char *const paths[] = {
        "//anon", "[heap]", "[stack]",   "[vsyscall]", "/memfd:jit (deleted)", "/gone/lib.so (deleted)",
        "",       "anon",   "/dev/zero", "/SYSV00000"};
    struct image_cache *cache = image_cache_new(NULL);
    struct fathom_error err;
    struct image *image = NULL;
    for (unsigned i = 0; i < sizeof paths / sizeof *paths; i++) {
        cr_expect_eq(image_cache_get(cache, paths[i], NULL, &image, &err), -ENOENT, "%s", paths[i]);
        cr_expect_null(image);
    }
    image_cache_free(cache);
}

Test(image, the_vdso_has_functions)
{
    struct image_cache *cache = image_cache_new(NULL);
    struct fathom_error err = {0};
    struct image *image = NULL;
    cr_assert_eq(image_cache_get(cache, "[vdso]", NULL, &image, &err), 0, "%s", err.text);
    uint64_t address = build_function(image, "clock_gettime");
    cr_expect_neq(image_function_entry(image, address), IMAGE_NO_FUNCTION);
    struct build_id wrong = {20, {1}};
    cr_expect_eq(image_cache_get(cache, "[vdso]", &wrong, &image, &err), -ESTALE);
    image_cache_free(cache);
}

/* A recording that does not tell the vDSO's build-id (of stock perf) tells its kernel. */
Test(image, the_vdso_of_another_release_is_not_ours)
{
    struct utsname own;
    cr_assert_eq(uname(&own), 0);
    struct image_cache *cache = image_cache_new(NULL);
    struct fathom_error err = {0};
    struct image *image = NULL;
    image_cache_kernel(cache, "2.6.32-other");
    cr_expect_eq(image_cache_get(cache, VDSO_NAME, NULL, &image, &err), -ESTALE);
    image_cache_free(cache);
    cache = image_cache_new(NULL);
    image_cache_kernel(cache, own.release);
    cr_expect_eq(image_cache_get(cache, VDSO_NAME, NULL, &image, &err), 0, "%s", err.text);
    image_cache_free(cache);
}

/* Two functions with much code between, and constants that are large, too. */
static const char near[] = "int near(int x) { return x * 3; }\n",
                  between[] = ".text\n.fill 3000000, 1, 0x90\n.section .note.GNU-stack, \"\"\n",
                  far[] = "int far(int x) { return x * 5; }\n"
                          "const char constants[2000000] = {[0] = 1, [1999999] = 7};\n";

static void count_warning(void *context, enum log_level level, const char *text)
{
    *(unsigned *)context += level == LOG_WARNING && strstr(text, "was changed while it was read") != NULL;
}

static struct image *open_large(const struct log *log)
{
    struct image *image;
    struct fathom_error err;
    build_source("near.c", near);
    build_source("between.s", between);
    build_source("far.c", far);
    build_run("$CC -O2 -fPIC -shared -o large.so near.c between.s far.c");
    cr_assert_eq(image_open(build_path("large.so"), &(struct image_options){.log = log}, &image, &err), 0,
                 "%s", err.text);
    cr_assert(elf_file_is_late(&image->file));
    return image;
}

struct seen {
    uint64_t wanted;
    unsigned found;
    uint8_t bytes[3]; /* there */
    size_t size;      /* of all pieces, without what the next ones have again */
};

static int see_code(void *context, const uint8_t *code, size_t size, uint64_t address)
{
    struct seen *seen = context;
    if (seen->wanted - address < size && size - (seen->wanted - address) >= sizeof seen->bytes) {
        memcpy(seen->bytes, code + (seen->wanted - address), sizeof seen->bytes);
        seen->found++;
    }
    seen->size += size < ELF_PIECE ? size : ELF_PIECE;
    return 0;
}

static uint64_t address_of(const struct image *image, const char *name)
{
    for (uint32_t i = 0; i < image_function_count(image); i++) {
        const struct image_function *f = image_function(image, i);
        if (f->name && strcmp(f->name, name) == 0)
            return f->address;
    }
    cr_assert_fail("%s is no function", name);
    return 0;
}

Test(image, code_of_a_large_file_is_read_as_it_is_asked_for, .fini = build_clean)
{
    struct image *image = open_large(NULL);
    uint8_t *all;
    size_t size, file_size;
    const uint8_t *bytes = image_bytes(image, address_of(image, "far"), &size);
    cr_assert_not_null(bytes);
    cr_expect_leq(size, IMAGE_AHEAD + 64);
    cr_expect_eq(memcmp(bytes, "\x8d\x04\xbf", 3), 0, "lea (%%rdi,%%rdi,4),%%eax");
    struct seen seen = {.wanted = address_of(image, "far")};
    cr_expect_eq(elf_file_see_code(&image->file, 100, see_code, &seen), 0);
    cr_expect_geq(seen.size, 3000000);
    cr_expect_geq(seen.found, 1);
    cr_expect_eq(memcmp(bytes, seen.bytes, sizeof seen.bytes), 0);
    cr_expect(elf_file_is_late(&image->file));

    const struct elf_section *rodata = elf_file_section(&image->file, ".rodata");
    bytes = image_bytes(image, rodata->address + rodata->size - 1, &size);
    cr_assert(bytes);
    cr_expect_eq(*bytes, 7);
    cr_expect_eq(image_extent(image, rodata->address),
                 rodata->size + image_extent(image, rodata->address + rodata->size));

    cr_assert_eq(image_read_file(image, &all, &file_size, NULL), 0);
    cr_expect_eq(file_size, image->file.size);
    cr_expect_not(elf_file_is_late(&image->file));
    bytes = image_bytes(image, address_of(image, "near"), &size);
    cr_assert(bytes);
    cr_expect_geq(size, 3000000);
    cr_expect_eq(memcmp(image->file.data, all, rodata->offset + rodata->size), 0);
    free(all);
    image_close(image);
}

Test(image, nothing_is_read_from_a_file_that_was_written_since, .fini = build_clean)
{
    unsigned warnings = 0;
    const struct log log = {count_warning, &warnings};
    struct image *image = open_large(&log);
    const struct timespec times[2] = {{1, 0}, {1, 0}};
    size_t size;
    cr_assert_not_null(image_bytes(image, address_of(image, "near"), &size));
    cr_assert_eq(utimensat(AT_FDCWD, build_path("large.so"), times, 0), 0);
    cr_expect_not_null(image_bytes(image, address_of(image, "near"), &size), "it was read before");
    const uint64_t unread = elf_file_section(&image->file, ".rodata")->address + 1000000;
    cr_expect_null(image_bytes(image, unread, &size));
    struct seen seen = {.wanted = 0};
    cr_expect_eq(elf_file_see_code(&image->file, 0, see_code, &seen), 0);
    cr_expect_lt(seen.size, 3000000, "%zu", seen.size);
    cr_expect_neq(image_need_code(image, NULL), 0);
    cr_expect_eq(warnings, 1, "%u", warnings);
    image_close(image);
}
