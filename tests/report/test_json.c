/* JSON: exact text, whatever bytes come in. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/export/json.h"

static char *text;
static size_t size;

static struct json begin(struct printer *printer)
{
    *printer = (struct printer){.out = open_memstream(&text, &size)};
    cr_assert(printer->out);
    return (struct json){.printer = printer};
}

static void expect(struct printer *printer, const char *wanted)
{
    cr_expect_eq(printer_finish(printer, NULL), 0);
    fclose(printer->out);
    cr_expect(strcmp(text, wanted) == 0, "wanted:\n%s\ngot:\n%s", wanted, text);
    free(text);
}

Test(json, members_and_elements_stand_on_lines_of_their_own)
{
    struct printer printer;
    struct json json = begin(&printer);
    json_object(&json, NULL);
    json_number(&json, "n", 18446744073709551615u);
    json_object(&json, "o");
    json_real(&json, "half", 0.5, 2);
    json_real(&json, "no", NAN, 2);
    json_end(&json);
    json_array(&json, "empty");
    json_end(&json);
    json_array(&json, "a");
    for (int i = 0; i < 2; i++) {
        json_array(&json, NULL);
        json_text(&json, NULL, "x");
        json_text(&json, NULL, NULL);
        json_end(&json);
    }
    json_end(&json);
    json_end(&json);
    expect(&printer, "{\"n\": 18446744073709551615,\n"
                     " \"o\": {\"half\": 0.50, \"no\": null},\n"
                     " \"empty\": [],\n"
                     " \"a\": [[\"x\", null],\n"
                     "  [\"x\", null]]}\n");
}

Test(json, text_is_escaped_and_always_utf8)
{
    static const struct {
        const char *bytes, *wanted;
    } cases[] = {
        {"a\"b\\c\n\x1f\x7f", "\"a\\\"b\\\\c\\u000a\\u001f\\u007f\"\n"},
        {"\xc3\xa4\xe2\x82\xac\xf0\x9f\x99\x82", "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x99\x82\"\n"},
        {"\xff|\x80|\xc3", "\"\\ufffd|\\ufffd|\\ufffd\"\n"},
        {"\xc0\xaf", "\"\\ufffd\\ufffd\"\n"},                       /* overlong */
        {"\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"\n"},            /* a surrogate */
        {"\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"\n"}, /* past U+10FFFF */
        {"\xe2\x82", "\"\\ufffd\\ufffd\"\n"},                       /* cut */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct printer printer;
        struct json json = begin(&printer);
        json_text(&json, NULL, cases[i].bytes);
        printer_write(&printer, "\n");
        expect(&printer, cases[i].wanted);
    }
}

Test(json, nesting_too_deep_is_an_error)
{
    struct printer printer;
    struct json json = begin(&printer);
    for (int i = 0; i < JSON_DEPTH; i++)
        json_array(&json, NULL);
    cr_expect_eq(printer.failed, 0);
    json_array(&json, NULL);
    cr_expect_neq(printer.failed, 0);
    fclose(printer.out);
    free(text);
}
