/* script.c - see script.h. */
#include "image/script.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "image/image_private.h"
#include "image/script_private.h"

static const struct script_facts facts[SCRIPT_LANGUAGES] = {
    [SCRIPT_PYTHON] = {"CPython", "3.11, 3.12, or 3.13 with a GIL", "_PyEval_EvalFrameDefault", NULL, false,
                       "python", "cpython"},
    [SCRIPT_PHP] = {"PHP", "8.2 without ZTS", "execute_ex", NULL, true, "php", "php"},
    [SCRIPT_RUBY] = {"Ruby", "3.1 with glibc", "rb_vm_exec", "vm_exec_core", true, "ruby", "ruby"},
    [SCRIPT_JAVASCRIPT] = {"V8", "10.2 or 11.3 (Node 18 and 20)", "Builtins_InterpreterEntryTrampoline", NULL,
                           false, "node", "v8js"},
};

const struct script_facts *script_facts(unsigned language)
{
    return language < SCRIPT_LANGUAGES && facts[language].name ? &facts[language] : NULL;
}

void script_read_version(const uint8_t *text, size_t size, struct script_runtime *out)
{
    char copy[8] = "", *end;
    memcpy(copy, text, size < sizeof copy - 1 ? size : sizeof copy - 1);
    const unsigned long major = strtoul(copy, &end, 10);
    if (!isdigit((unsigned char)copy[0]) || *end != '.')
        return;
    out->major = (unsigned)major;
    out->minor = (unsigned)strtoul(end + 1, NULL, 10);
}

int image_find_script(struct image *image)
{
    struct script_runtime found = {0};
    if (!python_find(&image->file, &found) && !php_find(&image->file, &found) &&
        !ruby_find(&image->file, &found) && !v8_find(&image->file, &found))
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
