/*
 * statement.h - statements of SQL and data as growing texts, and rows of answers of ClickHouse. Private to store/.
 *
 * Values go into statements as hexadecimal digits alone, and into data behind their length: no name is ever SQL. RowBinary: numbers are
 * little-endian, texts and arrays follow their number of bytes or items in LEB128 (ClickHouse's documentation, "Formats").
 */
#ifndef FATHOM_STORE_STATEMENT_H
#define FATHOM_STORE_STATEMENT_H

#include <stdio.h>

#include "base/arena.h"
#include "base/bytes.h"

/* A text being written; its stream remembers failures, and writes into this very struct. */
struct statement {
    FILE *out; /* NULL: out of memory */
    char *text;
    size_t size;
};

static inline void statement_begin(struct statement *s)
{
    *s = (struct statement){0};
    s->out = open_memstream(&s->text, &s->size);
}

/* Ends writing: whether all of it is there. The text is the caller's, to be freed. */
bool statement_end(struct statement *statement);

/* "unhex('6162')" */
void put_value(FILE *out, const char *text);
void put_binary_text(FILE *out, const char *text);
void put_binary(FILE *out, uint64_t value, unsigned bytes);
void put_binary_size(FILE *out, uint64_t value);

/* A text of an answer, copied into the arena. NULL: it ends before, or out of memory. */
const char *take_text(struct bytes *bytes, struct arena *arena);

#endif
