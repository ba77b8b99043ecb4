/*
 * hcct_merge.c - merges two summaries (Agarwal et al., Mergeable Summaries, PODS 2012, section 3).
 *
 * A path that one side does not monitor may weigh up to that side's `unseen`, so the estimates are c1 + c2 with `unseen` for a
 * missing one, and `unseen` is the sum of both. Space Saving then keeps the largest 1/eps: with S the sum of (counter -
 * unseen), each side has total - S >= limit * unseen; both the addition and the reduction to the largest preserve that, so the
 * error stays below eps * N however often summaries are merged. For Lossy Counting both are at most eps times their side's N;
 * the purging counter's own bounds add up in the same way.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/vec.h"
#include "hcct/hcct_data.h"

struct pair {
    const struct cct_node *from;
    struct cct_node *to;
    bool known; /* it was monitored on our side, too */
};

struct merging {
    struct hcct *to;
    const struct hcct *from;
    struct pair *pairs; /* the other side's monitored nodes */
    size_t count, capacity;
    struct cct_node **ours;
    size_t our_count, our_capacity;
    struct pair *next; /* of the walk */
    size_t next_count, next_capacity;
};

/* Creates the paths of all of the other side's nodes. */
static int make_pairs(struct merging *m)
{
    struct pair root = {m->from->tree.root, m->to->tree.root, false};
    if (!vec_push(m->next, m->next_count, m->next_capacity, root))
        return -ENOMEM;
    while (m->next_count) {
        struct pair pair = m->next[--m->next_count];
        pair.known = hcct_is_monitored(m->to, pair.to);
        if (pair.from != root.from && hcct_is_monitored(m->from, pair.from) &&
            !vec_push(m->pairs, m->count, m->capacity, pair))
            return -ENOMEM;
        for (const struct cct_node *child = pair.from->first_child; child; child = child->next_sibling) {
            struct pair below = {child, tree_child(&m->to->tree, pair.to, child->item), false};
            if (!below.to || !vec_push(m->next, m->next_count, m->next_capacity, below))
                return -ENOMEM;
        }
    }
    return 0;
}

/* Lists our nodes that have an estimate. */
static int list_ours(struct merging *m)
{
    struct hcct_walk walk = hcct_walk(m->to);
    for (const struct cct_node *at; (at = hcct_walk_next(&walk)) != NULL;) {
        struct cct_node *node = (struct cct_node *)(uintptr_t)at;
        if (node == m->to->tree.root || (m->to->kind->marks && !(node->links & NODE_MONITORED)))
            continue;
        if (!vec_push(m->ours, m->our_count, m->our_capacity, node))
            walk.failed = true;
    }
    hcct_walk_end(&walk);
    return walk.failed ? -ENOMEM : 0;
}

static void join_estimates(struct merging *m)
{
    struct hcct *h = m->to;
    bool errors = h->kind->head >= HEAD_ERROR;
    uint64_t ours = h->unseen, theirs = m->from->unseen; /* the most that a missing path weighs, */
    uint64_t our_error = h->misses ? 1 : ours, their_error = m->from->misses ? 1 : theirs; /* and its error */
    for (size_t i = 0; errors && i < m->our_count; i++) {
        struct cct_node *node = m->ours[i];
        node->self[0] = add_saturating(node->self[0], theirs);
        *cct_error_of(node) = add_saturating(cct_error(node), their_error);
    }
    for (size_t i = 0; i < m->count; i++) {
        const struct cct_node *from = m->pairs[i].from;
        struct cct_node *to = m->pairs[i].to;
        uint64_t error = errors ? cct_error(from) : 0;
        if (m->pairs[i].known) { /* `theirs` was only a substitute */
            to->self[0] = add_saturating(to->self[0], from->self[0] - theirs);
            if (errors)
                *cct_error_of(to) -= their_error - error;
        } else {
            to->links |= h->kind->marks ? NODE_MONITORED : 0;
            to->self[0] = add_saturating(from->self[0], ours);
            if (errors)
                *cct_error_of(to) = add_saturating(error, our_error);
        }
        values_add(to->self + 1, from->self + 1, h->tree.metrics - 1);
    }
    h->unseen = add_saturating(ours, theirs);
}

int hcct_merge(struct hcct *h, const struct hcct *other)
{
    struct merging m = {.to = h, .from = other};
    size_t full = h->tree.full;
    h->tree.trail.count = 0;
    h->tree.full = SIZE_MAX;
    int rc = h->kind->join_begin ? h->kind->join_begin(h, other) : 0;
    if (rc == 0)
        rc = make_pairs(&m);
    h->tree.full = full;
    if (rc == 0)
        rc = list_ours(&m);
    if (rc == 0) {
        join_estimates(&m);
        h->misses |= other->misses;
        h->eps = other->eps > h->eps ? other->eps : h->eps;
        values_add(h->total, other->total, h->tree.metrics);
        if (h->kind->join_end)
            h->kind->join_end(h);
    }
    if (rc < 0 || h->kind->marks)
        hcct_sweep(h, NULL);
    free(m.pairs);
    free(m.next);
    free(m.ours);
    return rc;
}
