/*
 * fuzz_container.c - a fuzz target for the files in which runtimes keep containers' names: read as each kind of them, they give an ID
 * or none. The first byte of the input is the name's length, then follow the name and the file.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collector/targets/container.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define DIRECTORY "/run/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef/"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char name[UINT8_MAX + 1] = "", id[CONTAINER_ID + 1];
    size_t length = size ? data[0] : 0;
    if (!size || length > size - 1)
        return 0;
    memcpy(name, data + 1, length);
    const size_t left = size - 1 - length;
    char *copy = malloc(left ? left : 1); /* of that size, so that reading beyond it is noticed */
    if (!copy)
        abort();
    if (left)
        memcpy(copy, data + 1 + length, left);
    for (enum container_file kind = CONTAINER_DOCKER; kind <= CONTAINER_CONTAINERD; kind++)
        if (container_named(kind, DIRECTORY "config.json", copy, left, name, id) &&
            !container_id(id, strlen(id)))
            abort();
    free(copy);
    return 0;
}
