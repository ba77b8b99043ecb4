/* options.c - see options.h. */
#include "cli/options.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/exit.h"

bool option_number(struct terminal *t, const char *option, const char *text, uint64_t low, uint64_t high,
                   uint64_t *out)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno || end == text || *end || text[0] == '-' || value < low || value > high) {
        terminal_wrong(t, "%s: '%s' is not a whole number from %llu to %llu", option, text,
                       (unsigned long long)low, (unsigned long long)high);
        return false;
    }
    *out = value;
    return true;
}

/* The number without an exponent: 0.000000001, not 1e-09. */
static const char *plain_number(double value, char text[static 32])
{
    int length = snprintf(text, 32, "%.9f", value);
    while (length > 0 && text[length - 1] == '0')
        text[--length] = 0;
    if (length > 0 && text[length - 1] == '.')
        text[length - 1] = 0;
    return text;
}

bool option_fraction(struct terminal *t, const char *option, const char *text, double low, double high,
                     double *out)
{
    char *end;
    errno = 0;
    double value = strtod(text, &end);
    char lowest[32], highest[32];
    if (errno || end == text || *end || !(value >= low && value <= high)) {
        terminal_wrong(t, "%s: '%s' is not a number from %s to %s", option, text, plain_number(low, lowest),
                       plain_number(high, highest));
        return false;
    }
    *out = value;
    return true;
}

bool option_pids(struct terminal *t, const char *option, const char *text, pid_t **pids, size_t *count)
{
    char *copy = strdup(text), *rest = copy;
    bool good = copy != NULL;
    size_t before = *count;
    for (char *part; good && (part = strsep(&rest, ", \t\n")) != NULL;) {
        uint64_t number;
        if (!*part) /* two separators */
            continue;
        good = option_number(t, option, part, 1, INT_MAX, &number);
        pid_t *more = good ? realloc(*pids, (*count + 1) * sizeof **pids) : NULL;
        if (!more) {
            good = false;
            break;
        }
        *pids = more;
        (*pids)[(*count)++] = (pid_t)number;
    }
    free(copy);
    if (good && *count == before) {
        terminal_wrong(t, "%s: no number is given", option);
        good = false;
    }
    return good;
}

int option_usage(struct terminal *t, const struct command *command, const char *fmt, ...)
{
    if (fmt) {
        char text[512];
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(text, sizeof text, fmt, ap);
        va_end(ap);
        terminal_wrong(t, "%s", text);
    }
    fprintf(stderr, "Try 'fathom %s --help'.\n", command->name);
    return EXIT_USAGE;
}

int option_help(const struct command *command)
{
    fputs(command->usage, stdout);
    return EXIT_OK;
}
