/* source_lines.h - which lines of a function's source are listed: all of them, or of a long one those near given ones. Private to report/. */
#ifndef FATHOM_REPORT_ANNOTATE_SOURCE_LINES_H
#define FATHOM_REPORT_ANNOTATE_SOURCE_LINES_H

#include "report/annotate/sources.h"

struct line_numbers {
    uint32_t *at; /* malloc'ed; after line_numbers_sort() by size, some more than once */
    size_t count, capacity;
};

/* What can be no line of a file is left out. false: out of memory. */
bool line_numbers_add(struct line_numbers *numbers, uint32_t line);
void line_numbers_sort(struct line_numbers *numbers);
/* Whether they are too far from each other for all lines from the first to the last. Sorted. */
bool line_numbers_are_far(const struct line_numbers *numbers);

struct listed_line {
    const char *text; /* without its line break; not ended by a NUL */
    size_t length;
    uint32_t number;
};

struct listed_source {
    struct listed_line
        *lines; /* malloc'ed; their texts are those of `sources`. None: the file cannot be read */
    size_t count, capacity;
};

/* Adds the lines of a file from the first number to the last, or those near each if they are far; sorted. false: out of memory. */
bool listed_source_add(struct listed_source *to, struct sources *sources, const char *file,
                       const struct line_numbers *numbers);

#endif
