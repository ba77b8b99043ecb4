/*
 * function_numbers.h - the numbers of images' functions in a trie, or in a map (internal to infer/).
 *
 * Remembered in one array per image, filled as functions are asked for.
 */
#ifndef FATHOM_INFER_SAMPLES_FUNCTION_NUMBERS_H
#define FATHOM_INFER_SAMPLES_FUNCTION_NUMBERS_H

#include "pathmap/map/pathmap.h"

struct function_numbers;

/* A trie's: images and functions are added to it when they are new. Borrowed. NULL: out of memory. */
struct function_numbers *function_numbers_new(struct trie *trie);
/* A map's: what it does not have is TRIE_NONE. Borrowed. NULL: out of memory. */
struct function_numbers *function_numbers_of_map(const struct pathmap *map);
void function_numbers_free(struct function_numbers *numbers);

/* TRIE_NONE: out of memory, or the map does not have it. */
uint32_t function_number(struct function_numbers *numbers, const struct image *image, uint32_t function);
/* The image's. */
uint32_t function_number_image(struct function_numbers *numbers, const struct image *image);

#endif
