/* source_lines.h - the listed lines of a function's source: all, or in a long function those near given ones. Private to report/. */
#ifndef FATHOM_REPORT_ANNOTATE_SOURCE_LINES_H
#define FATHOM_REPORT_ANNOTATE_SOURCE_LINES_H

#include "report/annotate/sources.h"

struct line_numbers {
    uint32_t *at; /* malloc'ed; ascending after line_numbers_sort(); may have duplicates */
    size_t count, capacity;
};

/* Ignores numbers that cannot be lines of a file. false: out of memory. */
bool line_numbers_add(struct line_numbers *numbers, uint32_t line);
void line_numbers_sort(struct line_numbers *numbers);
/* Whether there are too many lines from the first number to the last to list all. Sorted numbers only. */
bool line_numbers_are_far(const struct line_numbers *numbers);

struct listed_line {
    const char *text; /* without its line break; not ended by a NUL */
    size_t length;
    uint32_t number;
};

struct listed_source {
    struct listed_line
        *lines; /* malloc'ed; their texts are borrowed from `sources`. None: the file cannot be read */
    size_t count, capacity;
};

/* Adds the lines of a file from the first (sorted) number to the last, or if they are far, those near each. false: out of memory. */
bool listed_source_add(struct listed_source *to, struct sources *sources, const char *file,
                       const struct line_numbers *numbers);

#endif
