/* function_numbers.c - see function_numbers.h. */
#include "infer/samples/function_numbers.h"

#include <stdlib.h>

#include "base/allocate.h"
#include "base/hash.h"

#define UNASKED (UINT32_MAX - 1)

struct of_image {
    const struct image *image;
    uint32_t number;      /* initially UNASKED */
    uint32_t functions[]; /* by the image's number; initially UNASKED */
};

#define RECENT 4 /* a program and its hottest libraries: samples alternate between them */

struct function_numbers {
    struct trie *trie; /* NULL: the map is used */
    const struct pathmap *map;
    struct table *images;            /* image pointer -> struct of_image * */
    struct of_image *recent[RECENT]; /* NULL: empty */
    unsigned next;                   /* the entry of `recent` to replace next */
};

struct function_numbers *function_numbers_new(struct trie *trie)
{
    struct function_numbers *n = allocate(struct function_numbers, .trie = trie, .images = table_new());
    return whole_or_free(n, n->images, free);
}

struct function_numbers *function_numbers_of_map(const struct pathmap *map)
{
    struct function_numbers *n = function_numbers_new(NULL);
    if (n)
        n->map = map;
    return n;
}

void function_numbers_free(struct function_numbers *n)
{
    if (!n)
        return;
    size_t cursor = 0;
    uint64_t key, value;
    while (table_next(n->images, &cursor, &key, &value))
        free((struct of_image *)(uintptr_t)value);
    table_free(n->images);
    free(n);
}

static struct of_image *add_image(struct function_numbers *n, const struct image *image)
{
    uint32_t count = image_function_count(image);
    struct of_image *entry = malloc(sizeof *entry + count * sizeof *entry->functions);
    if (!entry || !table_set(n->images, (uintptr_t)image, (uintptr_t)entry)) {
        free(entry);
        return NULL;
    }
    entry->image = image;
    entry->number = UNASKED;
    for (uint32_t i = 0; i < count; i++)
        entry->functions[i] = UNASKED;
    return entry;
}

/* NULL: out of memory. */
static struct of_image *find_image(struct function_numbers *n, const struct image *image)
{
    for (unsigned i = 0; i < RECENT && n->recent[i]; i++)
        if (n->recent[i]->image == image)
            return n->recent[i];
    uint64_t *value = table_find(n->images, (uintptr_t)image);
    struct of_image *entry = value ? (struct of_image *)(uintptr_t)*value : add_image(n, image);
    if (entry)
        n->recent[n->next++ % RECENT] = entry;
    return entry;
}

/* A number that a trie could not give for lack of memory is asked for again. */
static uint32_t remember(const struct function_numbers *n, uint32_t *place, uint32_t number)
{
    if (number != TRIE_NONE || !n->trie)
        *place = number;
    return number;
}

static uint32_t image_number(const struct function_numbers *n, struct of_image *entry)
{
    if (entry->number != UNASKED)
        return entry->number;
    const char *path = image_path(entry->image);
    const struct build_id *id = image_build_id(entry->image);
    return remember(n, &entry->number,
                    n->trie ? trie_image(n->trie, path, id) : pathmap_find_image(n->map, path, id, NULL));
}

uint32_t function_number_image(struct function_numbers *n, const struct image *image)
{
    struct of_image *entry = find_image(n, image);
    return entry ? image_number(n, entry) : TRIE_NONE;
}

uint32_t function_number(struct function_numbers *n, const struct image *image, uint32_t function)
{
    struct of_image *entry = find_image(n, image);
    if (!entry || entry->functions[function] != UNASKED)
        return entry ? entry->functions[function] : TRIE_NONE;
    uint32_t number = image_number(n, entry);
    if (number == TRIE_NONE)
        return TRIE_NONE;
    const struct image_function *f = image_function(image, function);
    return remember(n, &entry->functions[function],
                    n->trie ? trie_function(n->trie, number, f->address, f->name)
                            : pathmap_find_function(n->map, number, f->address));
}
