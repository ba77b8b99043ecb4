/* test_hostile.c - damaged files are refused, and files that lie behind right checksums do no harm. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/map/fmap.h"
#include "tests/pathmap/exercise.h"
#include "tests/pathmap/model.h"

static uint8_t *small_file(unsigned walks, size_t *size)
{
    struct trie *trie = trie_new();
    struct model unused = {0};
    void *data;
    model_grow(&unused, trie, 21, walks, false);
    cr_assert_eq(trie_serialise(trie, &data, size, NULL), 0);
    model_free(&unused);
    trie_free(trie);
    return data;
}

/* Opens a copy; the map's paths go into *model when it could be opened. */
static int open_copy(const uint8_t *file, size_t size, struct model *model)
{
    struct pathmap *map;
    void *copy = malloc(size + 1);
    memcpy(copy, file, size);
    int rc = pathmap_open_memory(copy, size, &map, NULL);
    if (rc == 0) {
        fmap_exercise(map);
        if (model) {
            model_read(model, map);
            model_settle(model);
        }
        pathmap_close(map);
    }
    return rc;
}

Test(hostile, every_flipped_bit_is_refused_or_harmless)
{
    size_t size;
    unsigned harmless = 0;
    uint8_t *file = small_file(6, &size);
    struct model want = {0};
    cr_assert_eq(open_copy(file, size, &want), 0);
    for (size_t at = 0; at < size; at++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            struct model got = {0};
            file[at] ^= (uint8_t)(1 << bit);
            int rc = open_copy(file, size, &got);
            file[at] ^= (uint8_t)(1 << bit);
            if (rc == 0) {
                cr_assert(model_equal(&want, &got), "byte %zu", at);
                harmless++;
            } else {
                cr_assert(rc == -EBADMSG || (rc == -ENOMSG && at < 4) ||
                              (rc == -ENOTSUP && at >= 4 && at < 8),
                          "byte %zu: %d", at, rc);
            }
            model_free(&got);
        }
    }
    cr_expect_lt(harmless, FMAP_KINDS * FMAP_ALIGNMENT * 8, "only the room between sections");
    model_free(&want);
    free(file);
}

Test(hostile, every_cut_is_refused)
{
    size_t size;
    uint8_t *file = small_file(6, &size);
    for (size_t cut = 0; cut < size; cut++)
        cr_assert_eq(open_copy(file, cut, NULL), -EBADMSG, "cut to %zu bytes", cut);
    /* The same behind a header that agrees with the cut. */
    for (size_t cut = 0; cut < size; cut++) {
        uint8_t *copy = malloc(size);
        memcpy(copy, file, size);
        fmap_mend(copy, cut);
        cr_assert_eq(open_copy(copy, cut, NULL), -EBADMSG, "mended and cut to %zu bytes", cut);
        free(copy);
    }
    free(file);
}

Test(hostile, random_contents_behind_right_checksums)
{
    size_t size;
    uint64_t state = 99;
    unsigned opened = 0;
    uint8_t *file = small_file(12, &size), *copy = malloc(size);
    for (unsigned round = 0; round < 20000; round++) {
        memcpy(copy, file, size);
        for (unsigned n = 1 + model_random(&state) % 8; n; n--) {
            uint64_t r = model_random(&state);
            size_t at = (r >> 32) % size;
            static const uint8_t values[] = {0, 1, 2, 3, 0x7f, 0x80, 0xfe, 0xff};
            copy[at] = r & 1 ? values[(r >> 1) % 8] : (uint8_t)(r >> 8);
        }
        fmap_mend(copy, size);
        opened += open_copy(copy, size, NULL) == 0;
    }
    cr_expect_gt(opened, 5000, "only %u got past opening", opened);
    free(file);
    free(copy);
}

struct forged {
    uint8_t *file;
    size_t size;
    struct fmap_node *nodes;
    struct fmap_cid *index;
    uint32_t *paths;
    uint32_t count, entries;
};

static void *section_of(struct forged *f, enum fmap_kind kind, uint64_t *length)
{
    struct fmap_section *s = (struct fmap_section *)(f->file + sizeof(struct fmap_header)) + (kind - 1);
    *length = s->length;
    return f->file + s->offset;
}

static struct forged forge(void)
{
    struct forged f;
    uint64_t length;
    f.file = small_file(20, &f.size);
    f.index = section_of(&f, FMAP_INDEX, &length);
    f.entries = (uint32_t)(length / sizeof *f.index);
    f.paths = section_of(&f, FMAP_PATHS, &length);
    f.nodes = section_of(&f, FMAP_NODES, &length);
    f.count = (uint32_t)(length / sizeof *f.nodes);
    return f;
}

static struct pathmap *forged_open(struct forged *f)
{
    struct pathmap *map;
    fmap_mend(f->file, f->size);
    cr_assert_eq(pathmap_open_memory(f->file, f->size, &map, NULL), 0);
    return map;
}

Test(hostile, parents_in_a_circle)
{
    struct forged f = forge();
    uint32_t child = 0;
    while (f.nodes[child].parent == FMAP_NONE)
        child++;
    f.nodes[f.nodes[child].parent].parent = child;
    struct pathmap *map = forged_open(&f);
    uint32_t functions[8];
    cr_expect_eq(pathmap_path(map, child, functions, 8), -EBADMSG);
    fmap_exercise(map);
    struct trie *trie = trie_new();
    struct fathom_error err = {0};
    cr_expect_eq(trie_merge(trie, map, &err), -EBADMSG);
    cr_expect_eq(trie_node_count(trie), 1);
    cr_expect_neq(err.text[0], 0);
    trie_free(trie);
    pathmap_close(map);
}

Test(hostile, a_node_is_its_own_parent)
{
    struct forged f = forge();
    for (uint32_t i = 0; i < f.count; i++)
        f.nodes[i].parent = i;
    struct pathmap *map = forged_open(&f);
    uint32_t functions[8];
    cr_expect_eq(pathmap_path(map, 0, functions, 8), -EBADMSG);
    cr_expect_eq(pathmap_node(map, 0).parent, PATHMAP_NONE);
    fmap_exercise(map);
    pathmap_close(map);
}

Test(hostile, numbers_past_the_end)
{
    struct forged f = forge();
    for (uint32_t i = 0; i < f.count; i++) {
        f.nodes[i].parent = f.count + i;
        f.nodes[i].function = 0x80000000u + i;
    }
    for (uint32_t i = 0; i < f.entries; i += 2)
        f.index[i].first = f.count + i;
    for (uint32_t i = 1; i < f.entries; i += 2)
        f.index[i].count = UINT32_MAX;
    struct pathmap *map = forged_open(&f);
    cr_expect_eq(pathmap_node(map, 1).function, PATHMAP_NONE);
    fmap_exercise(map);
    pathmap_close(map);
}

Test(hostile, an_index_without_an_end)
{
    struct forged f = forge();
    for (uint32_t i = 0; i < f.entries; i++)
        f.index[i] = (struct fmap_cid){0, 0, 0, 1};
    struct pathmap *map = forged_open(&f);
    uint32_t first;
    cr_expect_eq(pathmap_find(map, 0x12345, 0x678, &first), 0);
    fmap_exercise(map);
    pathmap_close(map);
}

Test(hostile, a_wrong_path_number_is_refused)
{
    struct forged f = forge();
    struct pathmap *map;
    f.paths[3] = f.count;
    fmap_mend(f.file, f.size);
    cr_expect_eq(pathmap_open_memory(f.file, f.size, &map, NULL), -EBADMSG);
}
