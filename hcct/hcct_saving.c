/* hcct_saving.c - see hcct_saving.h. */
#include "hcct/hcct_saving.h"

#include <stdlib.h>

void saving_collect(struct hcct *h, struct cct_node **nodes)
{
    struct cct_node *root = h->tree.root;
    h->counters = 0;
    for (struct cct_node *node = root; node; node = cct_next(root, node))
        if (node->links & NODE_MONITORED)
            nodes[h->counters++] = node;
    if (!h->counters)
        return;
    qsort(nodes, h->counters, sizeof(*nodes), cct_heavier_first);
    if (h->counters > h->limit && h->unseen < nodes[h->limit]->self[0])
        h->unseen = nodes[h->limit]->self[0];
    while (h->counters > h->limit)
        hcct_forget(h, nodes[--h->counters]);
}
