/* statement.c - see statement.h. */
#include "store/statement.h"

#include <string.h>

bool statement_end(struct statement *s)
{
    if (!s->out)
        return false;
    const bool whole = !ferror(s->out);
    return fclose(s->out) == 0 && whole && s->text;
}

void put_value(FILE *out, const char *text)
{
    fputs("unhex('", out);
    for (; *text; text++)
        fprintf(out, "%02x", (unsigned char)*text);
    fputs("')", out);
}

void put_binary_size(FILE *out, uint64_t value)
{
    uint8_t bytes[BYTES_ULEB_MAX];
    fwrite(bytes, 1, (size_t)(bytes_put_uleb(bytes, value) - bytes), out);
}

void put_binary_text(FILE *out, const char *text)
{
    const size_t size = strlen(text);
    put_binary_size(out, size);
    fwrite(text, 1, size, out);
}

void put_binary(FILE *out, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        putc_unlocked((int)(value >> 8 * i & 0xff), out);
}

const char *take_text(struct bytes *b, struct arena *arena)
{
    const uint64_t size = bytes_uleb(b);
    const uint8_t *text = bytes_take(b, size);
    char *copy = text ? arena_alloc(arena, (size_t)size + 1) : NULL;
    if (copy)
        memcpy(copy, text, (size_t)size);
    return copy;
}
