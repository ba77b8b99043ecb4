/* cct.c - see cct.h. */
#include "hcct/cct.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/vec.h"
#include "hcct/cct_data.h"

struct cct *cct_new(uint32_t metrics)
{
    struct cct *cct = calloc(1, sizeof *cct);
    if (cct && !tree_init(&cct->tree, metrics, HEAD_PARENT)) {
        free(cct);
        return NULL;
    }
    return cct;
}

void cct_free(struct cct *cct)
{
    if (!cct)
        return;
    tree_clear(&cct->tree);
    free(cct);
}

struct cct_node *cct_root(struct cct *cct)
{
    return cct->tree.root;
}

struct cct_node *cct_child(struct cct *cct, struct cct_node *parent, uint32_t item)
{
    return tree_child(&cct->tree, parent, item);
}

struct cct_node *cct_add(struct cct *cct, const uint32_t *items, size_t count, const uint64_t *values)
{
    struct cct_node *node = cct->tree.root;
    for (size_t i = 0; i < count && node; i++)
        node = tree_child(&cct->tree, node, items[i]);
    if (node)
        cct_weigh(cct, node, values);
    return node;
}

void cct_weigh(struct cct *cct, struct cct_node *node, const uint64_t *values)
{
    values_add(node->self, values, cct->tree.metrics);
    cct->total = add_saturating(cct->total, values[0]);
}

int cct_graft(struct cct *cct, struct cct_node *to, const struct cct_node *top, const uint32_t *items)
{
    const struct cct_node *from = top;
    for (;;) {
        cct_weigh(cct, to, from->self);
        *cct_error_of(to) = add_saturating(cct_error(to), cct_error(from));
        if (from->first_child) {
            from = from->first_child;
        } else {
            for (; from != top && !from->next_sibling; from = cct_parent(from))
                to = cct_parent(to);
            if (from == top)
                return 0;
            from = from->next_sibling;
            to = cct_parent(to);
        }
        to = tree_child(&cct->tree, to, items ? items[from->item] : from->item);
        if (!to)
            return -ENOMEM;
    }
}

int cct_merge(struct cct *cct, const struct cct *other)
{
    return cct_graft(cct, cct->tree.root, other->tree.root, NULL);
}

/* The copies of the nodes from below the root to the present one; NULL: not made yet. */
struct choice {
    struct cct *to;
    struct step {
        struct cct_node *copy;
        uint32_t item;
    } * path;
    size_t depth, capacity;
};

/* The copy of the path's innermost node; each node is copied once. NULL: out of memory. */
static struct cct_node *copy_path(struct choice *c)
{
    size_t made = c->depth;
    while (made && !c->path[made - 1].copy)
        made--;
    struct cct_node *node = made ? c->path[made - 1].copy : c->to->tree.root;
    for (; made < c->depth && node; made++)
        node = c->path[made].copy = tree_child(&c->to->tree, node, c->path[made].item);
    return node;
}

struct cct *cct_choose(struct cct *from,
                       bool (*keep)(void *context, const struct cct_node *node, uint64_t *values),
                       void *context)
{
    uint32_t metrics = from->tree.metrics;
    struct choice c = {.to = cct_new(metrics)};
    struct cct_node *root = from->tree.root, *at = root;
    uint64_t *values = malloc(metrics * sizeof *values);
    bool fine = c.to && values;
    for (struct cct_node *next; fine && (next = cct_next(root, at)); at = next) {
        for (; cct_parent(next) != at; at = cct_parent(at))
            c.depth--;
        if (!vec_push(c.path, c.depth, c.capacity, (struct step){NULL, next->item})) {
            fine = false;
            break;
        }
        memcpy(values, next->self, metrics * sizeof *values);
        if (!keep(context, next, values))
            continue;
        struct cct_node *copy = copy_path(&c);
        fine = copy != NULL;
        if (fine)
            cct_weigh(c.to, copy, values);
    }
    free(c.path);
    free(values);
    if (fine)
        return c.to;
    cct_free(c.to);
    return NULL;
}

uint64_t cct_total(const struct cct *cct)
{
    return cct->total;
}

size_t cct_count(const struct cct *cct)
{
    return cct->tree.count;
}

int cct_heavier_first(const void *a, const void *b)
{
    const struct cct_node *x = *(struct cct_node *const *)a, *y = *(struct cct_node *const *)b;
    return x->self[0] > y->self[0] ? -1 : x->self[0] < y->self[0];
}

int64_t cct_heaviest(struct cct *cct, struct cct_node ***nodes)
{
    struct cct_node *root = cct_root(cct), **list = NULL;
    size_t count = 0, capacity = 0;
    *nodes = NULL;
    for (struct cct_node *node = root; node; node = cct_next(root, node))
        if (node != root && node->self[0] && !vec_push(list, count, capacity, node)) {
            free(list);
            return -ENOMEM;
        }
    sort_with(list, count, cct_heavier_first);
    *nodes = list;
    return (int64_t)count;
}
