/* image_calls.c - see image_calls.h. */
#include "infer/statics/image_calls.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"

#define NOT_READ 1u /* in place of a pointer */

struct image_calls {
    struct table *of; /* image -> struct calls, or NOT_READ */
    struct work work;
};

struct image_calls *image_calls_new(void)
{
    struct image_calls *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->of = table_new();
    c->work.left = IMAGE_CALLS_MOST;
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
        calls_free(calls == NOT_READ ? NULL : (struct calls *)(uintptr_t)calls);
    table_free(c->of);
    free(c);
}

uint64_t image_calls_allow(struct image_calls *c, uint64_t steps)
{
    uint64_t left = c->work.left;
    c->work.left = steps;
    return left;
}

int image_calls_of(struct image_calls *c, const struct image *image, const struct calls **out)
{
    struct calls *calls = NULL;
    uint64_t steps = IMAGE_CALLS_STEPS * image_code_size(image);
    uint64_t *place = table_put(c->of, (uintptr_t)image, NULL);
    if (!place)
        return -ENOMEM;
    if (!*place && steps > c->work.left)
        *place = NOT_READ;
    if (!*place) {
        if (calls_build(image, &calls, NULL) < 0)
            return -ENOMEM;
        work_take(&c->work, steps);
        *place = (uintptr_t)calls;
    }
    *out = *place == NOT_READ ? NULL : (const struct calls *)(uintptr_t)*place;
    return 0;
}
