/*
 * statement.h - SQL statements and data as growing texts, and rows of ClickHouse's answers. Private to
 * store/. Values are written into statements as hexadecimal digits, and into data after their length, so
 * names are never parsed as SQL. RowBinary: numbers are little-endian; texts and arrays follow their number
 * of bytes or items in LEB128 (ClickHouse's documentation, "Formats").
 */
#ifndef FATHOM_STORE_STATEMENT_H
#define FATHOM_STORE_STATEMENT_H

#include <stdio.h>

#include "base/arena.h"
#include "base/bytes.h"

/* A text being written; its stream records failures and writes into this struct, which must not move. */
struct statement {
    FILE *out; /* NULL: out of memory */
    char *text;
    size_t size;
};

/* Begins writing; NULL: out of memory, which statement_end() reports. */
static inline FILE *statement_begin(struct statement *s)
{
    *s = (struct statement){0};
    s->out = open_memstream(&s->text, &s->size);
    return s->out;
}

/* Ends writing. Returns whether all of it was written. The caller frees the text. */
bool statement_end(struct statement *statement);

/* "unhex('6162')" */
void put_value(FILE *out, const char *text);
void put_binary_text(FILE *out, const char *text);
void put_binary(FILE *out, uint64_t value, unsigned bytes);
void put_binary_size(FILE *out, uint64_t value);

/* Reads a text from an answer into the arena. NULL: the answer ends before it, or out of memory. */
const char *take_text(struct bytes *bytes, struct arena *arena);

#endif
