/* filtering.c - see filtering.h. */
#include "cli/filtering.h"

#include <stdlib.h>

void filtering_clear(struct report_options *options)
{
    free(options->pids.pids);
    free(options->tids.pids);
}
