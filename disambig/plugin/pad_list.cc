/* pad_list.cc - reads a list of pads (docs/pads.md) and finds lines in it. */
#include "disambig/plugin/pad_list.h"

#include <diagnostic-core.h>
#include <intl.h>

const char *pad_key_source(const char *key)
{
    /* A symbol's name has at least one character. */
    const char *at = key[0] ? strchr(key + 1, '@') : NULL;
    return at ? at + 1 : NULL;
}

/* The bytes that TEXT says in decimal, or -1 if it is no pad. */
static int pad_bytes(const char *text)
{
    int bytes = 0;
    if (!*text)
        return -1;
    for (; *text; text++) {
        if (*text < '0' || *text > '9' || bytes > PAD_MOST / 10)
            return -1;
        bytes = bytes * 10 + (*text - '0');
    }
    return bytes <= PAD_MOST && bytes % 16 == 0 ? bytes : -1;
}

/* Adds one line, without its newline. Keeps TEXT's memory if it does. */
static bool pad_list_add(pad_list *list, char *text, unsigned number)
{
    char *tab = strchr(text, '\t');
    if (!tab || tab == text) {
        error("%s:%u: not a symbol, a tab and the bytes of its pad", list->file, number);
        return false;
    }
    *tab = '\0';
    pad_line line = {pad_bytes(tab + 1), number, false};
    if (line.bytes < 0) {
        error("%s:%u: the pad of %qs is %qs, not a multiple of 16 from 0 to %d", list->file, number, text,
              tab + 1, PAD_MOST);
        return false;
    }
    bool again;
    pad_line &kept = list->lines.get_or_insert(text, &again);
    if (again) {
        error("%s:%u: %qs is on line %u already", list->file, number, text, kept.line);
        return false;
    }
    kept = line;
    list->keys.safe_push(text);
    return true;
}

bool pad_list_read(pad_list *list)
{
    FILE *in = fopen(list->file, "r");
    if (!in) {
        error("cannot open the list of pads %qs: %m", list->file);
        return false;
    }
    bool good = true;
    unsigned number = 0;
    for (;;) {
        char *text = NULL;
        size_t room = 0;
        ssize_t length = getline(&text, &room, in);
        if (length <= 0) {
            free(text);
            break;
        }
        number++;
        if (text[length - 1] == '\n')
            text[--length] = '\0';
        if (text[0] == '#' || length == 0) {
            free(text);
        } else if (strlen(text) != (size_t)length) {
            error("%s:%u: the line has a null byte", list->file, number);
            good = false;
        } else if (!pad_list_add(list, text, number))
            good = false;
    }
    if (ferror(in)) {
        error("cannot read the list of pads %qs: %m", list->file);
        good = false;
    }
    fclose(in);
    return good;
}

pad_line *pad_list_find(pad_list *list, const char *name, const char *source)
{
    char *key = concat(name, "@", source, NULL);
    pad_line *line = list->lines.get(key);
    free(key);
    return line ? line : list->lines.get(name);
}
