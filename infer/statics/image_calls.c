/* image_calls.c - see image_calls.h. */
#include "infer/statics/image_calls.h"

#include <stdlib.h>

#include "base/hash.h"

struct image_calls {
    struct table *of; /* image -> struct calls */
};

struct image_calls *image_calls_new(void)
{
    struct image_calls *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->of = table_new();
    if (!c->of) {
        free(c);
        c = NULL;
    }
    return c;
}

void image_calls_free(struct image_calls *c)
{
    if (!c)
        return;
    uint64_t image, calls;
    for (size_t at = 0; table_next(c->of, &at, &image, &calls);)
        calls_free((struct calls *)(uintptr_t)calls);
    table_free(c->of);
    free(c);
}

const struct calls *image_calls_of(struct image_calls *c, const struct image *image)
{
    struct calls *calls = NULL;
    uint64_t *place = table_put(c->of, (uintptr_t)image, NULL);
    if (!place)
        return NULL;
    if (!*place && calls_build(image, &calls, NULL) == 0)
        *place = (uintptr_t)calls;
    return (const struct calls *)(uintptr_t)*place;
}
