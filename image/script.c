/* script.c - see script.h. */
#include "image/script.h"

#include <errno.h>

#include "image/image_private.h"
#include "image/script_private.h"

static const struct script_facts facts[SCRIPT_LANGUAGES] = {
    [SCRIPT_PYTHON] = {"CPython", "3.11, 3.12, or 3.13 with a GIL", "_PyEval_EvalFrameDefault", "python",
                       "cpython"},
    [SCRIPT_PHP] = {"PHP", "8.2 without ZTS", "execute_ex", "php", "php"},
};

const struct script_facts *script_facts(unsigned language)
{
    return language < SCRIPT_LANGUAGES && facts[language].name ? &facts[language] : NULL;
}

int image_find_script(struct image *image)
{
    struct script_runtime found = {0};
    if (!python_find(&image->file, &found) && !php_find(&image->file, &found))
        return 0;
    struct script_runtime *kept = arena_alloc(image->arena, sizeof *kept);
    if (!kept)
        return -ENOMEM;
    *kept = found;
    image->script = kept;
    return 0;
}

const struct script_runtime *image_script(const struct image *image)
{
    return image->script;
}
