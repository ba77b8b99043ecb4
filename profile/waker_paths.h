/*
 * waker_paths.h - the paths of who ended waits, behind those of the waits: a label ("[woken by]"), the waker's innermost function, its caller and so on, so that both paths meet
 * where one woke the other (as the off-wake graphs of B. Gregg, "Linux Wakeup and Off-Wake Profiling", do); behind these, perhaps, who had woken the waker last.
 */
#ifndef FATHOM_PROFILE_WAKER_PATHS_H
#define FATHOM_PROFILE_WAKER_PATHS_H

#include <stddef.h>
#include <stdint.h>

#include "perfdata/sample.h"

#define WAKERS_MOST 16 /* one after the other */

struct waker_paths;

/* depth: how many wakers one after the other, from 1 to WAKERS_MOST; unseen: item of the label for those that were not seen. NULL: out of memory. */
struct waker_paths *waker_paths_new(uint32_t depth, uint32_t unseen);
void waker_paths_free(struct waker_paths *paths); /* NULL is allowed */
/* A sample of who ended a wait: its path, with the label last, and how probable that is; 1: proved. 0 or -ENOMEM. */
int waker_paths_keep(struct waker_paths *paths, const struct sample *sample, double probability,
                     const uint32_t *items, size_t count);
/* How probable it is that what waker_paths_join() adds is right. 0 or -ENOMEM. */
int waker_paths_probability(struct waker_paths *paths, const struct sample *wait, double *out);
/* A wait's path, which goes on with its waker's, as far as that was kept: *out is valid until the next call. 0 or -ENOMEM. */
int waker_paths_join(struct waker_paths *paths, const struct sample *wait, const uint32_t *items,
                     size_t count, const uint32_t **out, size_t *out_count);

#endif
