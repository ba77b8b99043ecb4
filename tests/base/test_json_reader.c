/* JSON piece by piece: what is whole, and what is none. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

#include "base/json_reader.h"

/* The pieces of a text, each as a letter, with keys and texts behind theirs. */
static const char *pieces_of(const char *text, size_t size)
{
    static char out[4096];
    static const char letters[] = {
        [JSON_END] = '.', [JSON_WRONG] = '!', [JSON_OPENS] = '(', [JSON_CLOSES] = ')',
        [JSON_KEY] = 'k', [JSON_TEXT] = 't',  [JSON_OTHER] = 'o'};
    struct json_reader r;
    size_t at = 0;
    json_reader_start(&r, text, size);
    for (;;) {
        enum json_piece piece = json_reader_next(&r);
        at += (size_t)snprintf(out + at, sizeof out - at, "%c", letters[piece]);
        if (piece == JSON_KEY || piece == JSON_TEXT)
            at += (size_t)snprintf(out + at, sizeof out - at, "%s%s ", r.text, r.cut ? "..." : "");
        if (piece == JSON_END || piece == JSON_WRONG || at > sizeof out - 300)
            return out;
    }
}

Test(json_reader, what_is_whole)
{
    static const char *const cases[][2] = {
        {"{}", "()."},
        {" [ ] ", "()."},
        {"\"a\"", "ta ."},
        {"-1.5e+3", "o."},
        {"{\"a\": 1, \"b\": [true, \"c\", {\"d\": null}]}", "(ka okb (otc (kd o)))."},
        {"\"\\\"\\\\\\/\\b\\n\\u0041\\u00e9\\u20ac\"", "t\"\\/\b\nA\xc3\xa9\xe2\x82\xac ."},
        {"\"a\\u0000b\"", "tab... ."},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_str_eq(pieces_of(cases[i][0], strlen(cases[i][0])), cases[i][1], "%s", cases[i][0]);
}

Test(json_reader, what_is_no_json)
{
    static const char *const cases[] = {
        "",        " ",        "{",     "}",     "[1",         "[1,]",      "[,1]",        "[1 2]",
        "{\"a\"}", "{\"a\":}", "{1:2}", "{a:1}", "\"",         "\"\\",      "\"\\x\"",     "\"\\u12\"",
        "\"\n\"",  "1 2",      "[1]]",  "[1}",   "{\"a\":1,}", "{\"a\" 1}", "\"\\u00g0\"", "[\"a\":1]",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *out = pieces_of(cases[i], strlen(cases[i]));
        cr_expect_eq(out[strlen(out) - 1], '!', "%s: %s", cases[i], out);
    }
}

Test(json_reader, wrong_stays_wrong)
{
    struct json_reader r;
    json_reader_start(&r, "}{}", 3);
    for (int i = 0; i < 4; i++)
        cr_expect_eq(json_reader_next(&r), JSON_WRONG);
}

Test(json_reader, depth_and_texts_are_bounded)
{
    char text[3 * JSON_READER_TEXT];
    memset(text, '[', sizeof text);
    const char *out = pieces_of(text, sizeof text);
    cr_expect_eq(strspn(out, "("), JSON_READER_DEPTH);
    cr_expect_eq(out[JSON_READER_DEPTH], '!');
    memset(text, 'x', sizeof text);
    text[0] = text[sizeof text - 1] = '"';
    struct json_reader r;
    json_reader_start(&r, text, sizeof text);
    cr_expect_eq(json_reader_next(&r), JSON_TEXT);
    cr_expect(r.cut);
    cr_expect_eq(strlen(r.text), JSON_READER_TEXT - 1);
    cr_expect_eq(json_reader_next(&r), JSON_END);
}
