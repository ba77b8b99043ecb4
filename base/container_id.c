/* container_id.c - see container_id.h. */
#include "base/container_id.h"

#include <string.h>

#define SCOPE   ".scope"
#define MONITOR "conmon"

static bool ends_with(const char *text, size_t length, const char *end)
{
    const size_t size = strlen(end);
    return length >= size && memcmp(text + length - size, end, size) == 0;
}

bool container_is_id(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!memchr("0123456789abcdef", text[i], 16))
            return false;
    return length == CONTAINER_ID;
}

const char *container_id(const char *name, size_t length)
{
    if (ends_with(name, length, SCOPE))
        length -= strlen(SCOPE);
    const size_t before = length - CONTAINER_ID;
    if (length < CONTAINER_ID || !container_is_id(name + before, CONTAINER_ID))
        return NULL;
    const bool separate = before == 0 || name[before - 1] == '-' || name[before - 1] == ':';
    return separate && (before == 0 || !ends_with(name, before - 1, MONITOR)) ? name + before : NULL;
}
