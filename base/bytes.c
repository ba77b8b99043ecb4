/* bytes.c - see bytes.h. */
#include "base/bytes.h"

#include <string.h>

const uint8_t *bytes_take(struct bytes *b, uint64_t n)
{
    if (b->failed || n > bytes_left(b)) {
        b->failed = true;
        b->at = b->end;
        return NULL;
    }
    const uint8_t *p = b->at;
    b->at += n;
    return p;
}

uint8_t bytes_u8(struct bytes *b)
{
    const uint8_t *p = bytes_take(b, 1);
    return p ? *p : 0;
}

uint16_t bytes_u16(struct bytes *b)
{
    uint16_t v = 0;
    const uint8_t *p = bytes_take(b, sizeof v);
    if (p)
        memcpy(&v, p, sizeof v);
    return v;
}

uint32_t bytes_u32(struct bytes *b)
{
    uint32_t v = 0;
    const uint8_t *p = bytes_take(b, sizeof v);
    if (p)
        memcpy(&v, p, sizeof v);
    return v;
}

uint64_t bytes_u64(struct bytes *b)
{
    uint64_t v = 0;
    const uint8_t *p = bytes_take(b, sizeof v);
    if (p)
        memcpy(&v, p, sizeof v);
    return v;
}

uint64_t bytes_uleb(struct bytes *b)
{
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;
    do {
        byte = bytes_u8(b);
        uint64_t bits = byte & 0x7f;
        if (shift >= 64 ? bits != 0 : shift == 63 && bits > 1)
            b->failed = true;
        if (b->failed)
            return 0;
        if (shift < 64)
            value |= bits << shift;
        shift += 7;
    } while (byte & 0x80);
    return value;
}

int64_t bytes_sleb(struct bytes *b)
{
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;
    do {
        byte = bytes_u8(b);
        if (shift >= 70)
            b->failed = true;
        if (b->failed)
            return 0;
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);
    if (shift < 64 && (byte & 0x40))
        value |= ~(uint64_t)0 << shift;
    return (int64_t)value;
}

const char *bytes_string(struct bytes *b)
{
    const uint8_t *nul = b->failed ? NULL : memchr(b->at, 0, bytes_left(b));
    if (!nul) {
        b->failed = true;
        b->at = b->end;
        return NULL;
    }
    const char *text = (const char *)b->at;
    b->at = nul + 1;
    return text;
}

uint8_t *bytes_put_uleb(uint8_t *out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *out++ = (uint8_t)(value | 0x80);
    *out++ = (uint8_t)value;
    return out;
}

size_t bytes_uleb_size(uint64_t value)
{
    size_t size = 1;
    while (value >>= 7)
        size++;
    return size;
}

void bytes_put_uleb_as(uint8_t *out, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++, value >>= 7)
        out[i] = (uint8_t)((value & 0x7f) | (i + 1 < size ? 0x80 : 0));
}
