/* d_name.c - see d_name.h. */
#include "image/d_name.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MOST  (1u << 18) /* bytes: some ms of work */
#define NAME_MOST  4096u
#define CHAR_COSTS 16u /* at most, one byte of the name makes so many of the text: 'y' is "immutable()" */

/* How far back the back reference at this place leads; 0: it is no back reference. */
static size_t reference_at(const char *at)
{
    size_t distance = 0;
    for (at++; *at >= 'A' && *at <= 'Z' && distance < NAME_MOST; at++)
        distance = 26 * distance + (size_t)(*at - 'A');
    return *at >= 'a' && *at <= 'z' ? 26 * distance + (size_t)(*at - 'a') : 0;
}

/* Whether the demangled text is short enough. A reference to an identifier stands for that identifier; one to a
 * type, for at most everything from there on. */
static bool is_bounded(const char *mangled, size_t length)
{
    uint64_t *text = malloc((length + 1) * sizeof *text); /* upper bound for the name up to a byte */
    bool bounded = text;
    for (size_t i = 0; bounded && i < length; i++) {
        size_t back = mangled[i] == 'Q' ? reference_at(mangled + i) : 0;
        uint64_t own = CHAR_COSTS;
        text[i] = i ? text[i] : 0;
        if (back && back <= i)
            own = isdigit((unsigned char)mangled[i - back]) ? strtoul(mangled + i - back, NULL, 10)
                                                            : text[i] - text[i - back];
        text[i + 1] = text[i] + own;
        bounded = own <= TEXT_MOST && text[i + 1] <= TEXT_MOST;
    }
    free(text);
    return bounded;
}

char *d_name_demangle(const char *mangled)
{
    size_t length = strlen(mangled);
    bool is = strncmp(mangled, "_D", 2) == 0 && length < NAME_MOST;
    return is && is_bounded(mangled, length) ? dlang_demangle(mangled, DMGL_NO_OPTS) : NULL;
}
