/* functions.c - see functions.h. */
#include "infer/functions.h"

#include <stdlib.h>

#include "base/hash.h"

struct functions {
    struct table *images;         /* image pointer -> struct functions_image * */
    struct functions_image *last; /* the one that was asked for last, or NULL */
};

struct functions *functions_new(void)
{
    struct functions *f = calloc(1, sizeof *f);
    if (f && !(f->images = table_new())) {
        free(f);
        f = NULL;
    }
    return f;
}

static void functions_image_free(struct functions_image *entry)
{
    if (entry)
        free(entry->functions);
    free(entry);
}

void functions_free(struct functions *f)
{
    if (!f)
        return;
    size_t cursor = 0;
    uint64_t key, value;
    while (table_next(f->images, &cursor, &key, &value))
        functions_image_free((struct functions_image *)(uintptr_t)value);
    table_free(f->images);
    free(f);
}

static struct functions_image *functions_add(struct functions *f, const struct image *image)
{
    uint32_t count = image_function_count(image);
    struct functions_image *entry = malloc(sizeof *entry);
    uint32_t *numbers = malloc((count ? count : 1) * sizeof *numbers);
    uint64_t *value = entry && numbers ? table_put(f->images, (uintptr_t)image, NULL) : NULL;
    if (!value) {
        free(entry);
        free(numbers);
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++)
        numbers[i] = FUNCTIONS_UNSET;
    *entry = (struct functions_image){image, FUNCTIONS_UNSET, numbers};
    *value = (uintptr_t)entry;
    return entry;
}

struct functions_image *functions_of(struct functions *f, const struct image *image)
{
    if (f->last && f->last->image == image)
        return f->last;
    uint64_t *value = table_find(f->images, (uintptr_t)image);
    struct functions_image *entry =
        value ? (struct functions_image *)(uintptr_t)*value : functions_add(f, image);
    if (entry)
        f->last = entry;
    return entry;
}
