/* hcct_compact.h - see hcct_compact.c. For counters that do not mark nodes, whose nodes are in one block of h->limit. */
#ifndef FATHOM_HCCT_HCCT_COMPACT_H
#define FATHOM_HCCT_HCCT_COMPACT_H

#include "hcct/hcct_data.h"

struct hcct_compactor {
    uint64_t *scratch; /* the copies, before they go to their place; freed by the owner */
    size_t capacity;   /* words */
    struct slab old;   /* while nodes move to a larger block */
};

/* Removes every leaf that is not monitored, and what becomes one, but for those where the stream is; *parent, one of
 * them, may move like all others. If hardly any would go, `raise` is to raise h->unseen; where it cannot (false), h->limit
 * grows, as it does for a deep path where the stream is. -ENOMEM: no node is gone, but h->unseen may be higher. */
int hcct_compact(struct hcct *h, struct hcct_compactor *compactor, bool (*raise)(struct hcct *h),
                 struct cct_node **parent);

#endif
