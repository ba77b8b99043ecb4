/*
 * fuzz_tree.c - a fuzz target for what reads saved trees. The input is a payload: the head before it is made, with the right
 * length and checksum. What was read is written, and read again.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/checksum.h"
#include "hcct/saved_tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_again(const struct saved_tree *tree)
{
    struct saved_tree again;
    int fd = memfd_create("tree", MFD_CLOEXEC);
    if (fd < 0 || saved_tree_write(tree, fd, "the tree", NULL) < 0)
        abort();
    size_t size = (size_t)lseek(fd, 0, SEEK_END);
    void *data = malloc(size);
    if (!data || pread(fd, data, size, 0) != (ssize_t)size ||
        saved_tree_parse(data, size, "the tree", &again, NULL) < 0)
        abort();
    if (cct_count(again.tree) != cct_count(tree->tree) || cct_total(again.tree) != cct_total(tree->tree))
        abort();
    saved_tree_free(&again);
    free(data);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t magic[16] = SAVED_TREE_MAGIC "\x01";
    struct fathom_error err = {0};
    struct saved_tree tree;
    uint8_t *file = malloc(SAVED_TREE_HEAD + size);
    uint64_t length = size, sum = checksum_of(data, size);
    if (!file)
        abort();
    memcpy(file, magic, sizeof magic);
    memcpy(file + 16, &length, sizeof length);
    memcpy(file + 24, &sum, sizeof sum);
    memcpy(file + SAVED_TREE_HEAD, data, size);
    int rc = saved_tree_parse(file, SAVED_TREE_HEAD + size, "the tree", &tree, &err);
    if (rc < 0 && (err.code != -rc || !err.text[0]))
        abort();
    if (rc == 0) {
        write_again(&tree);
        saved_tree_free(&tree);
    }
    free(file);
    return 0;
}
