/* Foreign text: what a terminal may get. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

static void becomes(const char *text, const char *wanted)
{
    char got[256];
    snprintf(got, sizeof got, "%s", text);
    text_clean(got);
    cr_expect_str_eq(got, wanted, "%s: %s", wanted, got);
}

Test(text, what_may_be_shown_stays)
{
    becomes("", "");
    becomes("operator<< <int>(~x)", "operator<< <int>(~x)");
    becomes("größe µs 漢字 \xf0\x9f\x98\x80", "größe µs 漢字 \xf0\x9f\x98\x80");
    becomes("\xc2\xa0", "\xc2\xa0"); /* the first code point behind C1 */
}

Test(text, what_a_terminal_obeys_does_not)
{
    becomes("\033[31mred\033[0m", "?[31mred?[0m");
    becomes("a\nb\tc\rd\x7f", "a?b?c?d?");
    becomes("\xc2\x9b"
            "31m \xc2\x85",
            "?31m ?");
    becomes("\xe2\x80\xae"
            "txt.exe\xe2\x80\xac",
            "?txt.exe?");
    becomes("\xe2\x80\xa8\xef\xbb\xbf", "??");
    becomes("\xef\xbf\xbd\xef\xbf\xbe\xef\xbf\xbf\xf0\x9f\xbf\xbf",
            "\xef\xbf\xbd???"); /* U+FFFD to FFFF, 1FFFF */
}

Test(text, bytes_that_are_no_utf8_do_not)
{
    becomes("\x9b[31m", "?[31m");
    becomes("caf\xe9", "caf?");
    becomes("\xc0\x8a", "??");           /* a newline in two bytes */
    becomes("\xe0\x80\x8a", "???");      /* and in three */
    becomes("\xed\xa0\x80", "???");      /* a surrogate */
    becomes("\xf4\x90\x80\x80", "????"); /* beyond Unicode */
    becomes("\xf0\x9f\x98", "???");      /* cut */
    becomes("\xe2\x80", "??");
    becomes("\xff\xfe", "??");
}

Test(text, every_byte_by_itself)
{
    for (int byte = 1; byte < 256; byte++) {
        char text[] = {'a', (char)byte, 'b', 0}, wanted[] = {'a', (char)byte, 'b', 0};
        if (byte < 0x20 || byte >= 0x7f)
            wanted[1] = '?';
        text_clean(text);
        cr_expect_str_eq(text, wanted);
    }
}

Test(text, words)
{
    static const char *const words[] = {"a", "_Z4hotEj", "Caf\xc3\xa9", "!", "~"}, *const others[] = {
                                                                                       "",
                                                                                       " ",
                                                                                       "a b",
                                                                                       "a ",
                                                                                       "\ta",
                                                                                       "a\n",
                                                                                       "\x1b[2Ja",
                                                                                       "a\x7f",
                                                                                       "\xc2\x9b"
                                                                                       "2J",
                                                                                       "\xe2\x80\xae"
                                                                                       "b",
                                                                                       "a\xff",
                                                                                       "\xc3"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        cr_expect(text_is_word(words[i]), "%zu", i);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        cr_expect(!text_is_word(others[i]), "%zu", i);
}

Test(text, words_are_quoted_as_a_shell_needs_it)
{
    static const char *const words[][2] = {{"ls", "ls"},
                                           {"-l/a=b,c:%@+", "-l/a=b,c:%@+"},
                                           {"", "''"},
                                           {"a b", "'a b'"},
                                           {"$(x)", "'$(x)'"},
                                           {"it's", "'it'\\''s'"},
                                           {"~", "'~'"},
                                           {"a;b", "'a;b'"},
                                           {"\xc3\xa4", "'\xc3\xa4'"}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        char out[TEXT_QUOTED(16)];
        cr_expect_eq(text_quote(words[i][0], out), strlen(words[i][1]));
        cr_expect_str_eq(out, words[i][1]);
    }
    char out[TEXT_QUOTED(4)];
    cr_expect_eq(text_quote("''''", out), sizeof out - 1, "the longest");
}

Test(text, quoted_words_are_split_again)
{
    static const char *const words[] = {"plain", "", "two words", "it's", "back\\slash", "'", "end"};
    enum { COUNT = sizeof words / sizeof *words };
    char line[256], *split[16], *at = line;
    for (int i = 0; i < COUNT; i++) {
        if (i)
            *at++ = ' ';
        at += text_quote(words[i], at);
    }
    cr_assert_eq(text_words(line, split), COUNT);
    for (int i = 0; i < COUNT; i++)
        cr_expect_str_eq(split[i], words[i]);
    char open[] = "a 'b c", empty[] = "", last[] = "a \\";
    cr_assert_eq(text_words(open, split), 2);
    cr_expect_str_eq(split[1], "b c");
    cr_expect_eq(text_words(empty, split), 0);
    cr_assert_eq(text_words(last, split), 2);
    cr_expect_str_eq(split[1], "\\");
}
