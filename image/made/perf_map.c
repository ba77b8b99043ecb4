/* perf_map.c - see perf_map.h. */
#include "image/made/perf_map.h"

#include <string.h>

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Reads a number at *at and advances behind it and the spaces that follow. false: none, or too large. */
static bool take_number(const char **at, const char *end, uint64_t *out)
{
    const char *p = *at;
    unsigned digits = 0;
    if (end - p > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
        p += 2;
    for (*out = 0; p < end; p++, digits++) {
        const char c = (char)(*p | 0x20);
        const bool decimal = *p >= '0' && *p <= '9';
        if (!decimal && !(c >= 'a' && c <= 'f'))
            break;
        if (*out >> 60)
            return false;
        *out = *out << 4 | (uint64_t)(decimal ? *p - '0' : c - 'a' + 10);
    }
    if (!digits || p == end || !is_space(*p))
        return false;
    while (p < end && is_space(*p))
        p++;
    *at = p;
    return true;
}

static int read_line(struct code_namer *namer, const char *at, const char *end)
{
    uint64_t address, size;
    while (end > at && is_space(end[-1]))
        end--;
    if (!take_number(&at, end, &address) || !take_number(&at, end, &size))
        return 0;
    return code_namer_add(namer, address, size, at, (size_t)(end - at));
}

int perf_map_read(struct code_namer *namer, const char *text, size_t size)
{
    int rc = 0;
    for (const char *end; rc == 0 && size && (end = memchr(text, '\n', size)); text = end + 1) {
        size -= (size_t)(end + 1 - text);
        rc = read_line(namer, text, end);
    }
    return rc;
}
