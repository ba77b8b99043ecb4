/* weight.c - see weight.h. */
#include "report/text/weight.h"

#include <stdio.h>
#include <string.h>

enum {
    EXACT = 10000000, /* smaller counts are printed exactly */
    SCALED_WIDTH = 7, /* "34.9 ms" */
};

struct scale {
    double size; /* in the unit of the weight */
    const char *name;
};

/* Three digits in the largest scale that does not exceed the weight. */
static void format_scaled(char *text, uint64_t weight, const struct scale *scales, unsigned count)
{
    double value = (double)weight;
    unsigned i = 0;
    /* A value that rounds to 1000 in one scale is printed as 1.00 in the next. */
    while (i + 1 < count && value < 0.9995 * scales[i].size)
        i++;
    double scaled = value / scales[i].size;
    int decimals = scaled < 9.995 ? 2 : scaled < 99.95 ? 1 : 0;
    snprintf(text, WEIGHT_SIZE, "%.*f %s", decimals, scaled, scales[i].name);
}

const char *weight_format(char text[WEIGHT_SIZE], uint64_t weight, const char *unit)
{
    static const struct scale times[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
    static const struct scale counts[] = {{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}};
    if (strcmp(unit, WEIGHT_NS) != 0 && weight >= EXACT)
        format_scaled(text, weight, counts, sizeof counts / sizeof *counts);
    else if (strcmp(unit, WEIGHT_NS) == 0 && weight >= 1000)
        format_scaled(text, weight, times, sizeof times / sizeof *times);
    else
        snprintf(text, WEIGHT_SIZE, "%llu%s", (unsigned long long)weight,
                 strcmp(unit, WEIGHT_NS) == 0 ? " ns" : "");
    return text;
}

const char *weight_title(const char *unit)
{
    return strcmp(unit, WEIGHT_NS) == 0 ? "time" : unit;
}

int weight_width(uint64_t largest, const char *unit)
{
    char text[WEIGHT_SIZE];
    int width = (int)strlen(weight_format(text, largest, unit));
    int title = (int)strnlen(weight_title(unit), 64);
    if (width < SCALED_WIDTH && strchr(text, ' '))
        width = SCALED_WIDTH; /* as smaller weights may have longer units */
    return width > title ? width : title;
}
