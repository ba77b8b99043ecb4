/*
 * json_reader.h - reads JSON (RFC 8259) piece by piece. The text may be any bytes: invalid JSON ends it.
 * Numbers are not validated, and literals only as far as needed to find their end.
 */
#ifndef FATHOM_BASE_JSON_READER_H
#define FATHOM_BASE_JSON_READER_H

#include <stdbool.h>
#include <stddef.h>

#define JSON_READER_DEPTH 64  /* maximum nesting of objects and arrays */
#define JSON_READER_TEXT  256 /* bytes of a text with its NUL: longer ones are cut, and marked so */

enum json_piece {
    JSON_END,   /* the end: one complete value was read */
    JSON_WRONG, /* invalid JSON, or nested too deeply; permanent */
    JSON_OPENS, /* an object or array */
    JSON_CLOSES,
    JSON_KEY, /* the key of the value that follows, in `text` */
    JSON_TEXT,
    JSON_OTHER, /* a number, true, false or null */
};

struct json_reader {
    const char *at, *end; /* borrowed */
    unsigned depth;       /* open objects and arrays, after the last piece */
    char text[JSON_READER_TEXT];
    bool cut; /* `text` is cut, or contains a NUL */
    /* Private to the reader: */
    char closing[JSON_READER_DEPTH];
    enum { JSON_WANTS_VALUE, JSON_WANTS_FIRST, JSON_WANTS_COLON, JSON_WANTS_COMMA } state;
    bool wrong;
};

void json_reader_start(struct json_reader *reader, const char *text, size_t size);
enum json_piece json_reader_next(struct json_reader *reader);

#endif
