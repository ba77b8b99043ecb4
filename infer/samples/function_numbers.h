/*
 * function_numbers.h - the numbers of images' functions in a trie, or in a map (internal to infer/).
 *
 * Cached in one array per image, filled as functions are asked for.
 */
#ifndef FATHOM_INFER_SAMPLES_FUNCTION_NUMBERS_H
#define FATHOM_INFER_SAMPLES_FUNCTION_NUMBERS_H

#include "pathmap/map/pathmap.h"

struct function_numbers;

/* For a trie (borrowed), to which new images and functions are added. NULL: out of memory. */
struct function_numbers *function_numbers_new(struct trie *trie);
/* For a map (borrowed): what it does not have is TRIE_NONE. NULL: out of memory. */
struct function_numbers *function_numbers_of_map(const struct pathmap *map);
void function_numbers_free(struct function_numbers *numbers);

/* TRIE_NONE: out of memory, or the map does not have it. */
uint32_t function_number(struct function_numbers *numbers, const struct image *image, uint32_t function);
/* The number of the image. */
uint32_t function_number_image(struct function_numbers *numbers, const struct image *image);

#endif
