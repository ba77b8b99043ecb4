/* script_lines.c - see script_lines.h. */
#include "perfdata/script_lines.h"

#include <stdbool.h>

#include "base/search.h"

#define UNIT 2u /* bytes of an instruction */

/* Kinds of entries: up to SHORT_LAST, columns follow in one byte. */
enum { SHORT_LAST = 9, ONE_LINE = 10, ONE_LINE_LAST = 12, NO_COLUMNS = 13, LONG = 14, NONE = 15 };

struct cursor {
    const uint8_t *at, *end;
};

/* Six bits in a byte, the lowest first; what has more than 32 is cut. */
static uint32_t read_number(struct cursor *c)
{
    uint32_t number = 0;
    for (unsigned shift = 0; c->at < c->end; shift += 6) {
        const uint8_t byte = *c->at++;
        if (shift < 32)
            number |= (uint32_t)(byte & 63) << shift;
        if (!(byte & 64))
            break;
    }
    return number;
}

/* The lowest bit is the sign. */
static uint32_t read_signed(struct cursor *c)
{
    const uint32_t number = read_number(c);
    return number & 1 ? 0 - (number >> 1) : number >> 1;
}

/* What an entry adds to the line. */
static uint32_t read_delta(struct cursor *c, unsigned kind)
{
    if (kind == NONE)
        return 0;
    const uint32_t delta = kind >= NO_COLUMNS ? read_signed(c) : kind >= ONE_LINE ? kind - ONE_LINE : 0;
    for (unsigned i = 0; kind == LONG && i < 3; i++)
        read_number(c);
    const size_t columns = kind <= SHORT_LAST      ? 1
                           : kind <= ONE_LINE_LAST ? 2
                                                   : 0,
                 left = (size_t)(c->end - c->at);
    c->at += columns < left ? columns : left;
    return delta;
}

size_t python_rows(const uint8_t *table, size_t size, uint32_t first, struct script_row *out)
{
    struct cursor c = {table, size ? table + size : table};
    uint32_t line = first, end = 0;
    size_t count = 0;
    while (c.at < c.end && *c.at & 128) { /* else no entry begins there */
        const uint8_t head = *c.at++;
        const unsigned kind = head >> 3 & 15;
        line += read_delta(&c, kind);
        end += UNIT * ((head & 7) + 1u);
        const uint32_t shown = kind == NONE ? 0 : line;
        if (count && out[count - 1].line == shown)
            count--;
        out[count++] = (struct script_row){end, shown};
    }
    return count;
}

uint32_t script_line(const struct script_row *rows, size_t count, uint32_t at)
{
    const size_t row = lower_bound(i, 0, count, rows[i].end <= at);
    return row < count ? rows[row].line : 0;
}
