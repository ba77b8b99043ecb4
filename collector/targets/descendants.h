/* descendants.h - finds the descendants of running processes. */
#ifndef FATHOM_COLLECTOR_TARGETS_DESCENDANTS_H
#define FATHOM_COLLECTOR_TARGETS_DESCENDANTS_H

#include <stddef.h>
#include <sys/types.h>

/* The descendants of the processes in `of`, parents first; without `except` and the descendants found only
 * through it. Each once; some may be in `of`. The caller frees *found. 0 or a negative errno. */
int descendants_find(const pid_t *of, size_t count, pid_t except, pid_t **found, size_t *found_count);

#endif
