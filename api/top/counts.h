/*
 * counts.h - the counters of `fathom top`: hot contexts by thread, in bounded memory.
 *
 * Lazy Space Saving (hcct/hcct.h) over paths that begin with the thread, with two metrics: the weight, and how much of it has a certain
 * path. With a period, there are two counters; whenever the newer one is a period old, it replaces the older one, so that the last one to two
 * periods are shown.
 */
#ifndef FATHOM_API_TOP_COUNTS_H
#define FATHOM_API_TOP_COUNTS_H

#include "hcct/cct.h"
#include "infer/live/online.h"
#include "profile/frames.h"

struct counts_options {
    double eps;    /* of the counters; contexts of at least twice this share are shown */
    double period; /* seconds; 0: since the start */
};

struct counts;

/* images is borrowed. NULL: out of memory. */
struct counts *counts_new(const struct counts_options *options, struct image_cache *images);
void counts_free(struct counts *counts);
/* Adds a sample. trie: has its functions. 0 or negative. */
int counts_add(struct counts *counts, const struct trie *trie, const struct online_context *sample,
               struct fathom_error *err);
/* The current contexts, as a new tree of two metrics. threads: each thread is a root. thread: an item, to get only this thread's contexts, or
 * FRAMES_NONE. The root's own values are those of contexts that are too light. NULL: out of memory. */
struct cct *counts_tree(struct counts *counts, bool threads, uint32_t thread);
const struct frames *counts_frames(const struct counts *counts);
/* Removes everything counted so far. 0 or -ENOMEM. */
int counts_clear(struct counts *counts);

#endif
