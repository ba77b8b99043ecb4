/* The names of data. */
#include <criterion/criterion.h>

#include "image/objects.h"
#include "tests/image/build.h"

static const char source[] = "int table[100] = {1};\n"
                             "static long zeros[50];\n"
                             "extern int tab[100] __attribute__((alias(\"table\")));\n"
                             "__thread int local = 5;\n"
                             "long *both(int i) { table[i]++; return &zeros[i + local]; }\n";

static uint64_t address_of(const char *name)
{
    char line[64];
    build_run("nm lib.so | awk '$3 == \"%s\" { print \"0x\" $1 }' >address", name);
    FILE *file = fopen(build_path("address"), "r");
    cr_assert(file && fgets(line, sizeof line, file), "no %s", name);
    fclose(file);
    return strtoull(line, NULL, 16);
}

static const char *named(const struct objects *objects, uint64_t address)
{
    const struct object *object = objects_at(objects, address);
    return object ? object->name : "none";
}

Test(objects, are_found_by_every_address_in_them, .fini = build_clean)
{
    build_source("lib.c", source);
    build_run("$CC -O2 -fPIC -shared -o lib.so lib.c");
    struct image *image = build_open("lib.so");
    struct objects *objects = objects_new(image);
    cr_assert_not_null(objects);
    uint64_t table = address_of("table"), zeros = address_of("zeros");
    cr_expect_str_eq(named(objects, table), "tab", "the shortest name");
    cr_expect_str_eq(named(objects, table + 399), "tab");
    cr_expect_str_neq(named(objects, table + 400), "tab");
    cr_expect_str_eq(named(objects, zeros + 8), "zeros");
    cr_expect_str_eq(named(objects, 0), "none");
    cr_expect_str_eq(named(objects, UINT64_MAX), "none");
    cr_expect(image_covers(image, zeros + 8), "zeros are of the image");
    cr_expect_not(image_covers(image, (uint64_t)1 << 40));
    objects_free(objects);
    image_close(image);
}

/* Each linker puts code at other places of the file: the distance is the same by every page of it. */
Test(objects, the_bias_of_code_is_that_of_its_pages, .fini = build_clean)
{
    build_source("lib.c", source);
    build_run("$CC -O2 -fPIC -shared -Wl,-z,noseparate-code -o lib.so lib.c");
    struct image *image = build_open("lib.so");
    uint64_t code = build_function(image, "both"), offset, bias;
    cr_assert(image_offset(image, code, &offset));
    cr_assert(image_bias(image, offset & ~0xffful, 0x7000000000 + (code & ~0xffful), &bias));
    cr_expect_eq(bias, 0x7000000000);
    cr_expect_not(image_bias(image, (uint64_t)1 << 40, 0x1000, &bias));
    image_close(image);
}
