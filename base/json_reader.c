/* json_reader.c - see json_reader.h. */
#include "base/json_reader.h"

#include <stdint.h>
#include <string.h>

void json_reader_start(struct json_reader *r, const char *text, size_t size)
{
    *r = (struct json_reader){.at = text, .end = text + size, .state = JSON_WANTS_VALUE};
}

static enum json_piece fail_json(struct json_reader *r)
{
    r->wrong = true;
    return JSON_WRONG;
}

static void skip_blanks(struct json_reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r'))
        r->at++;
}

static void put_byte(struct json_reader *r, size_t *length, char byte)
{
    if (*length + 1 < sizeof r->text && byte)
        r->text[(*length)++] = byte;
    else
        r->cut = true;
}

/* Writes UTF-8. Surrogates are encoded separately: names that contain them match no other text. */
static void put_code(struct json_reader *r, size_t *length, unsigned code)
{
    if (code < 0x80) {
        put_byte(r, length, (char)code);
    } else if (code < 0x800) {
        put_byte(r, length, (char)(0xc0 | code >> 6));
        put_byte(r, length, (char)(0x80 | (code & 0x3f)));
    } else {
        put_byte(r, length, (char)(0xe0 | code >> 12));
        put_byte(r, length, (char)(0x80 | (code >> 6 & 0x3f)));
        put_byte(r, length, (char)(0x80 | (code & 0x3f)));
    }
}

static int digit_of(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = c ? strchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* Reads what follows a backslash. */
static bool take_escape(struct json_reader *r, size_t *length)
{
    static const char escapes[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    unsigned code = 0;
    if (r->at == r->end)
        return false;
    char c = *r->at++;
    const char *plain = c ? strchr(escapes, c) : NULL;
    if (plain) {
        put_byte(r, length, meant[plain - escapes]);
        return true;
    }
    if (c != 'u' || r->end - r->at < 4)
        return false;
    for (int i = 0; i < 4; i++) {
        int digit = digit_of(*r->at++);
        if (digit < 0)
            return false;
        code = code << 4 | (unsigned)digit;
    }
    put_code(r, length, code);
    return true;
}

/* Reads a text after its opening quote. */
static bool take_text(struct json_reader *r)
{
    size_t length = 0;
    r->cut = false;
    while (r->at < r->end && *r->at != '"') {
        char c = *r->at++;
        if ((unsigned char)c < 0x20 || (c == '\\' && !take_escape(r, &length)))
            return false;
        if (c != '\\')
            put_byte(r, &length, c);
    }
    r->text[length] = 0;
    if (r->at == r->end)
        return false;
    r->at++;
    return true;
}

static enum json_piece take_value(struct json_reader *r)
{
    const char c = *r->at;
    r->state = JSON_WANTS_COMMA;
    if (c == '{' || c == '[') {
        if (r->depth == JSON_READER_DEPTH)
            return fail_json(r);
        r->at++;
        r->closing[r->depth++] = c == '{' ? '}' : ']';
        r->state = JSON_WANTS_FIRST;
        return JSON_OPENS;
    }
    if (c == '"') {
        r->at++;
        return take_text(r) ? JSON_TEXT : fail_json(r);
    }
    const char *start = r->at;
    while (r->at < r->end && *r->at && strchr("+-.0123456789abcdefghijklmnopqrstuvwxyzE", *r->at))
        r->at++;
    return r->at > start ? JSON_OTHER : fail_json(r);
}

static enum json_piece take_key(struct json_reader *r)
{
    if (*r->at != '"')
        return fail_json(r);
    r->at++;
    if (!take_text(r))
        return fail_json(r);
    r->state = JSON_WANTS_COLON;
    return JSON_KEY;
}

enum json_piece json_reader_next(struct json_reader *r)
{
    skip_blanks(r);
    const bool over = r->at >= r->end, inside = r->depth > 0;
    if (r->wrong || (over && (inside || r->state != JSON_WANTS_COMMA)))
        return fail_json(r);
    if (over)
        return JSON_END;
    if (inside && (r->state == JSON_WANTS_COMMA || r->state == JSON_WANTS_FIRST) &&
        *r->at == r->closing[r->depth - 1]) {
        r->at++;
        r->depth--;
        r->state = JSON_WANTS_COMMA;
        return JSON_CLOSES;
    }
    if (r->state == JSON_WANTS_COMMA || r->state == JSON_WANTS_COLON) {
        if (!inside || *r->at != (r->state == JSON_WANTS_COMMA ? ',' : ':'))
            return fail_json(r);
        const bool member = r->state == JSON_WANTS_COMMA;
        r->at++;
        skip_blanks(r);
        if (r->at >= r->end)
            return fail_json(r);
        return member && r->closing[r->depth - 1] == '}' ? take_key(r) : take_value(r);
    }
    return inside && r->closing[r->depth - 1] == '}' ? take_key(r) : take_value(r);
}
