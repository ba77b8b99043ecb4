/* hcct_saving.h - what the two kinds of Space Saving share: hcct_lss.c and peers/bss.c. */
#ifndef FATHOM_HCCT_HCCT_SAVING_H
#define FATHOM_HCCT_HCCT_SAVING_H

#include "hcct/hcct_data.h"

/* Gives a node a counter that begins at `unseen`. */
static inline void saving_monitor(struct hcct *h, struct cct_node *node)
{
    node->links |= NODE_MONITORED;
    node->self[0] = *cct_error_of(node) = h->unseen;
}

/* `leave` of the feeder. */
static inline void saving_leave(struct hcct *h, struct cct_node *parent, struct cct_node *node)
{
    (void)parent;
    node->links &= ~NODE_HELD;
    if (!node->first_child && !(node->links & NODE_MONITORED))
        hcct_prune(h, node);
}

#endif
