/*
 * hcct_compact.c - removes what is not monitored and lays out the rest again: parents before their children, in one block, so
 * that what is used together is close together. On traces with many contexts this makes counting a third faster than removal in
 * place.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/vec.h"
#include "hcct/hcct_compact.h"

struct place {
    const struct cct_node *node;
    struct cct_node *copy;
};

struct compaction {
    struct hcct *h;
    size_t words;           /* per node, including those before it */
    uint64_t *from, *to;    /* the copies, and their final places */
    size_t count;           /* of the copies */
    struct cct_node **path; /* of the first walk: the ancestors */
    struct place *places;   /* of the second walk */
    size_t path_capacity, place_capacity, deepest;
    size_t held; /* nodes on the stream's present path */
};

/* Marks the nodes that stay, and resets those that are not monitored to the weight of an unseen one. Returns how many stay; c->held
 * is how many of these are on the stream's path. 0: out of memory. */
static size_t mark_staying(struct compaction *c)
{
    struct hcct *h = c->h;
    struct cct_node *node = h->tree.root;
    size_t depth = 0, count = 0;
    c->held = 0;
    for (;;) {
        __builtin_prefetch(node->next_sibling);
        node->links &= ~NODE_LIVE;
        if (node->first_child) {
            if (!vec_push(c->path, depth, c->path_capacity, node))
                return 0;
            c->deepest = depth > c->deepest ? depth : c->deepest;
            node = node->first_child;
            continue;
        }
        for (;;) {
            bool monitored = node->self[0] > h->unseen;
            if (monitored || node->links & (NODE_LIVE | NODE_HELD)) {
                c->held += (node->links & NODE_HELD) != 0;
                node->links |= NODE_LIVE;
                count++;
                if (depth)
                    c->path[depth - 1]->links |= NODE_LIVE;
            }
            if (!monitored)
                hcct_restart(h, node);
            if (!depth || node->next_sibling)
                break;
            node = c->path[--depth];
        }
        if (!depth)
            return count;
        node = node->next_sibling;
    }
}

/* Copies a node, without its links. Nodes on the stream's path store their new place. */
static struct cct_node *put_node(struct compaction *c, struct cct_node *node, struct cct_node **later)
{
    uint64_t *to = c->from + c->count * c->words;
    uint32_t head = c->h->tree.head;
    memcpy(to, (const uint64_t *)node - head, c->words * sizeof *to);
    *later = (struct cct_node *)(c->to + c->count++ * c->words + head);
    struct cct_node *copy = (struct cct_node *)(to + head);
    copy->links = 0;
    copy->first_child = copy->next_sibling = NULL;
    if (node->links & NODE_HELD)
        node->self[0] = (uintptr_t)*later;
    return copy;
}

static struct cct_node *next_staying(struct cct_node *node)
{
    while (node && !(node->links & NODE_LIVE))
        node = node->next_sibling;
    return node;
}

/* The places are allocated. */
static void copy_live(struct compaction *c)
{
    struct cct_node *later;
    struct place at = {c->h->tree.root, put_node(c, c->h->tree.root, &later)};
    size_t depth = 0;
    for (;;) {
        struct cct_node *next = next_staying(at.node->first_child);
        if (next) {
            c->places[depth++] = at;
            struct cct_node *copy = put_node(c, next, &at.copy->first_child);
            at.copy->links++;
            at = (struct place){next, copy};
            continue;
        }
        while (!(next = depth ? next_staying(at.node->next_sibling) : NULL)) {
            if (!depth)
                return;
            at = c->places[--depth];
        }
        struct cct_node *copy = put_node(c, next, &at.copy->next_sibling);
        c->places[depth - 1].copy->links++;
        at = (struct place){next, copy};
    }
}

static void move_pointer(struct cct_node **node)
{
    *node = (struct cct_node *)(uintptr_t)(*node)->self[0];
}

/* Moves the stream's path to the nodes' new places. *parent is one of these nodes, or the root. */
static void move_stream(struct hcct *h, struct cct_node **parent)
{
    struct trail *trail = &h->tree.trail;
    for (size_t i = 0; i < trail->count; i++)
        move_pointer(&trail->nodes[i]);
    for (size_t i = 1; i <= h->depth; i++)
        move_pointer(&h->stack[i]);
    move_pointer(parent);
    move_pointer(&h->tree.root);
    if (h->stack)
        h->stack[0] = h->tree.root;
}

/* Whether the tree would soon be full again. */
static bool is_crowded(size_t limit, size_t live)
{
    return live > limit - limit / 16;
}

/* Allocates the copies, and a larger block for all nodes if there will be more. */
static int make_room(struct compaction *c, struct hcct_compactor *own, size_t live)
{
    struct hcct *h = c->h;
    size_t limit = h->limit;
    struct slab larger;
    while (limit < 2 * c->held || is_crowded(limit, live))
        limit += limit / 4;
    if (!vec_reserve(c->places, 0, c->place_capacity, c->deepest))
        return -ENOMEM;
    if (live * c->words > own->capacity) {
        uint64_t *scratch = realloc(own->scratch, live * c->words * sizeof *scratch);
        if (!scratch)
            return -ENOMEM;
        own->scratch = scratch;
        own->capacity = live * c->words;
    }
    c->from = own->scratch;
    c->to = slab_first(&h->tree.nodes);
    if (limit == h->limit && slab_is_one(&h->tree.nodes))
        return 0;
    slab_init(&larger, h->tree.nodes.object);
    if (slab_reserve(&larger, limit) < 0)
        return -ENOMEM;
    c->to = slab_first(&larger);
    own->old = h->tree.nodes;
    h->tree.nodes = larger;
    h->limit = h->tree.full = limit;
    return 0;
}

int hcct_compact(struct hcct *h, struct hcct_compactor *own, bool (*raise)(struct hcct *h),
                 struct cct_node **parent)
{
    struct compaction c = {.h = h, .words = h->tree.nodes.object / sizeof(uint64_t)};
    hcct_hold(h, true);
    h->epoch++;
    h->tree.root->links |= NODE_HELD;
    struct table *wide = table_new();
    size_t live = mark_staying(&c);
    while (is_crowded(h->limit > 2 * c.held ? h->limit : 2 * c.held, live) && raise(h))
        live = mark_staying(&c);
    int rc = live && wide ? make_room(&c, own, live) : -ENOMEM;
    if (rc == 0) {
        copy_live(&c);
        move_stream(h, parent);
        memcpy(c.to, c.from, live * c.words * sizeof *c.to);
        slab_restart(&h->tree.nodes, live);
        slab_clear(&own->old);
        tree_recount(&h->tree, live, wide);
    } else {
        hcct_hold(h, false);
        h->tree.root->links &= ~NODE_HELD;
        table_free(wide);
    }
    free(c.path);
    free(c.places);
    return rc;
}
