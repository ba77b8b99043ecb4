/* hcct_compact.h - see hcct_compact.c. For counters that do not mark nodes, with all nodes in one block of h->limit. */
#ifndef FATHOM_HCCT_HCCT_COMPACT_H
#define FATHOM_HCCT_HCCT_COMPACT_H

#include "hcct/hcct_data.h"

struct hcct_compactor {
    uint64_t *scratch; /* the copies, before they are moved to their places; freed by the owner */
    size_t capacity;   /* words */
    struct slab old;   /* while nodes are moved to a larger block */
};

/* Removes every leaf that is not monitored, and what becomes one, except on the stream's path; *parent, a node of that, may
 * move like all others. If hardly any would be removed, calls `raise` to raise h->unseen; if it cannot (false), or if the
 * stream's path is deep, h->limit grows. -ENOMEM: no node was removed, but h->unseen may be higher. */
int hcct_compact(struct hcct *h, struct hcct_compactor *compactor, bool (*raise)(struct hcct *h),
                 struct cct_node **parent);

#endif
