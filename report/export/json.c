/* json.c - see json.h. RFC 8259. */
#include "report/export/json.h"

#include <errno.h>
#include <math.h>

#include "base/text.h"

static void write_text(struct printer *printer, const char *text, bool in_html)
{
    printer_write(printer, "\"");
    while (*text) {
        uint32_t code = 0xfffd;
        size_t length = text_character(text, &code);
        if (*text == '"' || *text == '\\')
            printer_write(printer, "\\%c", *text);
        else if (length == 0 || !text_shown(code) || (in_html && *text == '<')) /* all are at most U+FFFF */
            printer_write(printer, "\\u%04x", code);
        else
            printer_bytes(printer, text, length);
        text += length ? length : 1;
    }
    printer_write(printer, "\"");
}

/* Writes the separator, the line break and the key before a value. */
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
        write_text(json->printer, key, json->in_html);
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
        write_text(json->printer, text, json->in_html);
    else
        printer_write(json->printer, "null");
}

void json_number(struct json *json, const char *key, uint64_t number)
{
    begin_value(json, key);
    printer_write(json->printer, "%llu", (unsigned long long)number);
}

void json_flag(struct json *json, const char *key, bool flag)
{
    begin_value(json, key);
    printer_write(json->printer, "%s", flag ? "true" : "false");
}

void json_real(struct json *json, const char *key, double number, int decimals)
{
    begin_value(json, key);
    if (isfinite(number))
        printer_write(json->printer, "%.*f", decimals, number);
    else
        printer_write(json->printer, "null");
}
