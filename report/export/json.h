/*
 * json.h - writes JSON: commas, escapes and line breaks in one place.
 *
 * Each member of the outermost object and each element of its arrays is on its own line. Text may be any bytes: invalid UTF-8 becomes
 * U+FFFD. key: of a member; NULL for an array element and the outermost value.
 */
#ifndef FATHOM_REPORT_EXPORT_JSON_H
#define FATHOM_REPORT_EXPORT_JSON_H

#include "report/text/printer.h"

#define JSON_DEPTH 16

struct json {
    struct printer *printer;
    unsigned depth;           /* open objects and arrays; more than JSON_DEPTH make the printer fail */
    char closing[JSON_DEPTH]; /* closing bracket of each */
    bool started[JSON_DEPTH]; /* whether it has any elements */
    bool in_html;             /* it is inside a page's script: escape '<' in texts */
};

void json_object(struct json *json, const char *key);
void json_array(struct json *json, const char *key);
/* Ends the innermost object or array; adds a newline after the outermost. */
void json_end(struct json *json);
void json_text(struct json *json, const char *key, const char *text); /* NULL: null */
void json_number(struct json *json, const char *key, uint64_t number);
void json_flag(struct json *json, const char *key, bool flag);
/* With the given number of decimals; null if not finite. */
void json_real(struct json *json, const char *key, double number, int decimals);
/* Writes an array: `write` writes the element for each i. */
#define JSON_LIST(json, key, count, write)                                                                   \
    do {                                                                                                     \
        json_array(json, key);                                                                               \
        for (size_t i = 0; i < (count); i++)                                                                 \
            write;                                                                                           \
        json_end(json);                                                                                      \
    } while (0)
/* ... of numbers: the expression `number` for each i. */
#define JSON_NUMBERS(json, key, count, number) JSON_LIST(json, key, count, json_number(json, NULL, number))

#endif
