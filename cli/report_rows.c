/* report_rows.c - see report_rows.h. */
#include "cli/report_rows.h"

#include <stdlib.h>

bool report_take_inline(struct terminal *terminal, const struct option_row *row, char *text, void *value)
{
    struct report_options *options = value;
    (void)terminal, (void)row, (void)text;
    options->profile.framing.inlined = IMAGE_LINES_ANY;
    return true;
}

bool report_take_no_inline(struct terminal *terminal, const struct option_row *row, char *text, void *value)
{
    struct report_options *options = value;
    (void)terminal, (void)row, (void)text;
    options->profile.framing.inlined = 0;
    return true;
}

void report_options_clear(struct report_options *options)
{
    free(options->pids.pids);
    free(options->tids.pids);
}
