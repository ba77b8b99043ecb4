/* report_rows.c - see report_rows.h. */
#include "cli/report_rows.h"

#include <stdlib.h>

void report_options_clear(struct report_options *options)
{
    free(options->pids.pids);
    free(options->tids.pids);
}
