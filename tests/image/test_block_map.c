/* test_block_map.c - sections with the addresses of basic blocks, of each version, and damaged ones. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "image/block_map.h"
#include "image/image_private.h"

#define UNVERSIONED 0x6fff4c08u
#define VERSIONED   0x6fff4c0au
#define AT(address) (address), 0, 0, 0, 0, 0, 0, 0

struct seen {
    uint64_t functions[4];
    struct mapped_block blocks[16];
    size_t function_count, block_count;
};

static int see(void *context, const struct mapped_function *f, struct fathom_error *err)
{
    struct seen *s = context;
    (void)err;
    cr_assert_lt(s->function_count, 4);
    cr_assert_leq(s->block_count + f->count, 16);
    s->functions[s->function_count++] = f->address;
    for (size_t i = 0; i < f->count; i++)
        s->blocks[s->block_count++] = f->blocks[i];
    return 0;
}

static int read_bytes(uint32_t type, const uint8_t *bytes, size_t size, struct seen *seen,
                      struct fathom_error *err)
{
    /* Of just this size, so that a sanitizer sees what lies behind. */
    uint8_t *copy = malloc(size);
    struct elf_section section = {.name = ".llvm_bb_addr_map", .type = type, .size = size, .file_size = size};
    const struct image image = {
        .path = (char[]){"program"},
        .file = {.data = copy, .size = size, .sections = &section, .section_count = 1}};
    cr_assert(copy);
    memcpy(copy, bytes, size);
    *seen = (struct seen){0};
    const int rc = block_map_read(&image, see, seen, err);
    free(copy);
    return rc;
}

static void check(uint32_t type, const uint8_t *bytes, size_t size, size_t functions,
                  const struct mapped_block *expected)
{
    struct seen seen;
    struct fathom_error err = {0};
    cr_assert_eq(read_bytes(type, bytes, size, &seen, &err), 0, "%s", err.text);
    cr_assert_eq(seen.function_count, functions);
    for (size_t i = 0; i < functions; i++)
        cr_expect_eq(seen.functions[i], 0x10 + 0x40 * i);
    for (size_t i = 0; i < seen.block_count; i++) {
        cr_expect_eq(seen.blocks[i].address, expected[i].address, "%zu: %#lx", i, seen.blocks[i].address);
        cr_expect_eq(seen.blocks[i].size, expected[i].size, "%zu", i);
        cr_expect_eq(seen.blocks[i].id, expected[i].id, "%zu", i);
    }
    /* Cut anywhere but behind a function, it is damaged. */
    for (size_t cut = 1; cut < size; cut++) {
        const int rc = read_bytes(type, bytes, cut, &seen, &err);
        cr_expect(rc == -EBADMSG || (rc == 0 && seen.function_count < functions), "%zu: %d", cut, rc);
    }
}

Test(block_map, versions)
{
    /* Of 0x10 the blocks 0x10 to 0x14, none at 0x18, 0x18 to 0x98; of 0x50 one. */
    static const struct mapped_block expected[] = {{0x10, 4, 0}, {0x18, 0, 1}, {0x18, 0x80, 2}, {0x50, 3, 0}};
    static const uint8_t old[] = {AT(0x10), 3, 0, 4, 8, 8, 0, 0, 8, 0x80, 1, 1, AT(0x50), 1, 0, 3, 1};
    static const uint8_t version0[] = {0,    0, AT(0x10), 3, 0, 4,        8, 8, 0, 0, 8,
                                       0x80, 1, 1,        0, 0, AT(0x50), 1, 0, 3, 1};
    static const uint8_t version1[] = {1,    0, AT(0x10), 3, 0, 4,        8, 4, 0, 0, 0,
                                       0x80, 1, 1,        1, 0, AT(0x50), 1, 0, 3, 1};
    check(UNVERSIONED, old, sizeof old, 2, expected);
    check(VERSIONED, version0, sizeof version0, 2, expected);
    check(VERSIONED, version1, sizeof version1, 2, expected);
    /* With numbers of their own, which is not their order. */
    static const struct mapped_block numbered[] = {{0x10, 4, 0}, {0x18, 0, 7}, {0x18, 0x80, 5}};
    static const uint8_t version2[] = {2, 0, AT(0x10), 3, 0, 0, 4, 8, 7, 4, 0, 0, 5, 0, 0x80, 1, 1};
    check(VERSIONED, version2, sizeof version2, 1, numbered);
    /* With the counts that the compiler had, and a second range, before the first. */
    static const uint8_t all[] = {2, 15, 2, AT(0x10), 1, 0, 0, 4, 8, AT(0x08), 1, 7,
                                  0, 2,  0, 9,        5, 2, 7, 1, 7, 1,        5, 0};
    static const struct mapped_block ranges[] = {{0x08, 2, 7}, {0x10, 4, 0}};
    check(VERSIONED, all, sizeof all, 1, ranges);
    check(UNVERSIONED, old, 0, 0, NULL);
}

#define REFUSES(type, code, ...)                                                                             \
    do {                                                                                                     \
        const uint8_t bytes[] = {__VA_ARGS__};                                                               \
        struct seen seen;                                                                                    \
        struct fathom_error err = {0};                                                                       \
        cr_expect_eq(read_bytes(type, bytes, sizeof bytes, &seen, &err), -(code), #__VA_ARGS__);             \
        cr_expect(strstr(err.text, ".llvm_bb_addr_map of program"), "%s", err.text);                         \
    } while (0)

Test(block_map, damaged)
{
    REFUSES(VERSIONED, ENOTSUP, 3, 0, AT(0x10), 0);
    REFUSES(VERSIONED, ENOTSUP, 2, 16, AT(0x10), 0);
    /* As many blocks, ranges or counts as there cannot be. */
    REFUSES(UNVERSIONED, EBADMSG, AT(0x10), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0, 4, 0);
    REFUSES(VERSIONED, EBADMSG, 2, 8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, AT(0x10), 0);
    REFUSES(VERSIONED, EBADMSG, 2, 4, AT(0x10), 1, 0, 0, 4, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
            0xff, 1);
    REFUSES(VERSIONED, EBADMSG, 2, 8, 0);
    /* Sizes, distances and numbers of more than 32 bits; an end beyond all addresses. */
    REFUSES(UNVERSIONED, EBADMSG, AT(0x10), 1, 0, 0x80, 0x80, 0x80, 0x80, 0x10, 0);
    REFUSES(UNVERSIONED, EBADMSG, AT(0x10), 1, 0x80, 0x80, 0x80, 0x80, 0x10, 4, 0);
    REFUSES(VERSIONED, EBADMSG, 2, 0, AT(0x10), 1, 0x80, 0x80, 0x80, 0x80, 0x10, 0, 4, 0);
    REFUSES(UNVERSIONED, EBADMSG, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0, 4, 0);
}

Test(block_map, without_a_section)
{
    const struct image image = {.path = (char[]){"program"}};
    cr_expect_eq(block_map_read(&image, see, NULL, NULL), -ENOENT);
}
