/* test_harvest.c - stores become tries: sums, order, call sites, and damage that stays where it is. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/checksum.h"
#include "base/path.h"
#include "pathmap/map/pathmap.h"
#include "pathmap/train/harvest.h"
#include "process/partial.h"
#include "tests/pathmap/store.h"

#define BIAS_A 0x5555ffff0000 /* the low 32 bits of A's addresses run over */
#define SIZE_A 0x20000
#define BIAS_B 0x7f0012340000
#define ROOT   STORE_ROOT

static struct store_maker maker;
static struct harvest harvest;
static struct trie *trie;
static struct image_cache *images;

/* Functions 1 to 3 are A's at 0x1000, 0x2000, 0x12000; 4 is B's at 0x1000. */
static void set_up(void)
{
    store_make(&maker);
    store_put_image(&maker, 0, "/no/such/a", BIAS_A, BIAS_A, BIAS_A + SIZE_A);
    store_put_image(&maker, 1, "/no/such/b", BIAS_B, BIAS_B, BIAS_B + 0x10000);
    store_put_function(&maker, 1, 0, 0x1000);
    store_put_function(&maker, 2, 0, 0x2000);
    store_put_function(&maker, 3, 0, 0x12000);
    store_put_function(&maker, 4, 1, 0x1000);
    trie = trie_new();
    images = image_cache_new(NULL);
}

static void tear_down(void)
{
    harvest_free(&harvest);
    trie_free(trie);
    image_cache_free(images);
    store_unmake(&maker);
}

TestSuite(harvest, .init = set_up, .fini = tear_down);

static void node(uint32_t number, uint32_t parent, uint32_t function, uint32_t height, uint64_t site,
                 uint64_t count)
{
    store_put_node(&maker, number,
                   (struct store_node){parent, function, height, (uint32_t)site, 0, 0, count});
}

static int reap(void)
{
    struct fathom_error err = {0};
    int rc = harvest_store(&harvest, trie, images, maker.path, &err);
    cr_assert_eq(rc, -err.code, "%s", err.text);
    return rc;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* All nodes as "image+address/height@site...", in order, one a line with passes and self. */
static char *dump(void)
{
    void *data;
    size_t size;
    struct pathmap *map;
    char *lines[64], *text = NULL;
    uint32_t count;
    cr_assert_eq(trie_serialise(trie, &data, &size, NULL), 0);
    cr_assert_eq(pathmap_open_memory(data, size, &map, NULL), 0);
    count = pathmap_node_count(map);
    cr_assert_leq(count, 64);
    for (uint32_t i = 0; i < count; i++) {
        char line[1024] = "";
        uint32_t chain[16], depth = 0;
        for (uint32_t at = i; at != PATHMAP_NONE; at = pathmap_node(map, at).parent)
            chain[depth++] = at;
        while (depth) {
            struct pathmap_node n = pathmap_node(map, chain[--depth]);
            struct pathmap_function f = pathmap_function(map, n.function);
            size_t used = strlen(line);
            snprintf(line + used, sizeof line - used, "%s%s+%llx/%u@%llx", used ? ";" : "",
                     path_base(pathmap_image(map, f.image).path), (unsigned long long)f.address, n.height,
                     (unsigned long long)n.site);
        }
        struct pathmap_node n = pathmap_node(map, i);
        cr_assert_geq(asprintf(&lines[i], "%s %llu %llu\n", line, (unsigned long long)n.passes,
                               (unsigned long long)n.self),
                      0);
    }
    qsort(lines, count, sizeof *lines, by_text);
    FILE *out = open_memstream(&text, &size);
    for (uint32_t i = 0; i < count; i++) {
        fputs(lines[i], out);
        free(lines[i]);
    }
    fclose(out);
    pathmap_close(map);
    return text;
}

static void holds(const char *expected)
{
    char *got = dump();
    cr_expect_str_eq(got, expected);
    free(got);
}

Test(harvest, trees_of_threads_add_up)
{
    node(1, 0, ROOT, 0, 0, 0);
    node(2, 1, 1, 8, 0, 1);
    node(3, 2, 2, 32, BIAS_A + 0x1010, 5);
    node(4, 0, ROOT, 0, 0, 0);
    node(5, 4, 1, 8, 0, 2);
    node(6, 5, 2, 32, BIAS_A + 0x1010, 7);
    node(7, 5, 2, 48, BIAS_A + 0x1010, 1);
    cr_assert_eq(reap(), 0);
    holds("a+1000/8@0 3 0\n"
          "a+1000/8@0;a+2000/32@1010 12 0\n"
          "a+1000/8@0;a+2000/48@1010 1 0\n");
    cr_expect_eq(harvest.calls, 16);
    cr_expect_eq(harvest.nodes, 5);
    cr_expect_eq(harvest.unsound, 0);
    cr_expect_eq(trie_statistics(trie)->paths_entered, 16);
}

Test(harvest, handlers_on_an_alternate_stack_have_a_root_that_says_so)
{
    const uint64_t root = checksum_of(PARTIAL_SIGNAL, strlen(PARTIAL_SIGNAL));
    char expected[500];
    node(1, 0, ROOT, 0, 0, 0);
    node(2, 1, 1, 16 | STORE_SIGNAL, 0, 3);
    node(3, 2, 2, 32, BIAS_A + 0x1010, 5);
    node(4, 1, 1, 8, 0, 2);            /* no handler */
    node(5, 1, 1, STORE_SIGNAL, 0, 2); /* of no writer: above it is no room for a root */
    cr_assert_eq(reap(), 0);
    snprintf(expected, sizeof expected,
             "[partial]+%1$llx/4@0 3 0\n"
             "[partial]+%1$llx/4@0;a+1000/16@0 3 0\n"
             "[partial]+%1$llx/4@0;a+1000/16@0;a+2000/32@1010 5 0\n"
             "a+1000/8@0 2 0\n",
             (unsigned long long)root);
    holds(expected);
    cr_expect_eq(harvest.calls, 10);
    cr_expect_eq(harvest.unsound, 1);
}

Test(harvest, stores_add_up)
{
    node(1, 0, ROOT, 0, 0, 0);
    node(2, 1, 1, 8, 0, 1);
    cr_assert_eq(reap(), 0);
    cr_assert_eq(reap(), 0);
    holds("a+1000/8@0 2 0\n");
    cr_expect_eq(harvest.stores, 2);
    cr_expect_eq(harvest.image_count, 2, "the same images");
}

Test(harvest, call_sites_are_the_callers_or_unknown)
{
    node(1, 0, ROOT, 0, 0, 0);
    node(2, 1, 1, 8, BIAS_A + 0x1111, 1);   /* called from nowhere */
    node(3, 2, 4, 32, BIAS_A + 0x12010, 1); /* above 4 GiB where A begins below */
    node(4, 3, 1, 64, BIAS_B + 0x20, 1);
    node(5, 3, 2, 64, BIAS_A + 0x20, 1);   /* from another image than the caller's */
    node(6, 2, 2, 64, BIAS_A + SIZE_A, 1); /* just behind A */
    node(7, 2, 3, 64, BIAS_A + SIZE_A - 1, 1);
    node(8, 2, 3, 72, BIAS_A, 1);
    cr_assert_eq(reap(), 0);
    holds("a+1000/8@0 1 0\n"
          "a+1000/8@0;a+12000/64@1ffff 1 0\n"
          "a+1000/8@0;a+12000/72@0 1 0\n"
          "a+1000/8@0;a+2000/64@0 1 0\n"
          "a+1000/8@0;b+1000/32@12010 1 0\n"
          "a+1000/8@0;b+1000/32@12010;a+1000/64@20 1 0\n"
          "a+1000/8@0;b+1000/32@12010;a+2000/64@0 1 0\n");
}

Test(harvest, parents_may_stand_behind_their_children_and_in_other_chunks)
{
    uint32_t far = 5 * STORE_CHUNK_NODES + 3;
    node(2, far, 2, 32, 0, 4);
    node(far, far + 1, 1, 8, 0, 1);
    node(far + 1, 0, ROOT, 0, 0, 0);
    node(far + 2, 2, 3, 64, 0, 9);
    cr_assert_eq(reap(), 0);
    holds("a+1000/8@0 1 0\n"
          "a+1000/8@0;a+2000/32@0 4 0\n"
          "a+1000/8@0;a+2000/32@0;a+12000/64@0 9 0\n");
    struct harvest_progress progress;
    cr_expect_lt(harvest_progress("/no/such/directory", &progress, NULL), 0);
}

Test(harvest, a_forked_childs_store_begins_with_a_hole)
{
    uint32_t first = 3 * STORE_CHUNK_NODES;
    maker.header.chunk_first = 3;
    node(first, 0, ROOT, 0, 0, 0);
    node(first + 1, first, 1, 8, 0, 0); /* where it was when it forked */
    node(first + 2, first + 1, 2, 32, 0, 2);
    node(5, 0, ROOT, 0, 0, 0);
    node(first + 3, 5, 2, 32, 0, 2); /* the hole has no nodes */
    cr_assert_eq(reap(), 0);
    holds("a+1000/8@0 0 0\n"
          "a+1000/8@0;a+2000/32@0 2 0\n");
    cr_expect_eq(harvest.unsound, 1);
}

Test(harvest, what_makes_no_sense_is_left_out_with_what_is_below)
{
    node(1, 0, ROOT, 0, 0, 0);
    node(2, 1, 1, 8, 0, 1);
    node(3, 2, 2, 8, 0, 1);   /* no higher than its parent */
    node(4, 3, 3, 32, 0, 1);  /* below that */
    node(5, 2, 77, 32, 0, 1); /* no such function */
    node(6, 7, 1, 16, 0, 1);  /* a circle */
    node(7, 6, 1, 24, 0, 1);
    node(8, 8, 1, 24, 0, 1);        /* its own parent */
    node(9, 1u << 29, 1, 24, 0, 1); /* past the end */
    node(10, 50, 1, 24, 0, 1);      /* not in use */
    node(11, 7, 2, 99, 0, 1);       /* below the circle */
    node(12, 2, 2, 16, 0, 1);
    node(13, 2, ROOT, 0, 0, 1); /* a root with a parent */
    store_put_function(&maker, 5, 9, 0x1000);
    node(14, 2, 5, 16, 0, 1); /* a function of no image */
    cr_assert_eq(reap(), 0);
    holds("a+1000/8@0 1 0\n"
          "a+1000/8@0;a+2000/16@0 1 0\n");
    cr_expect_eq(harvest.unsound, 11);
}

Test(harvest, a_function_of_no_image_keeps_its_place)
{
    store_put_function(&maker, 5, STORE_NO_IMAGE, 0x7fff00001000);
    node(1, 0, ROOT, 0, 0, 0);
    node(2, 1, 5, 8, 0, 1);
    cr_assert_eq(reap(), 0);
    cr_expect_eq(trie_node_count(trie), 2);
    cr_expect_eq(harvest.unsound, 0);
}

Test(harvest, refuses_what_is_no_store)
{
    maker.header.magic++;
    store_put_header(&maker);
    cr_expect_eq(reap(), -ENOMSG);
    maker.header.magic--;
    maker.header.version++;
    store_put_header(&maker);
    cr_expect_eq(reap(), -ENOTSUP);
    maker.header.version--;
    maker.header.image_count = STORE_IMAGES_MAX + 1;
    store_put_header(&maker);
    cr_expect_eq(reap(), -EBADMSG);
    maker.header.image_count = 2;
    maker.header.function_count = STORE_FUNCTIONS_MAX + 1;
    store_put_header(&maker);
    cr_expect_eq(reap(), -EBADMSG);
    cr_assert_eq(ftruncate(maker.fd, 0), 0);
    cr_expect_eq(reap(), -ENOMSG);
    struct fathom_error err = {0};
    cr_expect_eq(harvest_store(&harvest, trie, images, "/proc", &err), -ENOMSG, "a directory");
    cr_expect_eq(harvest_store(&harvest, trie, images, "/no/such/store", &err), -ENOENT);
    cr_expect_eq(trie_node_count(trie), 1);
}

Test(harvest, a_cut_store_gives_what_is_left)
{
    node(1, 0, ROOT, 0, 0, 0);
    node(2, 1, 1, 8, 0, 1);
    node(3, 2, 2, 16, 0, 1);
    maker.header.chunk_count = UINT32_MAX; /* handed out, but never there */
    store_put_header(&maker);
    cr_assert_eq(ftruncate(maker.fd, (off_t)(STORE_NODES_AT + 3 * sizeof(struct store_node) + 5)), 0);
    cr_assert_eq(reap(), 0);
    holds("a+1000/8@0 1 0\n");
    for (off_t size = (off_t)STORE_NODES_AT; size > 4096; size /= 2) {
        cr_assert_eq(ftruncate(maker.fd, size), 0);
        reap(); /* images and functions that are not there are zeros */
    }
}

Test(harvest, a_path_without_end_is_cut)
{
    struct store_image image;
    memset(&image, 'x', sizeof image);
    cr_assert_eq(pwrite(maker.fd, &image, sizeof image, STORE_IMAGES_AT), (ssize_t)sizeof image);
    node(1, 0, ROOT, 0, 0, 0);
    node(2, 1, 1, 8, 0, 1);
    node(3, 2, 1, 16, 0x78787878, 1);
    cr_assert_eq(reap(), 0);
    cr_expect_eq(strlen(harvest.images[0].path), sizeof image.path - 1);
    cr_expect_eq(trie_node_count(trie), 3);
}

Test(harvest, summaries_are_those_of_the_process_with_the_most_hooks)
{
    for (uint32_t n = 1; n <= 3; n++) {
        struct store_summary hooks = {.detours = n == 2 ? 9 : n, .left_out = n};
        cr_assert_eq(pwrite(maker.fd, &hooks, sizeof hooks,
                            (off_t)(STORE_IMAGES_AT + offsetof(struct store_image, summary))),
                     (ssize_t)sizeof hooks);
        cr_assert_eq(reap(), 0);
    }
    cr_expect_eq(harvest.images[0].hooks.detours, 9);
    cr_expect_eq(harvest.images[0].hooks.left_out, 2);
    cr_expect_eq(harvest.threads, 3);
}

Test(harvest, deep_recursion_backwards)
{
    enum { DEPTH = 200000 };
    struct store_node *all = calloc(DEPTH + 2, sizeof *all);
    all[DEPTH] = (struct store_node){.function = ROOT};
    for (uint32_t i = 1; i < DEPTH; i++)
        all[i] = (struct store_node){.parent = i + 1, .function = 1, .height = 8 * (DEPTH - i), .count = 1};
    maker.header.chunk_count = DEPTH / STORE_CHUNK_NODES + 1;
    store_put_header(&maker);
    size_t size = (DEPTH + 1) * sizeof *all;
    cr_assert_eq(pwrite(maker.fd, all, size, STORE_NODES_AT), (ssize_t)size);
    cr_assert_eq(reap(), 0);
    cr_expect_eq(trie_node_count(trie), DEPTH);
    cr_expect_eq(harvest.calls, DEPTH - 1);
    free(all);
}
