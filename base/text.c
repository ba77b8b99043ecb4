/* text.c - see text.h. */
#include "base/text.h"

#include <string.h>

size_t text_character(const char *text, uint32_t *code)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t length = s[0] < 0x80 ? 1 : s[0] >= 0xc2 && s[0] <= 0xdf ? 2 : s[0] >= 0xe0 && s[0] <= 0xef ? 3 : 4;
    if (length == 4 && (s[0] < 0xf0 || s[0] > 0xf4))
        return 0;
    unsigned char low = s[0] == 0xe0 ? 0xa0 : s[0] == 0xf0 ? 0x90 : 0x80;
    unsigned char high = s[0] == 0xed ? 0x9f : s[0] == 0xf4 ? 0x8f : 0xbf;
    uint32_t value = length == 1 ? s[0] : s[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if (s[i] < low || s[i] > high)
            return 0;
        value = value << 6 | (s[i] & 0x3f);
        low = 0x80;
        high = 0xbf;
    }
    *code = value;
    return length;
}

bool text_shown(uint32_t code)
{
    switch (code) {
    case 0x00 ... 0x1f:
    case 0x7f ... 0x9f:
    case 0x061c:            /* Arabic letter mark */
    case 0x200b ... 0x200f: /* of no width; left-to-right and right-to-left marks */
    case 0x2028 ... 0x202e: /* line and paragraph separators; embeddings and overrides */
    case 0x2060 ... 0x206f: /* of no width; isolates */
    case 0xfeff:            /* byte order mark */
    case 0xfff9 ... 0xfffb: /* interlinear annotations */
    case 0xfdd0 ... 0xfdef: /* no characters, which XML forbids in part (Unicode 15, section 23.7) */
        return false;
    default:
        return (code & 0xfffe) != 0xfffe; /* likewise */
    }
}

bool text_is_word(const char *text)
{
    size_t length = *text ? 1 : 0;
    for (uint32_t code; *text && length; text += length) {
        length = text_character(text, &code);
        length = length && text_shown(code) && code != ' ' ? length : 0;
    }
    return length;
}

void text_clean(char *text)
{
    char *to = text;
    for (const char *from = text; *from;) {
        uint32_t code;
        size_t length = text_character(from, &code);
        if (length && text_shown(code)) {
            memmove(to, from, length);
            to += length;
        } else {
            *to++ = '?';
        }
        from += length ? length : 1;
    }
    *to = 0;
}

const char *text_name(const char *name)
{
    return name[0] ? name : "''";
}

size_t text_quote(const char *word, char *out)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-";
    char *to = out;
    if (word[0] && !word[strspn(word, plain)])
        return (size_t)(stpcpy(out, word) - out);
    *to++ = '\'';
    for (; *word; word++)
        if (*word == '\'')
            to = stpcpy(to, "'\\''");
        else
            *to++ = *word;
    return (size_t)(stpcpy(to, "'") - out);
}

size_t text_words(char *line, char **words)
{
    size_t count = 0;
    char *to = line;
    for (bool more = *line; more; line++) {
        words[count++] = to;
        for (bool quoted = false; *line && (quoted || *line != ' '); line++)
            if (*line == '\'')
                quoted = !quoted;
            else if (*line == '\\' && !quoted && line[1])
                *to++ = *++line;
            else
                *to++ = *line;
        more = *line;
        *to++ = 0; /* where *line was read, or before */
    }
    return count;
}
