/* json.c - see json.h. RFC 8259. */
#include "report/json.h"

#include <errno.h>
#include <math.h>

/* Bytes of the UTF-8 sequence that begins here; 0: none does (Unicode 15, table 3-7). */
static size_t sequence(const unsigned char *s)
{
    size_t length = s[0] < 0x80 ? 1 : s[0] >= 0xc2 && s[0] <= 0xdf ? 2 : s[0] >= 0xe0 && s[0] <= 0xef ? 3 : 4;
    if (length == 4 && (s[0] < 0xf0 || s[0] > 0xf4))
        return 0;
    unsigned char low = s[0] == 0xe0 ? 0xa0 : s[0] == 0xf0 ? 0x90 : 0x80;
    unsigned char high = s[0] == 0xed ? 0x9f : s[0] == 0xf4 ? 0x8f : 0xbf;
    for (size_t i = 1; i < length; i++) {
        if (s[i] < low || s[i] > high)
            return 0;
        low = 0x80;
        high = 0xbf;
    }
    return length;
}

static void write_text(struct printer *printer, const char *text)
{
    printer_write(printer, "\"");
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        size_t length = sequence(s);
        if (*s == '"' || *s == '\\')
            printer_write(printer, "\\%c", *s);
        else if (*s < 0x20 || *s == 0x7f)
            printer_write(printer, "\\u%04x", *s);
        else if (length == 0)
            printer_write(printer, "\\ufffd");
        else
            printer_bytes(printer, (const char *)s, length);
        s += length ? length : 1;
    }
    printer_write(printer, "\"");
}

/* What stands before a value. */
static void begin_value(struct json *json, const char *key)
{
    unsigned at = json->depth;
    if (at > 0) {
        bool own_line = at == 1 || (at == 2 && json->closing[1] == ']');
        if (json->started[at - 1])
            printer_write(json->printer, own_line ? ",\n%*s" : ", ", own_line ? (int)at : 0, "");
        json->started[at - 1] = true;
    }
    if (key) {
        write_text(json->printer, key);
        printer_write(json->printer, ": ");
    }
}

static void begin_group(struct json *json, const char *key, char opening, char closing)
{
    begin_value(json, key);
    if (json->depth == JSON_DEPTH) {
        json->printer->failed = EOVERFLOW;
        return;
    }
    printer_write(json->printer, "%c", opening);
    json->closing[json->depth] = closing;
    json->started[json->depth++] = false;
}

void json_object(struct json *json, const char *key)
{
    begin_group(json, key, '{', '}');
}

void json_array(struct json *json, const char *key)
{
    begin_group(json, key, '[', ']');
}

void json_end(struct json *json)
{
    if (json->depth == 0)
        return;
    printer_write(json->printer, "%c%s", json->closing[json->depth - 1], json->depth == 1 ? "\n" : "");
    json->depth--;
}

void json_text(struct json *json, const char *key, const char *text)
{
    begin_value(json, key);
    if (text)
        write_text(json->printer, text);
    else
        printer_write(json->printer, "null");
}

void json_number(struct json *json, const char *key, uint64_t number)
{
    begin_value(json, key);
    printer_write(json->printer, "%llu", (unsigned long long)number);
}

void json_real(struct json *json, const char *key, double number, int decimals)
{
    begin_value(json, key);
    if (isfinite(number))
        printer_write(json->printer, "%.*f", decimals, number);
    else
        printer_write(json->printer, "null");
}
