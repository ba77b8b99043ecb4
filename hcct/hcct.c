/* hcct.c - what all counters share: see hcct.h and hcct_data.h. */
#include "hcct/hcct.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/vec.h"
#include "hcct/hcct_data.h"

#define NAME(kind, name, functions) name,
const char *const hcct_kind_names[HCCT_KINDS + 1] = {HCCT_EACH(NAME)};

#define FUNCTIONS(kind, name, functions) &functions,
static const struct counter_kind *const kinds[HCCT_KINDS] = {HCCT_EACH(FUNCTIONS)};

size_t hcct_limit(double eps)
{
    double limit = ceil(1 / eps);
    return limit < (double)HCCT_MOST_COUNTERS ? (size_t)limit : HCCT_MOST_COUNTERS;
}

struct hcct *hcct_new(const struct hcct_options *options)
{
    if ((unsigned)options->kind >= HCCT_KINDS || !options->metrics)
        return NULL;
    const struct counter_kind *kind = kinds[options->kind];
    if (options->kind != HCCT_EXACT && !(options->eps > 0 && options->eps < 1))
        return NULL;
    struct hcct *h = calloc(1, sizeof *h + options->metrics * sizeof *h->total);
    if (!h)
        return NULL;
    h->kind = kind;
    h->number = options->kind;
    h->eps = options->kind == HCCT_EXACT ? 0 : options->eps;
    h->random = options->seed;
    h->epoch = 1;
    if (!tree_init(&h->tree, options->metrics, kind->head) ||
        (options->places && kind->marks && tree_stamp(&h->tree) < 0) ||
        (kind->open && kind->open(h, options) < 0)) {
        hcct_free(h);
        return NULL;
    }
    return h;
}

void hcct_free(struct hcct *h)
{
    if (!h)
        return;
    if (h->own)
        h->kind->close(h);
    tree_clear(&h->tree);
    free(h->stack);
    free(h);
}

void hcct_prune(struct hcct *h, struct cct_node *node)
{
    while (node != h->tree.root && !node->first_child && !(node->links & (NODE_MONITORED | NODE_HELD))) {
        struct cct_node *parent = cct_parent(node);
        tree_remove(&h->tree, parent, node);
        node = parent;
    }
}

void hcct_forget(struct hcct *h, struct cct_node *node)
{
    node->links &= ~NODE_MONITORED;
    *cct_error_of(node) = 0;
    memset(node->self, 0, h->tree.metrics * sizeof *node->self);
}

/* If the kind marks nodes, they are removed one by one: a stamp identifies the node. */
static struct hcct_place place_of(const struct hcct *h, struct cct_node *node)
{
    uint64_t stamp = !h->kind->marks ? h->epoch : h->tree.stamps ? *tree_stamp_of(&h->tree, node) : 0;
    return (struct hcct_place){node, stamp};
}

int hcct_add(struct hcct *h, const uint32_t *items, size_t count, const uint64_t *values)
{
    struct cct_node *node = h->tree.root, *deepest;
    h->last = (struct hcct_place){0};
    if (values[0] && count) {
        node = tree_path(&h->tree, items, count, &deepest);
        if (node)
            h->last = place_of(h, node);
        int rc = node ? h->kind->add(h, node, values) : -ENOMEM;
        if (rc < 0) {
            h->tree.trail.count = 0;
            if (h->kind->abandon)
                h->kind->abandon(h, deepest);
            return rc;
        }
    }
    values_add(h->total, values, h->tree.metrics);
    return 0;
}

struct hcct_place hcct_place(const struct hcct *h)
{
    return h->last;
}

bool hcct_add_at(struct hcct *h, struct hcct_place place, const uint64_t *values)
{
    if (!place.stamp || !values[0])
        return false;
    if (h->kind->marks &&
        (*tree_stamp_of(&h->tree, place.node) != place.stamp || !(place.node->links & NODE_MONITORED)))
        return false;
    if (!h->kind->marks && place.stamp != h->epoch)
        return false;
    if (!h->kind->again)
        values_add(place.node->self, values, h->tree.metrics);
    else if (!h->kind->again(h, place.node, values))
        return false;
    values_add(h->total, values, h->tree.metrics);
    return true;
}

bool hcct_deepen(struct hcct *h)
{
    if (!vec_reserve(h->stack, h->depth + 1, h->stack_capacity, 1))
        return false;
    h->stack[0] = h->tree.root;
    return true;
}

int hcct_feed(struct hcct *h, const uint32_t *events, const uint32_t *weights, size_t count, size_t *done)
{
    *done = 0;
    return hcct_deepen(h) ? h->kind->feed(h, events, weights, count, done) : -ENOMEM;
}

void hcct_rewind(struct hcct *h)
{
    uint32_t event = HCCT_RETURN;
    size_t done;
    while (h->depth) /* this allocates nothing */
        h->kind->feed(h, &event, NULL, 1, &done);
}

uint64_t hcct_total(const struct hcct *h)
{
    return h->total[0];
}

uint64_t hcct_unseen(const struct hcct *h)
{
    long double most = (long double)h->eps * h->total[0];
    if (h->number != HCCT_STICKY)
        return h->unseen;
    return most < 0x1p63L ? (uint64_t)most : UINT64_MAX / 2;
}

bool hcct_promises(enum hcct_kind kind)
{
    return kinds[kind]->promises;
}

size_t hcct_nodes(const struct hcct *h)
{
    return h->tree.count;
}

size_t hcct_most_nodes(const struct hcct *h)
{
    return h->tree.most;
}

size_t hcct_counters(const struct hcct *h)
{
    size_t count = 0;
    if (h->kind->marks)
        return h->counters;
    struct hcct_walk walk = hcct_walk(h);
    for (const struct cct_node *node; (node = hcct_walk_next(&walk)) != NULL;)
        count += hcct_is_monitored(h, node);
    hcct_walk_end(&walk);
    return count;
}

size_t hcct_bytes(const struct hcct *h)
{
    return sizeof *h + tree_bytes(&h->tree) + h->stack_capacity * sizeof(*h->stack) +
           (h->kind->bytes ? h->kind->bytes(h) : 0);
}
