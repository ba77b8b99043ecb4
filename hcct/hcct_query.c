/* hcct_query.c - the (phi, eps)-HCCT: copies the hot paths of the tree and their ancestors into a new tree.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/vec.h"
#include "hcct/cct_data.h"
#include "hcct/hcct_data.h"

struct copying {
    const struct tree *from;
    struct cct *to;
    struct table *copies;           /* node -> its copy */
    const struct cct_node **behind; /* a walk towards the root */
    size_t room;
};

/* The node's copy, created along with missing copies of its ancestors. NULL: out of memory. */
static struct cct_node *copy_of(struct copying *c, const struct cct_node *node)
{
    size_t count = 0;
    const uint64_t *known = NULL;
    for (; node != c->from->root && !(known = table_find(c->copies, (uintptr_t)node)); node = node->parent) {
        if (!vec_push(c->behind, count, c->room, node))
            return NULL;
    }
    struct cct_node *copy = known ? (struct cct_node *)(uintptr_t)*known : cct_root(c->to);
    while (copy && count) {
        const struct cct_node *next = c->behind[--count];
        uint64_t *entry = table_put(c->copies, (uintptr_t)next, NULL);
        copy = entry ? cct_child(c->to, copy, next->item) : NULL;
        if (copy)
            *entry = (uintptr_t)copy;
    }
    return copy;
}

static int hot_copy(const struct hcct *h, struct copying *c, double phi)
{
    long double threshold = (long double)phi * h->total[0];
    uint64_t *rest = cct_root(c->to)->self;
    values_add(rest, h->total, h->tree.metrics);
    for (size_t i = 0; i < h->count; i++) {
        const struct cct_node *node = h->counters[i].node;
        if ((long double)node->self[0] < threshold)
            continue;
        struct cct_node *copy = copy_of(c, node);
        if (!copy)
            return -ENOMEM;
        copy->error = node->error;
        for (uint32_t m = 0; m < h->tree.metrics; m++) {
            copy->self[m] = node->self[m];
            rest[m] -= rest[m] < node->self[m] ? rest[m] : node->self[m];
        }
    }
    c->to->total = h->total[0];
    return 0;
}

struct cct *hcct_query(const struct hcct *h, double phi)
{
    if (!(phi > h->eps))
        return NULL;
    struct copying c = {.from = &h->tree, .to = cct_new(h->tree.metrics), .copies = table_new()};
    if (!c.to || !c.copies || hot_copy(h, &c, phi) < 0) {
        cct_free(c.to);
        c.to = NULL;
    }
    table_free(c.copies);
    free(c.behind);
    return c.to;
}
