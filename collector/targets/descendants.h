/* descendants.h - who was started by whom, of the processes that run now. */
#ifndef FATHOM_COLLECTOR_TARGETS_DESCENDANTS_H
#define FATHOM_COLLECTOR_TARGETS_DESCENDANTS_H

#include <stddef.h>
#include <sys/types.h>

/* The processes that those in `of` started, and what these started, and so on, parents first; without `except` and what
 * that started (its descendants that are found through it alone). Each once; some may be in `of`. *found is owned by the
 * caller (free). 0 or a negative errno. */
int descendants_find(const pid_t *of, size_t count, pid_t except, pid_t **found, size_t *found_count);

#endif
