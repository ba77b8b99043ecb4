/*
 * hcct_merge.c - merges two summaries (Agarwal et al., Mergeable Summaries, PODS 2012, section 3).
 *
 * A path that one side does not monitor may weigh up to that side's `unseen`, so the counters are c1 + c2
 * with `unseen` for a missing one; the largest 1/eps of them are kept. With S the sum of (counter - unseen),
 * each side has total - S >= limit * unseen; both the addition and the reduction to the largest preserve
 * that, so the error stays below eps * N however often summaries are merged.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/vec.h"
#include "hcct/hcct_data.h"

/* Removes every leaf without a counter, bottom-up. */
static void sweep(struct hcct *h)
{
    struct cct_node *node = h->tree.root;
    while (node->first_child)
        node = node->first_child;
    while (node != h->tree.root) {
        struct cct_node *next = node->next_sibling, *parent = node->parent;
        if (!node->first_child && !(node->links & NODE_MONITORED))
            tree_remove(&h->tree, node);
        node = next ? next : parent;
        while (next && node->first_child)
            node = node->first_child;
    }
}

/* Creates the paths of all of the other's nodes, and lists those with a counter: the other's and ours. */
struct pair {
    const struct cct_node *from;
    struct cct_node *to;
};

static int pairs_make(struct hcct *h, const struct hcct *other, struct pair *pairs)
{
    const struct cct_node *top = other->tree.root, *from = top;
    struct cct_node *to = h->tree.root;
    for (size_t count = 0;;) {
        if (from->links & NODE_MONITORED)
            pairs[count++] = (struct pair){from, to};
        if (from->first_child) {
            from = from->first_child;
        } else {
            for (; from != top && !from->next_sibling; from = from->parent)
                to = to->parent;
            if (from == top)
                return 0;
            from = from->next_sibling;
            to = to->parent;
        }
        struct cct_node *child = tree_child(&h->tree, to, from->item);
        if (!child)
            return -ENOMEM;
        to = child;
    }
}

static int compare_counters(const void *a, const void *b)
{
    const struct counter *x = a, *y = b;
    return x->bound > y->bound ? -1 : x->bound < y->bound;
}

/* Collects all counters of both sides, allocating room for them. */
static void counters_join(struct hcct *h, const struct hcct *other, const struct pair *pairs)
{
    uint64_t ours = h->unseen, theirs = other->unseen;
    for (size_t i = 0; i < h->count; i++) {
        struct cct_node *node = h->counters[i].node;
        node->self[0] = add_saturating(node->self[0], theirs);
        node->error = add_saturating(node->error, theirs);
    }
    size_t count = h->count;
    for (size_t i = 0; i < other->count; i++) {
        const struct cct_node *from = pairs[i].from;
        struct cct_node *to = pairs[i].to;
        if (to->links & NODE_MONITORED) { /* `theirs` was only a stand-in */
            to->self[0] = add_saturating(to->self[0], from->self[0] - theirs);
            to->error -= theirs - from->error;
        } else {
            to->links |= NODE_MONITORED;
            to->self[0] = add_saturating(from->self[0], ours);
            to->error = add_saturating(from->error, ours);
            h->counters[count++].node = to;
        }
        values_add(to->self + 1, from->self + 1, h->tree.metrics - 1);
    }
    h->count = count;
    h->unseen = add_saturating(ours, theirs);
}

static void counters_cut(struct hcct *h)
{
    for (size_t i = 0; i < h->count; i++)
        h->counters[i].bound = h->counters[i].node->self[0];
    if (h->count <= h->limit)
        return;
    qsort(h->counters, h->count, sizeof *h->counters, compare_counters);
    if (h->unseen < h->counters[h->limit].bound)
        h->unseen = h->counters[h->limit].bound;
    while (h->count > h->limit)
        hcct_forget(h, h->counters[--h->count].node);
}

int hcct_merge(struct hcct *h, const struct hcct *other)
{
    struct pair *pairs = malloc((other->count + 1) * sizeof *pairs);
    int rc = -ENOMEM;
    if (pairs && vec_reserve(h->counters, h->count, h->room, other->count))
        rc = pairs_make(h, other, pairs);
    if (rc == 0) {
        counters_join(h, other, pairs);
        counters_cut(h);
        h->ordered = false;
        h->eps = other->eps > h->eps ? other->eps : h->eps;
        values_add(h->total, other->total, h->tree.metrics);
    }
    h->tree.trail.count = 0;
    sweep(h);
    free(pairs);
    return rc;
}
