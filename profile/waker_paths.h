/*
 * waker_paths.h - the paths of who ended waits, after those of the waits: a label ("[woken by]"), the waker's innermost
 * function, its caller and so on, so that both paths meet where one woke the other (as in the off-wake graphs of B. Gregg,
 * "Linux Wakeup and Off-Wake Profiling"); then optionally who had last woken the waker.
 */
#ifndef FATHOM_PROFILE_WAKER_PATHS_H
#define FATHOM_PROFILE_WAKER_PATHS_H

#include <stddef.h>
#include <stdint.h>

#include "perfdata/sample.h"

#define WAKERS_MOST 16 /* in one sequence */

struct waker_paths;

/* depth: number of wakers in a sequence, 1 to WAKERS_MOST; unseen: item of the label for those without a sample. NULL: out of
 * memory. */
struct waker_paths *waker_paths_new(uint32_t depth, uint32_t unseen);
void waker_paths_free(struct waker_paths *paths); /* NULL is allowed */
/* Stores a sample of who ended a wait: its path, with the label last, and its probability; 1: proved. 0 or -ENOMEM. */
int waker_paths_keep(struct waker_paths *paths, const struct sample *sample, double probability,
                     const uint32_t *items, size_t count);
/* The probability that what waker_paths_join() adds is right. 0 or -ENOMEM. */
int waker_paths_probability(struct waker_paths *paths, const struct sample *wait, double *out);
/* Joins a wait's path with its waker's, as far as that is stored: *out is valid until the next call. 0 or -ENOMEM. */
int waker_paths_join(struct waker_paths *paths, const struct sample *wait, const uint32_t *items,
                     size_t count, const uint32_t **out, size_t *out_count);

#endif
