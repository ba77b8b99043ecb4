/* Numbers of functions, in a trie and in a map, for more images than are remembered as the last ones. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "infer/samples/function_numbers.h"

enum { IMAGES = 7 };

static struct image *images[IMAGES];

/* Files of their own for the trie: their names differ, and they have no build-id. */
static void open_images(void)
{
    for (uint32_t i = 0; i < IMAGES; i++) {
        char name[16];
        snprintf(name, sizeof name, "/image%u", i);
        cr_assert_eq(image_open_as("/proc/self/exe", name, NULL, &images[i], NULL), 0);
        cr_assert_gt(image_function_count(images[i]), 9u);
    }
}

static void close_images(void)
{
    for (uint32_t i = 0; i < IMAGES; i++)
        image_close(images[i]);
}

Test(function_numbers, of_a_trie_are_given_once, .init = open_images, .fini = close_images)
{
    struct trie *trie = trie_new();
    struct function_numbers *numbers = function_numbers_new(trie);
    cr_assert(numbers);
    uint32_t first = function_number(numbers, images[0], 3), of[10];
    for (uint32_t f = 0; f < 10; f++)
        of[f] = function_number(numbers, images[0], f);
    cr_expect_eq(of[3], first);
    cr_expect_eq(trie_function_count(trie), 10u);
    for (uint32_t step = 0; step < 100; step++) {
        uint32_t i = step * step % IMAGES;
        cr_expect_eq(function_number(numbers, images[i], step % 10), of[step % 10],
                     "equal build-ids: one image");
        cr_expect_eq(function_number_image(numbers, images[i]), 0u);
    }
    cr_expect_eq(trie_find_function(trie, 0, image_function(images[0], 3)->address), first);
    function_numbers_free(numbers);
    trie_free(trie);
}

Test(function_numbers, of_a_map_are_found, .init = open_images, .fini = close_images)
{
    struct trie *trie = trie_new();
    struct function_numbers *adds = function_numbers_new(trie);
    uint32_t known = function_number(adds, images[0], 5);
    struct pathmap *map;
    cr_assert_eq(pathmap_over(trie, &map, NULL), 0);
    struct function_numbers *finds = function_numbers_of_map(map);
    cr_expect_eq(function_number(finds, images[1], 5), known);
    cr_expect_eq(function_number(finds, images[1], 6), TRIE_NONE);
    cr_expect_eq(function_number(finds, images[1], 6), TRIE_NONE, "remembered");
    cr_expect_eq(pathmap_function_count(map), 1u);
    uint32_t later = function_number(adds, images[0], 6);
    cr_expect_eq(pathmap_find_function(map, 0, image_function(images[0], 6)->address), PATHMAP_NONE,
                 "newer than the map");
    cr_assert_eq(pathmap_update(map, NULL), 0);
    cr_expect_eq(pathmap_find_function(map, 0, image_function(images[0], 6)->address), later);
    function_numbers_free(adds);
    function_numbers_free(finds);
    pathmap_close(map);
    trie_free(trie);
}
