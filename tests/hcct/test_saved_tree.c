/* test_saved_tree.c - trees of contexts: what is written is read, and what is damaged is refused. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/checksum.h"
#include "hcct/saved_tree.h"

static struct trace_function functions[] = {
    {"/bin/a", "main", 0x1000}, {"/bin/a", "f", 0x2000}, {"/lib/b", "", ~0ull}};
static uint8_t *data;
static size_t size;

static void add(struct cct *tree, const char *path, uint64_t weight, uint64_t error)
{
    uint32_t items[8];
    size_t depth = 0;
    for (; *path; path++)
        items[depth++] = (uint32_t)(*path - '0');
    struct cct_node *node = cct_add(tree, items, depth, &weight);
    cr_assert(node);
    *cct_error_of(node) = error;
}

/* Takes the tree. */
static void write_tree(struct cct *tree)
{
    int fd = memfd_create("tree", MFD_CLOEXEC);
    struct saved_tree saved = {.tree = tree,
                               .functions = functions,
                               .function_count = 3,
                               .unit = "calls",
                               .command = "a command",
                               .bound = 77};
    cr_assert_eq(saved_tree_write(&saved, fd, "a tree", NULL), 0);
    size = (size_t)lseek(fd, 0, SEEK_END);
    data = malloc(size + 1);
    cr_assert_eq(pread(fd, data, size, 0), (ssize_t)size);
    close(fd);
    cct_free(tree);
}

static void begin(void)
{
    struct cct *tree = cct_new(1);
    add(tree, "", 1000, 0);
    add(tree, "0", 1, 0);
    add(tree, "01", UINT64_MAX / 4, 5);
    add(tree, "0122", 0x123456789, 0);
    add(tree, "02", 7, 7);
    add(tree, "2", 3, 0);
    write_tree(tree);
}

static void end(void)
{
    free(data);
}

TestSuite(saved_tree, .init = begin, .fini = end);

static int parse(struct saved_tree *out, struct fathom_error *err)
{
    return saved_tree_parse(data, size, "the tree", out, err);
}

static void expect_node(const struct saved_tree *t, const char *path, uint64_t weight, uint64_t error)
{
    struct cct_node *node = cct_root(t->tree);
    size_t before = cct_count(t->tree);
    for (const char *c = path; *c; c++)
        node = cct_child(t->tree, node, (uint32_t)(*c - '0'));
    cr_expect_eq(node->self[0], weight, "%s", path);
    cr_expect_eq(cct_error(node), error, "%s", path);
    cr_expect_eq(cct_count(t->tree), before, "%s was there", path);
}

Test(saved_tree, is_read_as_it_was_written)
{
    struct saved_tree t;
    cr_assert_eq(parse(&t, NULL), 0);
    cr_expect_eq(cct_count(t.tree), 7);
    expect_node(&t, "", 1000, 0);
    expect_node(&t, "0", 1, 0);
    expect_node(&t, "01", UINT64_MAX / 4, 5);
    expect_node(&t, "012", 0, 0);
    expect_node(&t, "0122", 0x123456789, 0);
    expect_node(&t, "02", 7, 7);
    expect_node(&t, "2", 3, 0);
    cr_expect_eq(t.function_count, 3);
    for (size_t i = 0; i < 3; i++) {
        cr_expect_str_eq(t.functions[i].image, functions[i].image);
        cr_expect_str_eq(t.functions[i].name, functions[i].name);
        cr_expect_eq(t.functions[i].address, functions[i].address);
    }
    cr_expect_str_eq(t.unit, "calls");
    cr_expect_str_eq(t.command, "a command");
    cr_expect_eq(t.bound, 77);
    saved_tree_free(&t);
}

Test(saved_tree, of_a_million_levels)
{
    struct cct *tree = cct_new(1);
    struct cct_node *node = cct_root(tree);
    for (int i = 0; i < 1000000; i++)
        node = cct_child(tree, node, (uint32_t)i % 3);
    cct_weigh(tree, node, (uint64_t[]){9});
    add(tree, "1", 4, 0);
    free(data);
    write_tree(tree);
    struct saved_tree t;
    cr_assert_eq(parse(&t, NULL), 0);
    cr_expect_eq(cct_count(t.tree), 1000002);
    cr_expect_eq(cct_total(t.tree), 13);
    expect_node(&t, "1", 4, 0);
    saved_tree_free(&t);
}

Test(saved_tree, of_nothing)
{
    free(data);
    write_tree(cct_new(1));
    struct saved_tree t;
    cr_assert_eq(parse(&t, NULL), 0);
    cr_expect_eq(cct_count(t.tree), 1);
    saved_tree_free(&t);
}

Test(saved_tree, cut_short_anywhere_is_refused)
{
    size_t whole = size;
    for (size = 0; size < whole; size++) {
        struct fathom_error err = {0};
        struct saved_tree t;
        int rc = parse(&t, &err);
        cr_expect(rc == -EBADMSG || (rc == -ENOMSG && size < 16), "%zu bytes: %d", size, rc);
        cr_expect(err.text[0]);
    }
}

Test(saved_tree, a_changed_byte_is_refused)
{
    for (size_t i = 0; i < size; i++) {
        struct saved_tree t;
        data[i] ^= 0x11;
        int rc = parse(&t, NULL);
        bool reserved = i > sizeof SAVED_TREE_MAGIC - 1 && i < 16;
        cr_expect(reserved ? rc == 0 : rc < 0, "byte %zu: %d", i, rc);
        if (rc == 0)
            saved_tree_free(&t);
        data[i] ^= 0x11;
    }
}

/* Behind a right checksum, whatever it says. */
Test(saved_tree, a_changed_payload_does_no_harm)
{
    for (size_t i = SAVED_TREE_HEAD; i < size; i++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            struct saved_tree t;
            data[i] ^= (uint8_t)(1u << bit);
            uint64_t sum = checksum_of(data + SAVED_TREE_HEAD, size - SAVED_TREE_HEAD);
            memcpy(data + 24, &sum, sizeof sum);
            if (parse(&t, NULL) == 0)
                saved_tree_free(&t);
            data[i] ^= (uint8_t)(1u << bit);
        }
    }
}

Test(saved_tree, of_another_version_or_kind)
{
    struct saved_tree t;
    data[sizeof SAVED_TREE_MAGIC - 1]++;
    cr_expect_eq(parse(&t, NULL), -ENOTSUP);
    data[0]++;
    cr_expect_eq(parse(&t, NULL), -ENOMSG);
}
