/* train_steps.c - see train_steps.h. */
#include "cli/train_steps.h"

#include <unistd.h>

#include "perfdata/format.h"

int train_open_map(const struct train_options *options, struct pathmap **old, struct fathom_error *err)
{
    *old = NULL;
    if (!options->append || access(options->output, F_OK) != 0)
        return 0;
    return pathmap_open(options->output, old, err);
}

int train_order(struct order *order, const void *records, size_t size, struct fathom_error *err)
{
    const char *at = records, *end = at + size;
    int rc = 0;
    while (rc == 0 && at < end) {
        const struct perf_event_header *header = (const void *)at;
        rc = header->type == USER_FINISHED_ROUND ? order_round(order, err)
                                                 : order_push(order, at, header->size, err);
        at += header->size;
    }
    return rc;
}
