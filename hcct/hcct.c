/* hcct.c - adding and evicting; see hcct.h. Merging is in hcct_merge.c, queries in hcct_query.c. */
#include "hcct/hcct.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/vec.h"
#include "hcct/hcct_data.h"

struct hcct *hcct_new(double eps, uint32_t metrics)
{
    if (!(eps > 0 && eps < 1))
        return NULL;
    struct hcct *h = calloc(1, sizeof *h + metrics * sizeof *h->total);
    if (!h || !tree_init(&h->tree, metrics)) {
        free(h);
        return NULL;
    }
    double limit = ceil(1 / eps);
    h->eps = eps;
    h->limit = limit < (double)HCCT_MOST_COUNTERS ? (size_t)limit : HCCT_MOST_COUNTERS;
    return h;
}

void hcct_free(struct hcct *h)
{
    if (!h)
        return;
    tree_clear(&h->tree);
    free(h->counters);
    free(h);
}

/* Removes a node without a counter and children, and then its ancestors likewise (paper, Figure 4). */
void hcct_prune(struct hcct *h, struct cct_node *node)
{
    while (node != h->tree.root && !node->first_child && !(node->links & NODE_MONITORED)) {
        struct cct_node *parent = node->parent;
        tree_remove(&h->tree, node);
        node = parent;
    }
}

static void sift_down(struct hcct *h, size_t at)
{
    struct counter moved = h->counters[at];
    for (size_t child; (child = 2 * at + 1) < h->count; at = child) {
        if (child + 1 < h->count && h->counters[child + 1].bound < h->counters[child].bound)
            child++;
        if (moved.bound <= h->counters[child].bound)
            break;
        h->counters[at] = h->counters[child];
    }
    h->counters[at] = moved;
}

/* Makes the top of the heap the node with the smallest counter. */
static void find_minimum(struct hcct *h)
{
    if (!h->ordered) {
        for (size_t i = 0; i < h->count; i++)
            h->counters[i].bound = h->counters[i].node->self[0];
        for (size_t i = h->count / 2; i-- > 0;)
            sift_down(h, i);
        h->ordered = true;
    }
    while (h->counters[0].bound < h->counters[0].node->self[0]) {
        h->counters[0].bound = h->counters[0].node->self[0];
        sift_down(h, 0);
    }
}

/* Gives a node a counter that begins at `unseen`. */
static void monitor(struct hcct *h, struct counter *counter, struct cct_node *node, const uint64_t *values)
{
    node->links |= NODE_MONITORED;
    node->self[0] = node->error = h->unseen;
    values_add(node->self, values, h->tree.metrics);
    *counter = (struct counter){node->self[0], node};
}

static int count_new(struct hcct *h, struct cct_node *node, const uint64_t *values)
{
    if (h->count < h->limit) {
        if (!vec_reserve(h->counters, h->count, h->room, 1))
            return -ENOMEM;
        monitor(h, &h->counters[h->count++], node, values);
        return 0;
    }
    find_minimum(h);
    struct cct_node *victim = h->counters[0].node;
    if (h->unseen < victim->self[0])
        h->unseen = victim->self[0];
    hcct_forget(h, victim);
    monitor(h, &h->counters[0], node, values);
    sift_down(h, 0);
    hcct_prune(h, victim); /* the new path stays: its end is monitored */
    return 0;
}

int hcct_add(struct hcct *h, const uint32_t *items, size_t count, const uint64_t *values)
{
    struct cct_node *node = h->tree.root, *deepest = node;
    if (values[0])
        node = tree_path(&h->tree, items, count, &deepest);
    if (node && node->links & NODE_MONITORED)
        values_add(node->self, values, h->tree.metrics);
    else if (!node || (node != h->tree.root && count_new(h, node, values) < 0)) {
        h->tree.trail.count = 0;
        hcct_prune(h, deepest);
        return -ENOMEM;
    }
    values_add(h->total, values, h->tree.metrics);
    return 0;
}

uint64_t hcct_total(const struct hcct *h)
{
    return h->total[0];
}

uint64_t hcct_unseen(const struct hcct *h)
{
    return h->unseen;
}

size_t hcct_nodes(const struct hcct *h)
{
    return h->tree.count;
}

size_t hcct_counters(const struct hcct *h)
{
    return h->count;
}
