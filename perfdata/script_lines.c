/* script_lines.c - see script_lines.h. */
#include "perfdata/script_lines.h"

#include <stdbool.h>
#include <string.h>

#include "base/search.h"
#include "perfdata/script_record.h"

#define UNIT 2u /* bytes per instruction */

/* Kinds of entries: up to SHORT_LAST, columns follow in one byte. */
enum { SHORT_LAST = 9, ONE_LINE = 10, ONE_LINE_LAST = 12, NO_COLUMNS = 13, LONG = 14, NONE = 15 };

struct cursor {
    const uint8_t *at, *end;
};

/* Six bits per byte, the lowest first; bits beyond 32 are dropped. */
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
    while (c.at < c.end && *c.at & 128) { /* otherwise no entry begins there */
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

static uint64_t word_at(const uint8_t *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

/* How many lines begin at or before a word of instructions: succ_index_lookup() of iseq.c. */
static uint32_t ruby_rank(const uint8_t *positions, uint32_t word)
{
    if (word < RUBY_IMMEDIATE)
        return word_at(positions + word / 9 * 8) >> word % 9 * 7 & 127;
    const uint32_t behind = word - RUBY_IMMEDIATE, bit = behind % RUBY_BLOCK, part = bit / 64;
    const uint8_t *block =
        positions + RUBY_IMMEDIATE_BYTES(RUBY_IMMEDIATE) + behind / RUBY_BLOCK * RUBY_BLOCK_BYTES;
    const uint32_t before = part ? word_at(block + 8) >> (part - 1) * 9 & 511 : 0;
    return (uint32_t)word_at(block) + before +
           (uint32_t)__builtin_popcountll(word_at(block + 16 + (size_t)part * 8) << (63 - bit % 64));
}

size_t ruby_rows(const uint8_t *table, size_t size, struct script_row *out, size_t most)
{
    uint32_t words, lines, line;
    size_t count = 0;
    if (size < 2 * sizeof words)
        return 0;
    memcpy(&words, table, sizeof words);
    memcpy(&lines, table + sizeof words, sizeof lines);
    const uint8_t *positions = table + sizeof words + sizeof lines;
    const uint64_t bytes = RUBY_POSITIONS_BYTES((uint64_t)words);
    if (size - 8 < bytes || (size - 8 - bytes) / RUBY_LINE_BYTES < lines)
        return 0;
    for (uint32_t word = 0; word < words; word++) {
        const uint32_t rank = ruby_rank(positions, word), end = (word + 1) * 8;
        line = 0;
        if (rank && rank <= lines)
            memcpy(&line, positions + bytes + (size_t)(rank - 1) * RUBY_LINE_BYTES, sizeof line);
        if (count && out[count - 1].line == line)
            out[count - 1].end = end;
        else if (count < most)
            out[count++] = (struct script_row){end, line};
    }
    return count;
}

uint32_t script_line(const struct script_row *rows, size_t count, uint32_t at)
{
    const size_t row = lower_bound(i, 0, count, rows[i].end <= at);
    return row < count ? rows[row].line : 0;
}
