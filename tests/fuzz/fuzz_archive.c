/*
 * fuzz_archive.c - a fuzz target for the list of an archive's files. What was read is plain names; it is written, and read again.
 * (The tar file around it is libarchive's to read.)
 */
#include <stdlib.h>
#include <string.h>

#include "archive/manifest.h"
#include "base/plain_path.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_same(const struct manifest *a, const struct manifest *b)
{
    if (a->count != b->count || !a->map != !b->map || (a->map && strcmp(a->map, b->map) != 0))
        abort();
    for (size_t i = 0; i < a->count; i++) {
        const struct manifest_file *x = &a->files[i], *y = manifest_find(b, x->name);
        if (y != &b->files[i] || x->size != y->size || x->sum != y->sum || strcmp(x->from, y->from) != 0)
            abort();
        if (!plain_path(x->name) || x->name[0] == '/' || strcmp(x->name, "..") == 0 ||
            strncmp(x->name, "../", 3) == 0 || strstr(x->name, "/../"))
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fathom_error err = {0};
    struct manifest manifest, again;
    char *copy = malloc(size ? size : 1); /* of that size, so that reading beyond it is noticed */
    if (!copy)
        abort();
    if (size)
        memcpy(copy, data, size);
    int rc = manifest_parse(copy, size, &manifest, &err);
    free(copy);
    if (rc < 0 && (err.code != -rc || !err.text[0]))
        abort();
    if (rc < 0)
        return 0;
    size_t length;
    char *text = manifest_format(&manifest, &length);
    if (!text || manifest_parse(text, length, &again, NULL) < 0)
        abort();
    check_same(&manifest, &again);
    free(text);
    manifest_free(&again);
    manifest_free(&manifest);
    return 0;
}
