/* source_lines.c - see source_lines.h. */
#include "report/annotate/source_lines.h"

#include "base/sort.h"
#include "base/vec.h"

/* Limits that keep a page small. */
enum {
    LINES_MOST = 400, /* of a function's source; if it has more, only those near given ones are listed */
    LINES_AROUND = 2,
};

bool line_numbers_add(struct line_numbers *n, uint32_t line)
{
    return !line || line > SOURCE_BYTES_MOST || vec_push(n->at, n->count, n->capacity, line);
}

void line_numbers_sort(struct line_numbers *n)
{
    sort_numbers(n->at, n->count);
}

bool line_numbers_are_far(const struct line_numbers *n)
{
    return n->count && n->at[n->count - 1] - n->at[0] >= LINES_MOST;
}

static bool add_line(struct listed_source *to, struct sources *sources, const char *file, uint32_t number)
{
    struct listed_line line = {.number = number};
    line.text = sources_line(sources, file, number, &line.length);
    return !line.text || vec_push(to->lines, to->count, to->capacity, line);
}

bool listed_source_add(struct listed_source *to, struct sources *sources, const char *file,
                       const struct line_numbers *numbers)
{
    const bool whole = !line_numbers_are_far(numbers);
    uint32_t next = 1;
    for (size_t i = 0; i < numbers->count; i++) {
        const uint32_t line = numbers->at[i], near = line > LINES_AROUND ? line - LINES_AROUND : 1;
        const uint32_t begin = near > next && !(whole && i > 0) ? near : next;
        for (next = begin; next <= line + LINES_AROUND; next++)
            if (!add_line(to, sources, file, next))
                return false;
    }
    return true;
}
