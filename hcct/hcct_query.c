/* hcct_query.c - the (phi, eps)-HCCT: copies the hot paths of the tree and their ancestors into a new tree. */
#include <errno.h>
#include <stdlib.h>

#include "base/vec.h"
#include "hcct/cct_data.h"
#include "hcct/hcct_data.h"

struct step {
    const struct cct_node *node;
    struct cct_node *copy; /* NULL: not made yet */
};

struct copying {
    const struct hcct *from;
    struct cct *to;
    long double threshold;
    struct step *path; /* from the root to the present node */
    size_t depth, capacity;
};

/* The copy of the innermost node, with its ancestors. NULL: out of memory. */
static struct cct_node *copy_path(struct copying *c)
{
    size_t known = c->depth - 1;
    while (!c->path[known].copy)
        known--;
    for (; known + 1 < c->depth; known++) {
        struct step *next = &c->path[known + 1];
        next->copy = cct_child(c->to, c->path[known].copy, next->node->item);
        if (!next->copy)
            return NULL;
    }
    return c->path[known].copy;
}

static int copy_if_hot(struct copying *c, const struct cct_node *node)
{
    uint64_t error, *rest = cct_root(c->to)->self;
    if (c->depth == 1 || !hcct_is_monitored(c->from, node))
        return 0;
    uint64_t estimate = hcct_estimate(c->from, node, &error);
    if ((long double)estimate < c->threshold)
        return 0;
    struct cct_node *copy = copy_path(c);
    if (!copy)
        return -ENOMEM;
    *cct_error_of(copy) = error;
    for (uint32_t m = 0; m < c->from->tree.metrics; m++) {
        copy->self[m] = m ? node->self[m] : estimate;
        rest[m] -= rest[m] < copy->self[m] ? rest[m] : copy->self[m];
    }
    return 0;
}

/* Walks the tree, storing the path to each node. */
static int copy_hot(struct copying *c)
{
    const struct cct_node *node = c->from->tree.root;
    int rc = 0;
    while (rc == 0) {
        if (!vec_push(c->path, c->depth, c->capacity, (struct step){node, c->depth ? NULL : cct_root(c->to)}))
            return -ENOMEM;
        rc = copy_if_hot(c, node);
        if (node->first_child) {
            node = node->first_child;
            continue;
        }
        while (c->depth > 1 && !c->path[c->depth - 1].node->next_sibling)
            c->depth--;
        if (c->depth <= 1)
            break;
        node = c->path[--c->depth].node->next_sibling;
    }
    return rc;
}

struct cct *hcct_query(const struct hcct *h, double phi)
{
    long double threshold = (long double)phi * h->total[0];
    bool promised = h->kind->promises ? phi > h->eps : threshold > h->unseen || !h->unseen;
    if (!(phi > 0 && promised))
        return NULL;
    struct copying c = {.from = h, .to = cct_new(h->tree.metrics), .threshold = threshold};
    if (!c.to)
        return NULL;
    values_add(cct_root(c.to)->self, h->total, h->tree.metrics);
    c.to->total = h->total[0];
    if (copy_hot(&c) < 0) {
        cct_free(c.to);
        c.to = NULL;
    }
    free(c.path);
    return c.to;
}
