/* shorten.c - see shorten.h. */
#include "report/text/shorten.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char anonymous[] = "(anonymous namespace)";

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Length of a piece of the name at `at` that looks like brackets but is not; 0: none. */
static size_t plain_length(const char *name, size_t at)
{
    static const char *const operators[] = {
        "operator<=>", "operator<<=", "operator>>=", "operator->*", "operator<<", "operator>>",
        "operator<=",  "operator>=",  "operator->",  "operator()",  "operator<",  "operator>"};
    if (begins(name + at, anonymous))
        return sizeof anonymous - 1;
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        if (begins(name + at, operators[i]))
            return strlen(operators[i]);
    }
    return 0;
}

/* Index of the bracket that closes the one at `at`; 0: none. Brackets in between must be balanced. */
static size_t closing(const char *name, size_t at)
{
    size_t round = 0, angle = 0;
    for (size_t i = at; name[i]; i++) {
        size_t plain = plain_length(name, i);
        if (plain > 0) {
            i += plain - 1;
            continue;
        }
        round += name[i] == '(';
        angle += name[i] == '<';
        if ((name[i] == ')' && round == 0) || (name[i] == '>' && angle == 0))
            return 0;
        round -= name[i] == ')';
        angle -= name[i] == '>';
        if (round == 0 && angle == 0)
            return i;
    }
    return 0;
}

/* Replaces the contents of the outermost brackets of this kind by "..". */
static void leave_out(char *name, char open)
{
    size_t to = 0;
    for (size_t from = 0; name[from];) {
        size_t plain = plain_length(name, from);
        size_t end = plain == 0 && name[from] == open ? closing(name, from) : 0;
        if (end > from + 3) {
            name[to++] = open;
            name[to++] = '.';
            name[to++] = '.';
            from = end;
        }
        do
            name[to++] = name[from++];
        while (plain > 1 && plain--);
    }
    name[to] = 0;
}

/* Cuts out the middle, at UTF-8 character boundaries. */
static void cut_middle(char *name, size_t capacity)
{
    size_t length = strlen(name), kept = capacity - 3, head = kept / 2, tail = length - (kept - head);
    while (head > 0 && ((unsigned char)name[head] & 0xc0) == 0x80)
        head--;
    while (tail < length && ((unsigned char)name[tail] & 0xc0) == 0x80)
        tail++;
    memmove(name + head + 3, name + tail, length - tail + 1);
    memcpy(name + head, "...", 3);
}

char *name_shorten(const char *name, size_t capacity)
{
    char *copy = strdup(name);
    capacity = capacity < SHORTEN_LEAST ? SHORTEN_LEAST : capacity;
    if (copy && strlen(copy) > capacity)
        leave_out(copy, '(');
    if (copy && strlen(copy) > capacity)
        leave_out(copy, '<');
    if (copy && strlen(copy) > capacity)
        cut_middle(copy, capacity);
    return copy;
}
