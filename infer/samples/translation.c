/* translation.c - see translation.h. */
#include "infer/samples/translation.h"

#include <stdlib.h>

#include "base/hash.h"

#define RECENT 4 /* a program and its hottest libraries, between which samples alternate */

struct translation {
    struct table *images;                     /* image pointer -> struct translation_image * */
    struct translation_image *recent[RECENT]; /* NULL: none yet */
    unsigned next;                            /* index of the one to replace */
};

struct translation *translation_new(void)
{
    struct translation *f = calloc(1, sizeof *f);
    if (f && !(f->images = table_new())) {
        free(f);
        f = NULL;
    }
    return f;
}

static void translation_image_free(struct translation_image *entry)
{
    if (entry)
        free(entry->functions);
    free(entry);
}

void translation_free(struct translation *f)
{
    if (!f)
        return;
    size_t cursor = 0;
    uint64_t key, value;
    while (table_next(f->images, &cursor, &key, &value))
        translation_image_free((struct translation_image *)(uintptr_t)value);
    table_free(f->images);
    free(f);
}

static struct translation_image *translation_add(struct translation *f, const struct image *image)
{
    uint32_t count = image_function_count(image);
    struct translation_image *entry = malloc(sizeof *entry);
    uint32_t *numbers = malloc((count ? count : 1) * sizeof *numbers);
    uint64_t *value = entry && numbers ? table_put(f->images, (uintptr_t)image, NULL) : NULL;
    if (!value) {
        free(entry);
        free(numbers);
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++)
        numbers[i] = TRANSLATION_UNSET;
    *entry = (struct translation_image){image, TRANSLATION_UNSET, numbers};
    *value = (uintptr_t)entry;
    return entry;
}

struct translation_image *translation_of(struct translation *f, const struct image *image)
{
    for (unsigned i = 0; i < RECENT && f->recent[i]; i++)
        if (f->recent[i]->image == image)
            return f->recent[i];
    uint64_t *value = table_find(f->images, (uintptr_t)image);
    struct translation_image *entry =
        value ? (struct translation_image *)(uintptr_t)*value : translation_add(f, image);
    if (entry)
        f->recent[f->next++ % RECENT] = entry;
    return entry;
}
