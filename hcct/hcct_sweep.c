/* hcct_sweep.c - walks and sweeps of trees whose nodes may lack a pointer to their parent. */
#include <errno.h>
#include <stdlib.h>

#include "base/vec.h"
#include "hcct/hcct_data.h"

struct hcct_walk hcct_walk(const struct hcct *h)
{
    struct hcct_walk walk = {0};
    const struct cct_node *root = h->tree.root;
    walk.failed = !vec_push(walk.next, walk.count, walk.capacity, root);
    return walk;
}

const struct cct_node *hcct_walk_next(struct hcct_walk *walk)
{
    if (!walk->count)
        return NULL;
    const struct cct_node *node = walk->next[--walk->count];
    if ((node->next_sibling && !vec_push(walk->next, walk->count, walk->capacity, node->next_sibling)) ||
        (node->first_child && !vec_push(walk->next, walk->count, walk->capacity, node->first_child)))
        walk->failed = true;
    return node;
}

void hcct_walk_end(struct hcct_walk *walk)
{
    free((void *)(uintptr_t)walk->next);
}

void hcct_hold(struct hcct *h, bool held)
{
    const struct trail *trail = &h->tree.trail;
    for (size_t i = 0; i < trail->count; i++)
        trail->nodes[i]->links = (trail->nodes[i]->links & ~NODE_HELD) | (held ? NODE_HELD : 0);
    for (size_t i = 1; i <= h->depth; i++)
        h->stack[i]->links = (h->stack[i]->links & ~NODE_HELD) | (held ? NODE_HELD : 0);
}

/* Inlined once for each way to recognise monitored nodes. */
static inline __attribute__((always_inline)) int sweep(struct hcct *h, bool marks,
                                                       void (*keep)(struct hcct *h, struct cct_node *node))
{
    struct cct_node **path = NULL, *node = h->tree.root; /* stack of ancestors */
    const uint64_t unseen = h->unseen;
    size_t depth = 0, capacity = 0;
    while (node) {
        __builtin_prefetch(node->next_sibling);
        if (node->first_child) {
            if (!vec_push(path, depth, capacity, node)) {
                free(path);
                return -ENOMEM;
            }
            node = node->first_child;
            continue;
        }
        /* Its children are done, and so are those of all ancestors without a further sibling. */
        while (node) {
            struct cct_node *parent = depth ? path[depth - 1] : NULL, *next = node->next_sibling;
            bool monitored = marks ? node->links & NODE_MONITORED : node->self[0] > unseen;
            if (!monitored && !node->first_child && parent && !(node->links & NODE_HELD))
                tree_remove(&h->tree, parent, node);
            else if (!monitored && keep)
                keep(h, node);
            node = parent ? next : NULL;
            if (node || !parent)
                break;
            node = parent;
            depth--;
        }
    }
    free(path);
    return 0;
}

int hcct_sweep(struct hcct *h, void (*keep)(struct hcct *h, struct cct_node *node))
{
    hcct_hold(h, true);
    h->epoch++;
    int rc = h->kind->marks ? sweep(h, true, keep) : sweep(h, false, keep);
    if (!h->kind->marks || h->number == HCCT_STICKY)
        hcct_hold(h, false);
    return rc;
}
