/* base64.c - see base64.h. */
#include "base/base64.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

char *base64_encode(const void *data, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint8_t *from = data;
    char *text = size < SIZE_MAX / 2 ? malloc(size / 3 * 4 + 5) : NULL, *to = text;
    if (!text)
        return NULL;
    for (size_t i = 0; i < size; i += 3) {
        const size_t left = size - i < 3 ? size - i : 3;
        uint8_t three[3] = {0};
        memcpy(three, from + i, left);
        const uint32_t bits = (uint32_t)three[0] << 16 | (uint32_t)three[1] << 8 | three[2];
        for (size_t d = 0; d < 4; d++)
            *to++ = d <= left ? digits[bits >> (18 - 6 * d) & 63] : '=';
    }
    *to = '\0';
    return text;
}
